package history

import "github.com/locksim/locksim/trace"

// ProcessEnd returns the event with which a process ended, and whether that was a crash. A client
// ends with a crash or the end of its program, whichever comes first. The event is nil if the
// process has not ended.
func (h *History) ProcessEnd(process string) (end *trace.Event, crashed bool) {
	end = h.processEnds[process]
	return end, end != nil && end.Kind == trace.KindCrash
}

// ClientStops returns, by client, the event after which the client did nothing any more: a
// crash, a pause without an end, or the beginning of a step without an end.
func (h *History) ClientStops() map[string]*trace.Event {
	stops := map[string]*trace.Event{}
	steps := map[string][]*trace.Event{} // the steps that each client is in, the innermost last
	for i := range h.Trace.Events {
		ev := &h.Trace.Events[i]
		openSteps := steps[ev.Process]
		switch ev.Kind {
		case trace.KindCrash, trace.KindPause:
			stops[ev.Process] = ev
		case trace.KindResume:
			delete(stops, ev.Process)
		case trace.KindBegin:
			steps[ev.Process] = append(openSteps, ev)
		case trace.KindEnd:
			if n := len(openSteps); n > 0 && openSteps[n-1].Step == ev.Step {
				steps[ev.Process] = openSteps[:n-1]
			}
		}
	}
	for client, openSteps := range steps {
		if stops[client] == nil && len(openSteps) > 0 {
			stops[client] = openSteps[len(openSteps)-1]
		}
	}
	return stops
}

// StuckClient returns a client that prevented the run from ending, and the step that it was
// in, if any; "" if the run was not cut off. It returns a client in a call of acquire only if
// there is no other client.
func (h *History) StuckClient() (client string, step trace.Step) {
	if h.horizon == nil {
		return "", ""
	}
	last := map[string]*Call{} // each client's call that began or ended last
	lastSeq := map[string]int{}
	for _, c := range h.Calls() {
		for _, ev := range []*trace.Event{c.Began, c.Ended} {
			if ev != nil && ev.Seq > lastSeq[c.Client] {
				last[c.Client], lastSeq[c.Client] = c, ev.Seq
			}
		}
	}
	for _, p := range h.Trace.Processes {
		c := last[p.Name]
		if p.Role != trace.RoleClient || c == nil || h.processEnds[p.Name] != nil {
			continue
		}
		var in trace.Step
		if c.Ended == nil || c.Ended.Seq < lastSeq[p.Name] {
			in = c.Step
		}
		switch {
		case in != trace.Acquire:
			return p.Name, in
		case client == "":
			client, step = p.Name, in
		}
	}
	return client, step
}
