package explore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Result makes the ways to break the lock from what was found. It makes the best example of
// each cause as small as possible, measures how large each fault has to be, and draws the
// danger maps. It runs worlds for that, and returns an error if one cannot be run.
func (f *Found) Result(ctx context.Context) (*Result, error) {
	s := f.search
	first := f.records[0]
	out := f.result
	out.Quick, out.MaxFaults, out.Budget, out.Kinds, out.Seed = s.Quick, s.MaxFaults, s.Worlds, s.Kinds, s.Bases[0].Seed
	out.Lock, out.Nodes, out.TTL, out.Takeover = first.Lock, len(first.Nodes), first.TTL, first.Takeover
	out.Lengths, out.Rates = f.sizes()
	for _, r := range f.records {
		out.Bases = append(out.Bases, r.report())
	}
	// The worlds that shrink one example are run one after the other. Drawing the maps at
	// the same time keeps the runner busy.
	var mapsErr error
	var drawing sync.WaitGroup
	drawing.Go(func() {
		mapsErr = s.untilEnd(ctx, func(ctx context.Context) error {
			var err error
			out.Maps, err = f.drawMaps(ctx)
			return err
		}, func() { out.Maps = nil })
	})
	all, err := f.ways(ctx)
	f.search.reportProgress(DrawingTheMaps, 0, 0, len(f.groups))
	drawing.Wait()
	if err = cmp.Or(err, mapsErr); err != nil {
		return nil, err
	}
	for _, w := range all {
		if w.ranOn {
			out.RanOn = append(out.RanOn, w.Way)
		} else {
			out.Ways = append(out.Ways, w.Way)
		}
	}
	return &out, nil
}

// sizes returns the sizes of the single faults that were tried, the smallest first.
func (f *Found) sizes() (lengths []time.Duration, rates []sim.Rate) {
	for _, singles := range f.singles {
		for _, single := range singles {
			switch size := single.world.Faults[0].Size(); {
			case single.outcome == nil:
			case size.Rate != 0:
				rates = append(rates, size.Rate)
			case size.Time != 0:
				lengths = append(lengths, size.Time)
			}
		}
	}
	return distinct(lengths), distinct(rates)
}

// distinct returns the values in order, each once.
func distinct[N cmp.Ordered](all []N) []N {
	slices.Sort(all)
	return slices.Compact(all)
}

// report returns the part of the result that is about a base.
func (r *Record) report() BaseRecord {
	b := BaseRecord{Name: r.Name, Points: len(r.Points)}
	for _, p := range r.Points {
		if p.isStep() {
			b.Steps++
		}
	}
	b.Messages = len(r.Messages)
	var words []string
	for _, h := range allDamage(r.Outcome) {
		if !slices.Contains(words, h.What) {
			words = append(words, h.What)
		}
	}
	b.Broke = strings.Join(words, ", ")
	if !r.CanExplore() {
		b.Doubt = cmp.Or(r.Outcome.Off.Doubt, r.Outcome.On.Doubt)
	}
	return b
}

// A measuredWay is a way, and whether a paused process ran on in it.
type measuredWay struct {
	Way
	ranOn bool
}

// ways shrinks the examples of all groups: it makes them as small as possible. A group is the
// broken worlds that break in one way. Then it merges groups whose shrunken examples have the same
// ID. It leaves out a group if some of its faults do the same damage without the others.
func (f *Found) ways(ctx context.Context) ([]measuredWay, error) {
	all := f.groups.ordered()
	shrunken := make([]example, len(all))
	err := parallel(ctx, f.search.feederCount(), len(all), func(ctx context.Context, i int) error {
		return f.search.untilEnd(ctx, func(ctx context.Context) error {
			var err error
			shrunken[i], err = f.shrink(ctx, all[i].best)
			return err
		}, func() { shrunken[i] = all[i].best })
	}, func(i int) { f.search.reportProgress(Shrinking, i+1, len(all), len(all)) })
	if err != nil {
		return nil, err
	}
	merged := dropRedundant(merge(all, shrunken))
	ways := make([]measuredWay, len(merged))
	err = parallel(ctx, f.search.feederCount(), len(merged), func(ctx context.Context, i int) error {
		var err error
		ways[i].ranOn = merged[i].best.ranOn
		ways[i].Way, err = f.makeWay(ctx, merged[i])
		return err
	}, func(i int) { f.search.reportProgress(Measuring, i+1, len(merged), len(merged)) })
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(ways, func(a, b measuredWay) int { return compareWays(a.Way, b.Way) })
	nameFiles(ways)
	return ways, nil
}

// doubtUnlike is the Doubt of a smaller world that shrink must not accept, because it is an
// example of another way to break the lock.
const doubtUnlike = "unlike"

// shrink makes an example as small as possible. It does not change an example in which the
// lock ends the run, because that can cost a process for each world.
func (f *Found) shrink(ctx context.Context, e example) (example, error) {
	if e.damage.endsRun() {
		return e, nil
	}
	runner := f.runnerWithoutPlan()
	// A smaller world that does more damage is an example of another way. If the lock is to
	// blame, a world in which the lock's mistake shows in another step is an example of another
	// way, too.
	stages := e.stages()
	accepted := runs.RunnerFunc(func(ctx context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
		o, err := runner.Run(ctx, w)
		grade := provenDamage(&o).grade()
		if grade&^e.damage.grade() != 0 || grade&gradeLockBlamed != 0 && !isContainedIn(example{record: e.record, world: w}.stages(), stages) {
			o.Off.Doubt = doubtUnlike
		}
		if err != nil || o.Off.Doubt != "" || w.Change.Nodes == e.world.Change.Nodes {
			return o, err
		}
		// With fewer nodes, some of the faults may be enough. Then the world is an example of
		// another way, too.
		for i := range w.Faults {
			part, err := runner.Run(ctx, w.WithFaults(slices.Concat(w.Faults[:i], w.Faults[i+1:])...))
			if err != nil {
				return o, err
			}
			if len(provenDamage(&part)) > 0 {
				o.Off.Doubt = doubtUnlike
			}
		}
		return o, nil
	})
	var err error
	if e.world, err = shrink(ctx, accepted, e.record, e.world, e.damage.core()); err != nil {
		return e, err
	}
	o, err := runner.Run(ctx, e.world)
	e.damage = provenDamage(&o)
	return e, err
}

// merge joins groups whose shrunken examples have the same ID.
func merge(all []*group, shrunken []example) []*group {
	merged := groups{}
	for i, g := range all {
		merged.join(&group{shrunken[i].id(), g.worlds, maps.Clone(g.stages), maps.Clone(g.causes), shrunken[i]})
	}
	return merged.ordered()
}

// dropRedundant leaves out a group if another group has only some of its families of faults
// and does at least the same damage: the other families add nothing. The groups must agree on
// whether a paused process ran on.
func dropRedundant(all []*group) []*group {
	return slices.DeleteFunc(slices.Clone(all), func(g *group) bool {
		e := g.best
		families := e.record.families(e.world)
		return slices.ContainsFunc(all, func(o *group) bool {
			other := o.best
			otherFamilies := other.record.families(other.world)
			return len(otherFamilies) < len(families) && isContainedIn(otherFamilies, families) && other.ranOn == e.ranOn &&
				e.damage.grade()&^other.damage.grade() == 0
		})
	})
}

// makeWay makes a way of a group: it measures how large the faults of the best example have to be,
// and writes the example's scenario file.
func (f *Found) makeWay(ctx context.Context, g *group) (Way, error) {
	e := g.best
	runner := f.runnerWithoutPlan()
	o, err := runner.Run(ctx, e.world)
	if err != nil {
		return Way{}, err
	}
	w := Way{
		ID: g.id, Cause: causeOf(e.record, e.world), Worlds: g.worlds, Example: e.world, Damage: e.damage, Blame: e.damage.blame(),
		Stages: inOrder(g.stages), Off: whatBroke(o.Off), On: whatBroke(o.On),
	}
	for cause, n := range g.causes {
		w.Causes = append(w.Causes, Cause{cause, n})
	}
	slices.SortFunc(w.Causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Worlds, a.Worlds), strings.Compare(a.Faults, b.Faults))
	})
	if e.damage.endsRun() {
		misconduct := misconductOf(o)
		w.Why, w.Stack = misconduct.Why, misconduct.Stack
		return w, nil
	}
	err = f.search.untilEnd(ctx, func(ctx context.Context) error {
		measured, err := margins(ctx, runner, e.record, e.world, e.damage.core())
		w.Margins = measured
		return err
	}, func() { w.Margins = nil })
	if err != nil {
		return w, err
	}
	base := f.search.Bases[e.world.Base]
	if base.Programs != nil { // a file has no programs
		w.Title, w.Story, err = titleAndStory(ctx, f.search.Records, f.records[0].Lock, e.world)
		return w, err
	}
	file, err := scenarioFile(ctx, f.search.Records, base, e.world)
	w.Text, w.Title, w.Story = file.text, file.title, file.story
	return w, err
}

// inOrder lists stages, which are steps of a client, in the order in which a client goes
// through them.
func inOrder(stages map[string]bool) []string {
	var all []string
	for _, step := range append(trace.Steps(), history.Between) {
		if stages[string(step)] {
			all = append(all, string(step))
		}
	}
	return all
}

// misconductOf returns the misconduct of a lock that ended a run; the zero Break if there is
// none.
func misconductOf(o runs.WorldResult) runs.Break {
	for _, b := range slices.Concat(o.Off.Breaks, o.On.Breaks) {
		if b.Why != "" {
			return b
		}
	}
	return runs.Break{}
}

// whatBroke lists what broke in a run, each once.
func whatBroke(r runs.RunResult) []string {
	var all []string
	for _, b := range r.Breaks {
		if !slices.Contains(all, b.What) {
			all = append(all, b.What)
		}
	}
	return all
}

// runnerWithoutPlan returns a runner for worlds that are not in the plan of the search, such
// as those for shrinking. It does not run a world whose result the ledger has.
func (f *Found) runnerWithoutPlan() runs.Runner {
	return runs.RunnerFunc(func(ctx context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
		name := w.Key()
		if o, ok := f.search.Ledger.otherResult(name); ok {
			return o, nil
		}
		o, err := f.search.Runner.Run(ctx, w)
		if err != nil {
			return o, err
		}
		return o, f.search.Ledger.writeEntry(entry{World: name, Outcome: &o})
	})
}

// compareWays orders ways. First come those for which the lock is to blame, then those that
// corrupt data although tokens are checked, then those that corrupt data only if tokens are
// not checked, and then the rest. Among equals, those of fewer faults come first,
// then those of more worlds.
func compareWays(a, b Way) int {
	return cmp.Or(
		cmp.Compare(b.gravity(), a.gravity()),
		cmp.Compare(len(a.Example.Faults), len(b.Example.Faults)),
		cmp.Compare(b.Worlds, a.Worlds),
		strings.Compare(a.ID, b.ID),
	)
}

// gravity returns how bad a way is; a greater number is worse.
func (w Way) gravity() int {
	data := func(property string) bool { return checks.Property(property).IsData() }
	switch {
	case w.Blame == checks.BlameLock:
		return 3
	case slices.ContainsFunc(w.On, data):
		return 2
	case slices.ContainsFunc(w.Off, data):
		return 1
	}
	return 0
}

// nameFiles gives the scenario file of each way a name, which it makes of the way's ID.
func nameFiles(ways []measuredWay) {
	taken := map[string]bool{}
	for i := range ways {
		w := &ways[i].Way
		if w.Text == nil {
			continue
		}
		name := strings.ReplaceAll(w.ID, "/", "-")
		name = strings.ReplaceAll(name, "+", "-and-")
		const longest = 80
		if len(name) > longest {
			name = strings.Trim(name[:longest], "-")
		}
		for taken[name] {
			name += "-2"
		}
		taken[name] = true
		w.File = name + ".yaml"
	}
}
