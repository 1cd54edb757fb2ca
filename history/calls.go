package history

import "github.com/locksim/locksim/trace"

// A Call is one step of a client, such as a call of acquire or a write, from its beginning
// to its end.
type Call struct {
	Acquisition
	Step trace.Step
	// Nth is the number of this step among the client's steps of the same kind, from 1.
	// Points of scenarios use the same numbers. It is 0 for an extension that the lock made
	// by itself.
	Nth int
	// Lock is the name of the lock that an acquire asks for.
	Lock string
	// Began is nil for an extension that the lock made by itself. Ended is nil for a call
	// that never returned.
	Began, Ended *trace.Event
	// Crashed is the crash of the client during the call; nil if there was none.
	Crashed *trace.Event
	// Resent are the events with which the call's request was sent again, in order.
	Resent []*trace.Event
	// Cancelled is the event with which the client cancelled the context of the call; nil
	// if it did not.
	Cancelled *trace.Event
}

// OK reports whether the call succeeded.
func (c *Call) OK() bool { return c.Ended != nil && c.Ended.OK }

// Point returns the point just before the call's step, at which a fault can strike.
func (c *Call) Point() trace.StepPoint {
	return trace.StepPoint{Client: c.Client, Step: c.Step, Nth: c.Nth}
}

// Failed reports whether the call returned without success.
func (c *Call) Failed() bool { return c.Ended != nil && !c.Ended.OK }

// Calls returns the steps of all clients, in the order in which they began.
func (h *History) Calls() []*Call { return h.callChapter().all }

// CallsOf returns the steps of one acquisition, in the order in which they began.
func (h *History) CallsOf(id Acquisition) []*Call {
	list := h.callChapter()
	return list.byAcquisition.get(func() map[Acquisition][]*Call {
		grouped := map[Acquisition][]*Call{}
		for _, c := range list.all {
			grouped[c.Acquisition] = append(grouped[c.Acquisition], c)
		}
		return grouped
	})[id]
}

// A callList has the calls of a run. It is a chapter of its [History]: a part that is computed when
// it is first asked for.
type callList struct {
	all           []*Call
	byAcquisition chapter[map[Acquisition][]*Call]
	bySeq         []*Call // indexed by the Seq of their beginnings and ends
}

// callChapter returns the calls of the run, which are computed when they are first needed.
func (h *History) callChapter() *callList {
	return h.calls.get(func() *callList {
		var all []*Call
		running := map[step]*Call{} // the calls that have not ended
		counted := map[trace.StepPoint]int{}
		for _, ev := range h.nonMessages {
			key := step{Acquisition{ev.Process, ev.Section}, ev.Step}
			switch ev.Kind {
			case trace.KindBegin:
				c := &Call{Acquisition: key.Acquisition, Step: ev.Step, Lock: ev.Lock, Began: ev}
				counted[c.Point()]++
				c.Nth = counted[c.Point()]
				running[key] = c
				all = append(all, c)
			case trace.KindCancel:
				if c := running[key]; c != nil {
					c.Cancelled = ev
				}
			case trace.KindEnd:
				if c := running[key]; c != nil {
					c.Ended = ev
					delete(running, key)
					break
				}
				all = append(all, &Call{Acquisition: key.Acquisition, Step: ev.Step, Lock: ev.Lock, Ended: ev})
			case trace.KindAgain:
				if c := running[key]; c != nil {
					c.Resent = append(c.Resent, ev)
				}
			case trace.KindCrash:
				for _, c := range running {
					if c.Client == ev.Process && c.Crashed == nil {
						c.Crashed = ev
					}
				}
			}
		}
		list := &callList{all: all, bySeq: make([]*Call, len(h.Trace.Events)+1)}
		for _, c := range all {
			for _, ev := range []*trace.Event{c.Began, c.Ended} {
				if ev != nil {
					list.bySeq[ev.Seq] = c
				}
			}
		}
		return list
	})
}
