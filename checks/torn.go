package checks

// torn lists the sections that took effect only in part. Those that are nested in one another are
// one.
func (h *inquiry) torn() []TornSection {
	var all []TornSection
	for _, s := range h.Sections() {
		if s.Within != nil {
			continue
		}
		applied, begun, refused := 0, 0, 0
		for _, o := range s.Together() {
			begun, refused = begun+o.Begun, refused+o.Refused
		}
		for _, o := range s.Work() {
			if o.Makes != nil {
				applied++
			}
		}
		var reason Reason
		switch {
		case applied == 0: // then there is nothing to clean up
		case refused > 0 && begun > 1: // one write alone, sent twice and refused once, is whole
			reason = Because(TornByRefusals, applied, refused)
		case s.CutShort() != "":
			reason = Because(TornByDeparture, s.CutShort())
		case begun > applied:
			reason = Because(TornInPart, begun, applied)
		}
		if !reason.IsZero() {
			all = append(all, TornSection{s.Client, s.Acquisition.Section, reason})
		}
	}
	return all
}
