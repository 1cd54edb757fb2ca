package history

// A Lapse is a moment at which a lease expired although its client had not released it.
type Lapse struct {
	At Moment
	// RenewedBy is the declaration with which the lock renewed the same lease later; nil if
	// it did not.
	RenewedBy *Declaration
}

// Lapses returns the moments at which the critical section's lease expired, in order. A lease that
// had ended when it was granted has no lapse in its section, unless it is renewed and
// expires again.
func (s *Section) Lapses() []Lapse {
	var all []Lapse
	l := s.Lease
	for i, d := range l.Declarations {
		next := Never // when the lock declares the next end
		if i+1 < len(l.Declarations) {
			next = MomentOf(l.Declarations[i+1].Event)
		}
		if !d.Until.Before(next) || !d.Until.Before(l.CutAt) || !d.Until.Before(s.To) || !s.From.Before(d.Until) {
			continue
		}
		if n := len(all); n > 0 && all[n-1].At == d.Until {
			continue // the renewal declared an end that had passed already
		}
		lapse := Lapse{At: d.Until}
		for j := range l.Declarations[i+1:] {
			if later := &l.Declarations[i+1+j]; d.Until.Before(later.Until) {
				lapse.RenewedBy = later
				break
			}
		}
		all = append(all, lapse)
	}
	return all
}
