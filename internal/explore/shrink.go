package explore

import (
	"context"
	"fmt"
	"iter"

	"github.com/locksim/locksim/internal/runs"
)

// shrink looks for the smallest world that still does the damage: with fewer faults,
// clients and nodes, with plainer faults that strike later, and with smaller and rounder
// sizes. The result is minimal: it does not do the damage without some of its faults.
//
// shrink never accepts an inconclusive world. It accepts a world in which a paused process
// ran on only if one did in w. If ctx is done, shrink returns the smallest world so far,
// which need not be minimal, and the error of ctx.
func shrink(ctx context.Context, r runs.Runner, rec *Record, w runs.WorldSpec, want Damage) (runs.WorldSpec, error) {
	o, err := r.Run(ctx, w)
	if err != nil {
		return w, err
	}
	if !allDamage(o).Includes(want) {
		return w, fmt.Errorf("cannot shrink %v: the world shows %q, not %q; does the lock behave differently in each run?", w.Faults, allDamage(o), want)
	}
	s := &shrinker{ctx: ctx, runner: r, rec: rec, want: want, ranOn: o.RanOn(), left: maxShrinkWorlds - 1, tried: map[string]bool{}}
	for {
		before := w
		for _, p := range passes {
			w = s.simplify(p, w)
		}
		if sameWorld(before, w) {
			break
		}
	}
	// Even if there were too many worlds, this pass must be complete.
	s.left += 1 << len(w.Faults)
	w = s.simplify(fewerFaults, w)
	return w, ctx.Err()
}

// maxShrinkWorlds is how many worlds a shrink runs at most. One fault takes about 25, two
// take 100. A search may have to shrink hundreds of ways, so a lock whose damage depends on
// every point must not take it beyond its time.
const maxShrinkWorlds = 300

// A pass lists worlds that are simpler than w in one respect, the best first. They are not
// less simple in the respect of any earlier pass, so shrinking ends.
type pass func(rec *Record, w runs.WorldSpec) iter.Seq[runs.WorldSpec]

var passes = []pass{fewerFaults, fewerClients, fewerNodes, fewerOthers, plainerFaults, promptStarts, laterFaults, rounderSizes}

// A shrinker remembers which worlds it has tried.
type shrinker struct {
	ctx    context.Context
	runner runs.Runner
	rec    *Record
	want   Damage
	// ranOn reports that the damage may come from a process that ran on.
	ranOn bool
	// left is how many worlds may still be run.
	left  int
	tried map[string]bool
}

// simplify replaces w by the first of the pass's simpler worlds that does the damage, and
// repeats that until there is none.
func (s *shrinker) simplify(p pass, w runs.WorldSpec) runs.WorldSpec {
	for simpler := true; simpler; {
		simpler = false
		for candidate := range p(s.rec, w) {
			if simpler = s.shows(candidate); simpler {
				w = candidate
				break
			}
		}
	}
	return w
}

// shows reports whether a world proves the damage. A world that cannot be made does not,
// and neither does one for which there is no time.
func (s *shrinker) shows(w runs.WorldSpec) bool {
	name := w.Key()
	if shown, known := s.tried[name]; known {
		return shown
	}
	if s.left == 0 || s.ctx.Err() != nil {
		return false
	}
	s.left--
	o, err := s.runner.Run(s.ctx, w)
	if s.ctx.Err() != nil {
		return false
	}
	shown := err == nil && proves(o, s.want) && (s.ranOn || !o.RanOn())
	s.tried[name] = shown
	return shown
}

// proves reports whether a conclusive result includes the damage.
func proves(o runs.WorldResult, want Damage) bool {
	return o.Off.Doubt == "" && o.On.Doubt == "" && allDamage(o).Includes(want)
}

func sameWorld(a, b runs.WorldSpec) bool { return a.Key() == b.Key() }
