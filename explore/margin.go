package explore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/story"
	"github.com/locksim/locksim/trace"
)

// margins finds out how large each fault of a world has to be, if it has a size, for
// an effect to be there while the other faults are as they are. Where a larger size
// does not always do what a smaller one does, it finds one of the borders.
//
// A world that proves nothing, or in which a paused process ran on, counts as
// survived. If w is such a world, it has no margins.
func margins(ctx context.Context, r Runner, rec *Record, w World, effect Effect) ([]Margin, error) {
	o, err := r.Run(ctx, w)
	switch {
	case err != nil:
		return nil, err
	case !o.Effect().Includes(effect):
		return nil, fmt.Errorf("%v have no margins: they show %q, not %q; does the lock behave differently each time?", w.Faults, o.Effect(), effect)
	case o.RanOn() || !proves(o, effect):
		return nil, nil
	}
	var all []Margin
	for i, f := range w.Faults {
		if f.Size() == 0 {
			continue
		}
		m := Margin{Fault: i, What: f.inWords()}
		m.Survived, m.Broken, err = border(f.Size(), rec.TTL, func(size time.Duration) (bool, error) {
			o, err := r.Run(ctx, w.replacing(i, f.Sized(size)))
			return proves(o, effect) && !o.RanOn(), err
		})
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
	return all, nil
}

// border bisects between a size that is next to nothing and one that is known to
// break something. Survived is 0 if next to nothing is enough.
func border(known, ttl time.Duration, breaks func(time.Duration) (bool, error)) (survived, broken time.Duration, err error) {
	survived, broken = min(time.Millisecond, resolution(0, ttl)), known
	if survived >= known {
		return 0, known, nil
	}
	broke, err := breaks(survived)
	if err != nil {
		return 0, 0, err
	}
	if broke {
		return 0, survived, nil
	}
	for {
		middle := survived + (broken-survived)/2
		step := resolution(middle, ttl)
		if middle = middle.Truncate(step); middle <= survived {
			middle = (survived + step).Truncate(step)
		}
		if middle >= broken {
			return survived, broken, nil
		}
		broke, err := breaks(middle)
		if err != nil {
			return 0, 0, err
		}
		if broke {
			broken = middle
		} else {
			survived = middle
		}
	}
}

// resolution is how exactly a border is found: to ten milliseconds from a second on,
// below it to one, and to a thousandth of a TTL that is shorter than a second, or
// better.
func resolution(size, ttl time.Duration) time.Duration {
	if size >= time.Second {
		return 10 * time.Millisecond
	}
	step := time.Millisecond
	for ttl > 0 && step > ttl/1000 && step > time.Microsecond {
		step /= 10
	}
	return step
}

// inWords says what lasts or happens, such as "a pause of client-1".
func (f Fault) inWords() string {
	switch a := f.Action.(type) {
	case *sim.Pause:
		if a.Mode == trace.Suspend {
			return a.Process + "'s machine being suspended"
		}
		return "a pause of " + a.Process
	case *sim.Jump:
		if a.By < 0 {
			return a.Process + "'s clock set back"
		}
		return a.Process + "'s clock set forward"
	case *sim.CrashFault:
		return a.Process + " being down"
	case *sim.Partition:
		return "a partition of " + a.Process + " from " + story.List(a.From)
	case *sim.Delay:
		return "a delay between " + a.Process + " and " + a.To
	case *sim.Hold:
		if nth := a.Message.Nth; nth > 1 {
			return fmt.Sprintf("%s, the %s, being late", a.Message.Message, story.Ordinal(nth))
		}
		return a.Message.String() + " being late"
	case *sim.Stall:
		return fmt.Sprintf("a stall of %s's %s", a.Client, cmp.Or(a.Step, trace.Write))
	case *sim.Fail:
		return a.Node + " answering with errors"
	}
	return "the " + f.kind() + " of " + f.target()
}
