package history

// A Lapse is a moment at which a lease ran out by its time, and its client had not given
// it up.
type Lapse struct {
	At Moment
	// Prolonged is what prolonged the lease later: it is one lease all the same. Nil is that
	// it was over.
	Prolonged *Declaration
}

// Lapses are the moments at which the section's lease ran out, in order. A lease that had
// ended when it was granted does not run out in its section, unless it is prolonged and
// runs out again.
func (s *Section) Lapses() []Lapse {
	var all []Lapse
	l := s.Lease
	for i, d := range l.Ends {
		next := Never // when the lock says something else
		if i+1 < len(l.Ends) {
			next = MomentOf(l.Ends[i+1].Event)
		}
		if !d.Until.Before(next) || !d.Until.Before(l.Cut) || !d.Until.Before(s.To) || !s.From.Before(d.Until) {
			continue
		}
		if n := len(all); n > 0 && all[n-1].At == d.Until {
			continue // what prolonged it had passed itself
		}
		lapse := Lapse{At: d.Until}
		for j := range l.Ends[i+1:] {
			if later := &l.Ends[i+1+j]; d.Until.Before(later.Until) {
				lapse.Prolonged = later
				break
			}
		}
		all = append(all, lapse)
	}
	return all
}
