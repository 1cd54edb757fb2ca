package explore

import (
	"context"
	"fmt"
	"iter"

	"github.com/locksim/locksim/internal/runs"
)

// shrink looks for the smallest world in which an effect is still there: with fewer
// faults, clients and nodes, with plainer faults that strike later, and with smaller
// and rounder sizes. What it returns is minimal: without some of its faults the
// effect is gone, whichever they are.
//
// A world that proves nothing is never taken, nor one in which a paused process ran
// on, unless one did in w. If ctx is done the smallest so far comes with its error;
// it need not be minimal.
func shrink(ctx context.Context, r runs.Runner, rec *Record, w runs.World, want Effect) (runs.World, error) {
	o, err := r.Run(ctx, w)
	if err != nil {
		return w, err
	}
	if !wholeEffect(o).Includes(want) {
		return w, fmt.Errorf("cannot shrink %v: it shows %q, not %q; does the lock behave differently each time?", w.Faults, wholeEffect(o), want)
	}
	s := &shrinker{ctx: ctx, runner: r, rec: rec, want: want, ranOn: o.RanOn(), left: mostWorlds - 1, tried: map[string]bool{}}
	for {
		before := w
		for _, p := range passes {
			w = s.try(p, w)
		}
		if same(before, w) {
			break
		}
	}
	// If there were too many worlds, this is what must not be missed.
	s.left += 1 << len(w.Faults)
	w = s.try(fewerFaults, w)
	return w, ctx.Err()
}

// mostWorlds is how many worlds a shrink runs. One fault takes about 25, two take 100;
// a lock in which the effect comes and goes with every point must not take a search
// that has hundreds of ways to shrink beyond its time.
const mostWorlds = 300

// A pass lists worlds that are simpler than w in one respect, the best first, and in
// none that is the concern of an earlier pass less simple: so shrinking comes to an
// end.
type pass func(rec *Record, w runs.World) iter.Seq[runs.World]

var passes = []pass{fewerFaults, fewerClients, fewerNodes, fewerOthers, plainer, goodMoments, later, rounder}

// A shrinker remembers which worlds it has tried.
type shrinker struct {
	ctx    context.Context
	runner runs.Runner
	rec    *Record
	want   Effect
	// ranOn says that the effect may come from a process that ran on.
	ranOn bool
	// left is how many worlds may still be run.
	left  int
	tried map[string]bool
}

// try is the first of the simpler worlds that a pass lists with the effect, the
// first of those that are simpler than this one, and so on.
func (s *shrinker) try(p pass, w runs.World) runs.World {
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

// shows says whether a world proves that the effect is there. A world that cannot be
// made does not, nor does one for which there is no time.
func (s *shrinker) shows(w runs.World) bool {
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

// proves says that an effect is there beyond doubt.
func proves(o runs.Outcome, want Effect) bool {
	return o.Off.Doubt == "" && o.On.Doubt == "" && wholeEffect(o).Includes(want)
}

func same(a, b runs.World) bool { return a.Key() == b.Key() }
