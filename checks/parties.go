package checks

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Parties are the acquisitions that have a part in what broke: those that show it, and those
// of which a fault struck the client or a message. Where nobody gets on, all that were
// granted have one.
func (v *Verdict) Parties(h *history.History) map[history.Acquisition]bool {
	parties := map[history.Acquisition]bool{}
	for _, f := range v.Violations() {
		for _, seq := range f.Events {
			ev := h.Event(seq)
			for _, a := range []*trace.Actor{ev.By, ev.Owner, ev.Prior} {
				if a != nil {
					parties[history.AcquisitionOf(a)] = true
				}
			}
			if ev.By == nil && ev.Section > 0 {
				parties[history.Acquisition{Client: ev.Process, Section: ev.Section}] = true
			}
		}
		if f.Property == Progress {
			for _, s := range h.Sections() {
				parties[s.Acquisition] = true
			}
		}
	}
	for _, a := range h.Acts() {
		if c := latestCall(h, h.ClientOf(a.Fault), a.Struck); c != nil && c.Section > 0 {
			parties[c.Acquisition] = true
		}
	}
	return parties
}

// latestCall is the last step that a client had begun before an event; nil if it had not
// begun any.
func latestCall(h *history.History, client string, before *trace.Event) *history.Call {
	var last *history.Call
	for _, c := range h.Calls() {
		if c.Client == client && c.Began != nil && c.Began.Seq < before.Seq {
			last = c
		}
	}
	return last
}
