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
	processes, one := NewProcesses(), false
	for i := range t.Events {
		ev := &t.Events[i]
		processes.See(ev)
		first, second := point.See(ev), other.See(ev)
		if w.Relation == trace.After {
			first, second = second, first
		}
		switch {
		case w.Other.IsZero():
			if w.IsZero() || first && during(w, processes) {
				return ev.Seq, true
			}
		case one && second:
			return ev.Seq, true
		}
		one = one || first
	}
	return 0, false
}

// during says whether the process that a witness speaks of is in the state that it
// speaks of.
func during(w trace.Witness, p *Processes) bool {
	switch w.Relation {
	case trace.WhilePaused:
		return p.Of(w.Process) == Paused
	case trace.WhileDown:
		return p.Of(w.Process) == Down
	}
	return true
}
