package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Parties returns the acquisitions that took part in what broke. An acquisition is one call of
// acquire and everything that follows from it. It took part if an event of a violation names it. It
// also took part if it was its client's latest when a fault struck the client or a message of the
// client. If progress is violated, all granted acquisitions are parties.
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
		client := h.ClientOf(a.Fault)
		for _, c := range slices.Backward(h.Calls()) {
			if c.Client == client && c.Began != nil && c.Began.Seq < a.Struck.Seq { // the client's latest step before the fault
				parties[c.Acquisition] = parties[c.Acquisition] || c.Section > 0
				break
			}
		}
	}
	return parties
}
