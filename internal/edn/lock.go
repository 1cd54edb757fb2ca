package edn

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// lockHistory returns the clients' acquires and releases of one lock as operations on a
// mutex. A mutex can explain the history if, and only if, no two critical sections under the
// lock overlapped.
//
// A client that crashes or abandons its work in its section releases nothing, and its lease may end
// later. For such a client the history therefore contains a release with an unknown outcome. A
// failed release has an unknown outcome, too, and so has a failed acquire whose keys were set on a
// quorum of the lock's slots (the places, such as a key on a node, in which it keeps a grant).
func lockHistory(h *history.History, lock string) []fields {
	threads := clientThreads(h)
	onQuorum := h.OnQuorum(lock)
	inSection := map[history.Acquisition]bool{}
	var operations []*operation
	for _, c := range h.Calls() {
		switch {
		case c.Began == nil:
			continue
		case c.Step == trace.Acquire && c.Lock == lock:
			inSection[c.Acquisition] = c.OK()
		case c.Step == trace.Release && inSection[c.Acquisition]:
			delete(inSection, c.Acquisition)
		default:
			continue
		}
		o := &operation{thread: threads[c.Client], f: keyword(c.Step), invoked: c.Began, fields: stepFields(c.Began)}
		switch {
		case c.OK():
			o.complete(c.Ended, okOutcome, nil)
			if c.Ended.Token > 0 {
				o.resultFields = append(o.resultFields, field{"token", c.Ended.Token})
			}
		case c.Failed() && c.Step == trace.Acquire && !onQuorum[c.Acquisition]:
			o.complete(c.Ended, failOutcome, nil)
		default:
			o.complete(endOfCall(h, c), unknownOutcome, nil)
		}
		operations = append(operations, o)
	}
	for _, s := range h.Sections() {
		if !inSection[s.Acquisition] || s.CutShort() == "" {
			continue
		}
		endEvent := h.EndEvent(s)
		operations = append(operations, &operation{
			thread: threads[s.Client], f: keyword(trace.Release), invoked: endEvent, completed: endEvent, outcome: unknownOutcome,
			fields: fields{{"client", s.Client}, {"section", s.Section}},
		})
	}
	return jepsenHistory(operations, len(threads))
}
