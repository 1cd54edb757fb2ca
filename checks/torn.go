package checks

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// torn lists the critical sections that took effect only in part: some of their writes were
// applied, but not all that should have been. Sections that are nested in each other count as one.
func (h *judgedRun) torn() []TornSection {
	var all []TornSection
	for _, s := range h.Sections() {
		if s.Outer != nil {
			continue
		}
		applied, begun, refused := 0, 0, 0
		for _, o := range s.WorkSections() {
			begun, refused = begun+o.WritesBegun, refused+o.WritesRefused
			applied += h.writesApplied(o)
		}
		var reason Reason
		switch {
		case applied == 0: // there is nothing to clean up
		case refused > 0 && begun > applied: // a write that was refused and later applied is complete
			reason = tornByRefusals.Reason(applied, refused)
		case s.CutShort() != "" && !h.wroteAll(s, applied):
			reason = tornByDeparture.Reason(s.CutShort())
		case begun > applied:
			reason = tornInPart.Reason(begun, applied)
		}
		if !reason.IsZero() {
			all = append(all, TornSection{s.Client, s.Acquisition.Section, reason})
		}
	}
	return all
}

// wroteAll reports whether a section made all the writes that its client plans for each
// section. If the client then crashes, only the release is missing.
func (h *judgedRun) wroteAll(s *history.Section, applied int) bool {
	planned := h.PlannedWrites(s.Client)
	return planned > 0 && applied >= planned
}

// writesApplied counts the writes of a section that the storage applied at least once. If
// the message of a write arrives twice, the storage applies it twice, but it is one write.
func (h *judgedRun) writesApplied(s *history.Section) int {
	var writes []*history.Call
	for _, c := range h.CallsOf(s.Acquisition) {
		if c.Step == trace.Write && c.Began != nil {
			writes = append(writes, c)
		}
	}
	applied := map[int]bool{}
	for _, o := range s.Operations {
		if o.Makes == nil {
			continue
		}
		sent := o.Seq
		if by := h.Event(o.Seq).By; by != nil && by.Sent > 0 {
			sent = by.Sent
		}
		index := -1 // a write whose beginning is not in the trace
		for i, c := range writes {
			if c.Began.Seq <= sent {
				index = i
			}
		}
		applied[index] = true
	}
	return len(applied)
}
