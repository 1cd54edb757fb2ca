package checks

import "fmt"

// torn lists the sections that took effect only in part.
func (h *inquiry) torn() []TornSection {
	var all []TornSection
	for _, s := range h.Sections() {
		applied := 0
		for _, o := range s.Operations {
			if o.Makes != nil {
				applied++
			}
		}
		reason := ""
		switch {
		case applied == 0: // then there is nothing to clean up
		case s.Refused > 0:
			reason = fmt.Sprintf("%d of its writes took effect, %d the storage refused", applied, s.Refused)
		case s.CutShort() != "":
			reason = fmt.Sprintf("it wrote, and never released: %s", s.CutShort())
		case s.Begun > applied:
			reason = fmt.Sprintf("of its %d writes only %d took effect", s.Begun, applied)
		}
		if reason != "" {
			all = append(all, TornSection{s.Client, s.Acquisition.Section, reason})
		}
	}
	return all
}
