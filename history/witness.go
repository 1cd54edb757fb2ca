package history

import "github.com/locksim/locksim/trace"

// WasSeen reports whether a witness was seen in a run. A witness is a precondition: without
// it the run says nothing about the lock.
func WasSeen(w trace.Witness, t *trace.Trace) bool {
	_, seen := SeenAt(w, t)
	return seen
}

// SeenAt reports whether a witness was seen in a run, and returns the Seq of the event that
// showed it. A zero witness is seen with the first event.
func SeenAt(w trace.Witness, t *trace.Trace) (event int, seen bool) {
	point, other := Recognise(w.Point, t), Recognise(w.Other, t)
	processes, firstReached := NewProcesses(), false
	for i := range t.Events {
		ev := &t.Events[i]
		processes.See(ev)
		first, second := point.See(ev), other.See(ev)
		if w.Relation == trace.After {
			first, second = second, first
		}
		switch {
		case w.Other.IsZero():
			if w.IsZero() || first && isInState(w, processes) {
				return ev.Seq, true
			}
		case firstReached && second:
			return ev.Seq, true
		}
		firstReached = firstReached || first
	}
	return 0, false
}

// isInState reports whether the witness's process is in the state that the witness
// requires.
func isInState(w trace.Witness, p *Processes) bool {
	switch w.Relation {
	case trace.WhilePaused:
		return p.Of(w.Process) == Paused
	case trace.WhileDown:
		return p.Of(w.Process) == Down
	}
	return true
}
