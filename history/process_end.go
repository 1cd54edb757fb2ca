package history

import "github.com/locksim/locksim/trace"

// ProcessEnd returns the event with which a process ended, and whether that was a crash. A
// client ends with a crash or the end of its program, whichever comes first. It returns nil
// if the process has not ended.
func (h *History) ProcessEnd(process string) (over *trace.Event, crashed bool) {
	over = h.processEnds[process]
	return over, over != nil && over.Kind == trace.KindCrash
}

// ClientStops returns, by client, the event after which the client did nothing any more: a
// crash, a pause without an end, or the beginning of a step without an end.
func (h *History) ClientStops() map[string]*trace.Event {
	dead := map[string]*trace.Event{}
	steps := map[string][]*trace.Event{} // the steps that each client is in, the innermost last
	for i := range h.Trace.Events {
		ev := &h.Trace.Events[i]
		in := steps[ev.Process]
		switch ev.Kind {
		case trace.KindCrash, trace.KindPause:
			dead[ev.Process] = ev
		case trace.KindResume:
			delete(dead, ev.Process)
		case trace.KindBegin:
			steps[ev.Process] = append(in, ev)
		case trace.KindEnd:
			if n := len(in); n > 0 && in[n-1].Step == ev.Step {
				steps[ev.Process] = in[:n-1]
			}
		}
	}
	for client, in := range steps {
		if dead[client] == nil && len(in) > 0 {
			dead[client] = in[len(in)-1]
		}
	}
	return dead
}

// StuckClient returns a client that prevented the run from ending, and the step that it was
// in, if any; "" if the run was not cut off.
func (h *History) StuckClient() (client string, step trace.Step) {
	if h.horizon == nil {
		return "", ""
	}
	last := map[string]*Call{} // each client's call that began or ended last
	at := map[string]int{}
	for _, c := range h.Calls() {
		for _, ev := range []*trace.Event{c.Began, c.Ended} {
			if ev != nil && ev.Seq > at[c.Client] {
				last[c.Client], at[c.Client] = c, ev.Seq
			}
		}
	}
	for _, p := range h.Trace.Processes {
		c := last[p.Name]
		if p.Role != trace.RoleClient || c == nil || h.processEnds[p.Name] != nil {
			continue
		}
		if c.Ended == nil || c.Ended.Seq < at[p.Name] {
			step = c.Step
		}
		return p.Name, step
	}
	return "", ""
}
