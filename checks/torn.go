package checks

import "fmt"

// torn lists the sections that took effect only in part.
func (h *history) torn() []TornSection {
	var all []TornSection
	for _, s := range h.sections {
		applied := 0
		for _, o := range s.operations {
			if o.makes != nil {
				applied++
			}
		}
		reason := ""
		switch {
		case applied == 0: // then there is nothing to clean up
		case s.refused > 0:
			reason = fmt.Sprintf("%d of its writes took effect, %d the storage refused", applied, s.refused)
		case s.cutShort != "":
			reason = fmt.Sprintf("it wrote, and never released: %s", s.cutShort)
		case s.begun > applied:
			reason = fmt.Sprintf("of its %d writes only %d took effect", s.begun, applied)
		}
		if reason != "" {
			all = append(all, TornSection{s.client, s.acquisition.section, reason})
		}
	}
	return all
}
