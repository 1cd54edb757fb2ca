package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/bands"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
)

// margins measures how large each fault of a world has to be to do the damage. While it measures
// one fault, the other faults keep their sizes. A fault without a size has no margin. A larger size
// need not do the damage that a smaller size does. Then there are several borders between sizes,
// and margins finds one of them.
//
// A size counts as survived if, with this size, the world is inconclusive or a process runs on
// while it is paused. If the world w itself is inconclusive, or a paused process runs on in it,
// margins returns none.
func margins(ctx context.Context, r runs.Runner, rec *Record, w runs.WorldSpec, damage Damage) ([]Margin, error) {
	o, err := r.Run(ctx, w)
	switch {
	case err != nil:
		return nil, err
	case !allDamage(o).Includes(damage):
		return nil, fmt.Errorf("%v: cannot find the margins: the world shows %q, not %q; does the lock behave differently in each run?", w.Faults, allDamage(o), damage)
	case o.RanOn() || !proves(o, damage):
		return nil, nil
	}
	var all []Margin
	for i, f := range w.Faults {
		known := f.Size()
		if known == (sim.Size{}) {
			continue
		}
		m := Margin{Fault: i, What: story.FaultNoun(f.Info(), story.NameOf)}
		m.Survived, m.Broken, err = border(known, rec.TTL, func(size sim.Size) (bool, error) {
			o, err := r.Run(ctx, replaceFault(w, i, f.WithSize(size)))
			return proves(o, damage) && !o.RanOn(), err
		})
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
	return all, nil
}

// border finds the smallest size of a fault that breaks something, by bisection between a tiny size
// and known, a size that breaks something. survived is the largest size found that breaks nothing.
// It is zero if even the tiny size breaks something.
func border(known sim.Size, ttl time.Duration, breaks func(sim.Size) (bool, error)) (survived, broken sim.Size, err error) {
	resolution := func(size int64) int64 { return int64(timeResolution(time.Duration(size), ttl)) }
	smallest, newSize := min(int64(time.Millisecond), resolution(0)), func(n int64) sim.Size { return sim.Size{Time: time.Duration(n)} }
	if known.Rate != 0 {
		resolution = func(rate int64) int64 { return int64(rateResolution(sim.Rate(rate))) }
		smallest, newSize = resolution(0), func(n int64) sim.Size { return sim.Size{Rate: sim.Rate(n)} }
	}
	low, high := smallest, int64(known.Time)+int64(known.Rate)
	if low >= high {
		return sim.Size{}, known, nil
	}
	split := func(low, high int64) (int64, bool) {
		middle := low + (high-low)/2
		step := resolution(middle)
		if middle -= middle % step; middle <= low {
			middle = low + step
			middle -= middle % step
		}
		return middle, middle < high
	}
	found, _, err := bands.Find([]int64{low, high}, split, func(n int64) (bool, error) {
		if n == high {
			return true, nil
		}
		return breaks(newSize(n))
	})
	switch {
	case err != nil:
		return sim.Size{}, sim.Size{}, err
	case len(found) == 1:
		return sim.Size{}, newSize(low), nil
	}
	return newSize(found[0].To), newSize(found[1].From), nil
}

// timeResolution returns how exactly the border of a time is found. From one second on, it
// is found to ten milliseconds, and below to one millisecond. If the TTL is shorter than a
// second, the resolution is at most a thousandth of the TTL.
func timeResolution(size, ttl time.Duration) time.Duration {
	if size >= time.Second {
		return 10 * time.Millisecond
	}
	step := time.Millisecond
	for ttl > 0 && step > ttl/1000 && step > time.Microsecond {
		step /= 10
	}
	return step
}

// rateResolution returns how exactly the border of a rate is found. From one percent on, it
// is found to a tenth of a percent, and below to ten parts per million.
func rateResolution(rate sim.Rate) sim.Rate {
	if rate >= sim.Percent {
		return sim.Percent / 10
	}
	return 10 * sim.PPM
}
