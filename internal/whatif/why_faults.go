package whatif

import (
	"cmp"
	"math"
	"strconv"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
)

// mostNewFaults returns how many places of new faults of one kind are tried. In most scenarios
// there are fewer places. In a world with many events fewer are tried, so that the answer does not
// take minutes.
func (f *finder) mostNewFaults() int {
	const most, least, events = 40, 8, 60_000
	return min(max(events/max(f.history.EventCount(), 1), least), most)
}

// tryNewFaults finds, of each kind of fault that is likely to break something, the smallest
// that turns a verdict, and the smallest that turns only lease-exclusion.
func (f *finder) tryNewFaults() error {
	config, err := f.config()
	if err != nil {
		return err
	}
	record := explore.NewRecord(config, f.history)
	for _, likely := range record.LikelySingles() {
		s := &smallestFaults{finder: f, path: "faults[" + strconv.Itoa(f.faults+1) + "]", ttl: cmp.Or(record.TTL, explore.DefaultTTL)}
		faults := likely.Faults[:min(len(likely.Faults), f.mostNewFaults())]
		for _, fault := range faults {
			if err := s.try(fault); err != nil {
				return err
			}
		}
		f.NewFaults = append(f.NewFaults, NewFaults{likely.Effect, len(faults), len(likely.Faults), s.unknown})
		for _, t := range []*Turn{s.leases, s.verdict} {
			if t != nil {
				f.Turns = append(f.Turns, *t)
			}
		}
	}
	return nil
}

// smallestFaults has the smallest faults of one kind that were found so far: verdict turns a
// verdict, and leases turns only lease-exclusion. Each is nil if no such fault was found. path is
// the place in the scenario at which the faults are added.
type smallestFaults struct {
	*finder
	path            string
	ttl             time.Duration
	verdict, leases *Turn
	// unknown is the number of faults with which a run was inconclusive.
	unknown int
}

// try tries a fault, which has the largest size, in this size and in smaller ones. If the fault has
// no size, try tries it as it is.
func (s *smallestFaults) try(fault runs.Fault) error {
	size := int64(fault.Size().Time)
	if size == 0 {
		o, err := s.finder.try(s.path, fault.String())
		s.note(fault, math.Inf(1), o)
		s.countUnknown(o.isUnknown())
		return err
	}
	r := newRange(0, size, duration)
	from := []int64{0, r.round(size / 3), size}
	if s.verdict != nil {
		// All that matters is whether this fault turns a verdict in a smaller size than the
		// smallest so far.
		from = []int64{0, int64(s.verdict.NewFault.Size().Time)}
	}
	if from[len(from)-1] <= r.Resolution {
		return nil
	}
	sized := func(size int64) runs.Fault { return fault.WithSize(sim.Size{Time: time.Duration(size)}) }
	tried, err := s.tryValues(r, from, func(size int64) (path, text string) {
		if size == 0 {
			return s.path, removal // there is no such fault, so nothing is run
		}
		return s.path, sized(size).String()
	})
	if err != nil {
		return err
	}
	for _, b := range tried.bands {
		s.note(sized(b.From), float64(b.From)/float64(s.ttl), tried.outcomes[b.From])
	}
	_, _, anyUnknown := tried.unknown(0, math.MaxInt64)
	s.countUnknown(anyUnknown)
	return nil
}

// countUnknown counts a fault with which a run was inconclusive.
func (s *smallestFaults) countUnknown(isUnknown bool) {
	if isUnknown {
		s.unknown++
	}
}

// note keeps a fault with its outcome if it is the smallest so far that turns something.
func (s *smallestFaults) note(fault runs.Fault, distance float64, o Outcome) {
	c := s.changeOf(o)
	smallest := &s.verdict
	switch {
	case c == change{}:
		return
	case c.off == "" && c.on == "":
		smallest = &s.leases
	}
	if *smallest == nil || distance < (*smallest).distance {
		*smallest = &Turn{Path: s.path, Value: fault.String(), NewFault: &fault, Outcome: o, distance: distance}
	}
}
