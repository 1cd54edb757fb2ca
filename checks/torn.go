package checks

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
		var reason Reason
		switch {
		case applied == 0: // then there is nothing to clean up
		case s.Refused > 0 && s.Begun > 1: // one write alone, sent twice and refused once, is whole
			reason = Because(TornByRefusals, applied, s.Refused)
		case s.CutShort() != "":
			reason = Because(TornByDeparture, s.CutShort())
		case s.Begun > applied:
			reason = Because(TornInPart, s.Begun, applied)
		}
		if !reason.IsZero() {
			all = append(all, TornSection{s.Client, s.Acquisition.Section, reason})
		}
	}
	return all
}
