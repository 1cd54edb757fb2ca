package history

import "github.com/locksim/locksim/trace"

// notices are events that stand for themselves.
type notices struct{ ranOn, forgotten, reverted []*trace.Event }

func (h *History) noticed() *notices {
	return h.notices.of(func() *notices {
		n := &notices{}
		for i := range h.Trace.Events {
			switch ev := &h.Trace.Events[i]; ev.Kind {
			case trace.KindRanOn:
				n.ranOn = append(n.ranOn, ev)
			case trace.KindRevert:
				n.reverted = append(n.reverted, ev)
			case trace.KindForgetToken:
				n.forgotten = append(n.forgotten, ev)
			}
		}
		return n
	})
}

// RanOnEvents are those with which processes did something while they were paused, one
// for each pause, in order.
func (h *History) RanOnEvents() []*trace.Event { return h.noticed().ranOn }

// ForgottenTokens are the events with which the storage no longer knew of a token, in
// order.
func (h *History) ForgottenTokens() []*trace.Event { return h.noticed().forgotten }

// Reverted are the events with which the storage lost the last versions of objects, in
// order.
func (h *History) Reverted() []*trace.Event { return h.noticed().reverted }
