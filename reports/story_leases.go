package reports

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A held is a lease that has neither been given up nor ended.
type held struct {
	actor
	// declared is what the lock said of its end, and ends when that is.
	declared fakeclock.Reading
	ends     time.Duration
}

// noteLease keeps account of the leases that clients hold.
func (s *teller) noteLease(ev *trace.Event) {
	who := actor{ev.Process, ev.Section}
	switch ev.Kind {
	case trace.KindEnd:
		if ev.OK && ev.Ends != nil && (ev.Step == trace.Acquire || ev.Step == trace.Extend) {
			s.drop(func(h held) bool { return h.actor == who })
			if end, ok := s.leaseEnd(ev.Process, ev.Section, *ev.Ends); ok && end > ev.At {
				s.leases = append(s.leases, held{who, *ev.Ends, end})
			}
		}
	case trace.KindBegin:
		if ev.Step == trace.Release {
			s.drop(func(h held) bool { return h.actor == who })
		}
	case trace.KindLost:
		s.drop(func(h held) bool { return h.actor == who })
	case trace.KindCrash, trace.KindDone:
		s.drop(func(h held) bool { return h.client == ev.Process })
	case trace.KindClock:
		for i, h := range s.leases {
			if h.client == ev.Process {
				if end, ok := s.leaseEnd(h.client, h.section, h.declared); ok {
					s.leases[i].ends = end
				}
			}
		}
	}
}

func (s *teller) drop(which func(held) bool) { s.leases = slices.DeleteFunc(s.leases, which) }

// leaseEnd is the true time at which a lease ends, as far as the client's clocks
// are known.
func (s *teller) leaseEnd(client string, section int, declared fakeclock.Reading) (time.Duration, bool) {
	lock := s.acquisition(client, section).lock
	readsTrueTime := slices.ContainsFunc(s.trace.Locks, func(l trace.LockInfo) bool { return l.Name == lock && l.TrueTime })
	return s.trueTime(client, declared, readsTrueTime)
}

// leasesOver tells of the leases that end while their clients still go on as if
// they held them. It is no event, only a time that somebody should have noticed.
func (s *teller) leasesOver(until time.Duration) {
	slices.SortFunc(s.leases, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.ends, b.ends), cmp.Compare(a.client, b.client), cmp.Compare(a.section, b.section))
	})
	for len(s.leases) > 0 && s.leases[0].ends < until {
		h := s.leases[0]
		s.leases = s.leases[1:]
		s.add(entry{at: h.ends, who: visible(h.client), text: "its lease is over, and it has not released"})
	}
}
