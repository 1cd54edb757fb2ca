package history

import "github.com/locksim/locksim/trace"

// Seen says whether what a witness speaks of happened in a run.
func Seen(w trace.Witness, t *trace.Trace) bool {
	_, seen := Reached(w, t)
	return seen
}

// Reached says whether what a witness speaks of happened in a run, and with which
// event, by its Seq. A zero witness is seen with the first event.
func Reached(w trace.Witness, t *trace.Trace) (event int, seen bool) {
	point, other := Recognise(w.Point, t), Recognise(w.Other, t)
	halted, one := false, false
	for i := range t.Events {
		ev := &t.Events[i]
		if w.Process != "" && ev.Process == w.Process {
			switch ev.Kind {
			case trace.KindPause:
				halted = w.Relation == trace.WhilePaused
			case trace.KindCrash:
				halted = w.Relation == trace.WhileDown
			case trace.KindResume, trace.KindRestart:
				halted = false
			}
		}
		first, second := point.See(ev), other.See(ev)
		if w.Relation == trace.After {
			first, second = second, first
		}
		switch {
		case w.Other.IsZero():
			if w.IsZero() || first && (w.Process == "" || halted) {
				return ev.Seq, true
			}
		case one && second:
			return ev.Seq, true
		}
		one = one || first
	}
	return 0, false
}
