package explore

import (
	"context"
	"fmt"
	"iter"

	"github.com/locksim/locksim/internal/runs"
)

// shrink looks for the smallest world that still does the damage want: with fewer faults, clients
// and nodes, with plainer faults that strike later, and with smaller and rounder sizes. The result
// is minimal: if any of its faults is left out, it does not do the damage.
//
// shrink never accepts an inconclusive world. It accepts a world in which a process ran on while it
// was paused only if that happened in w, too. If ctx is done, shrink returns the smallest world so
// far, which need not be minimal, and the error of ctx.
func shrink(ctx context.Context, r runs.Runner, rec *Record, w runs.WorldSpec, want Damage) (runs.WorldSpec, error) {
	o, err := r.Run(ctx, w)
	if err != nil {
		return w, err
	}
	if !allDamage(o).Includes(want) {
		return w, fmt.Errorf("cannot shrink %v: the world shows %q, not %q; does the lock behave differently in each run?", w.Faults, allDamage(o), want)
	}
	s := &shrinker{ctx: ctx, runner: r, rec: rec, want: want, ranOn: o.RanOn(), worldsLeft: maxShrinkWorlds - 1, tried: map[string]bool{}}
	for {
		before := w
		for _, p := range passes {
			w = s.simplify(p, w)
		}
		if sameWorld(before, w) {
			break
		}
	}
	// This last pass makes the result minimal, so it must be complete even if the limit of
	// worlds has been reached.
	s.worldsLeft += 1 << len(w.Faults)
	w = s.simplify(fewerFaults, w)
	return w, ctx.Err()
}

// maxShrinkWorlds is how many worlds shrink runs at most for one example before its last pass. An
// example with one fault takes about 25, one with two faults about 100. The limit is for locks
// whose damage differs from point to point: a search may have to shrink hundreds of ways.
const maxShrinkWorlds = 300

// A pass lists worlds that are simpler than w in one respect, the best first. In the respects
// of all earlier passes, these worlds are at least as simple as w. Therefore shrinking ends.
type pass func(rec *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec]

// passes are all passes, in their order.
var passes = []pass{fewerFaults, fewerClients, fewerNodes, fewerOthers, plainerFaults, promptStarts, laterFaults, rounderSizes}

// A shrinker runs the worlds that shrink tries, and remembers which of them do the damage.
type shrinker struct {
	ctx    context.Context
	runner runs.Runner
	rec    *Record
	want   Damage
	// ranOn means that a world is accepted even if a paused process ran on in it.
	ranOn bool
	// worldsLeft is how many worlds may still be run.
	worldsLeft int
	tried      map[string]bool
}

// simplify replaces w by the first of the pass's simpler worlds that does the damage. It
// repeats that until no simpler world does the damage.
func (s *shrinker) simplify(p pass, w runs.WorldSpec) runs.WorldSpec {
	for simpler := true; simpler; {
		simpler = false
		for candidate := range p(s.rec, w) {
			if simpler = s.provesDamage(candidate); simpler {
				w = candidate
				break
			}
		}
	}
	return w
}

// provesDamage reports whether a world does the damage. It is false for a world that cannot
// be made, and if no more worlds may be run.
func (s *shrinker) provesDamage(w runs.WorldSpec) bool {
	name := w.Key()
	if isProven, known := s.tried[name]; known {
		return isProven
	}
	if s.worldsLeft == 0 || s.ctx.Err() != nil {
		return false
	}
	s.worldsLeft--
	o, err := s.runner.Run(s.ctx, w)
	if s.ctx.Err() != nil {
		return false
	}
	isProven := err == nil && proves(o, s.want) && (s.ranOn || !o.RanOn())
	s.tried[name] = isProven
	return isProven
}

// proves reports whether a result is conclusive and includes the damage.
func proves(o runs.WorldResult, want Damage) bool {
	return o.Off.Doubt == "" && o.On.Doubt == "" && allDamage(o).Includes(want)
}

func sameWorld(a, b runs.WorldSpec) bool { return a.Key() == b.Key() }
