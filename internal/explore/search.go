// Package explore searches for the faults that break a lock.
//
// A [Search] starts from a workload without faults, a [Base], and records at which points a
// fault can strike. It tries every single fault at each of these points, then sets of
// several faults. It sorts the worlds that broke by their cause. For each cause it makes a
// world as small as possible, measures how large the faults have to be, and writes a
// scenario file: see [Found.Result].
//
// The card of a kind of fault says where the search tries it and in which sizes: see
// [sim.FaultKind]. Tables of this package say, for each effect of a fault, what the search does
// with the fault.
//
// Package runs describes worlds and runs them.
package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
)

// A Search looks for every way to break a lock.
//
// It runs every single fault of every base, then sets of several faults within a budget. Its
// result depends neither on the machine nor on how many worlds run at the same time, because
// the sets are drawn in a fixed number of lanes. Each lane is a search of its own, whose worlds
// are run one after the other. At the end the results of the lanes are put together. A search
// can be cut into shards, and each shard has some of the lanes.
type Search struct {
	Bases []Base
	// MaxFaults is the largest number of faults in a world, from 1 to [FaultLimit].
	MaxFaults int
	// Worlds is the number of worlds with several faults to try. 0 is as many as there is
	// time for.
	Worlds int
	// Kinds are the kinds of faults to try.
	Kinds Kinds
	// Quick limits the search to the best known causes, alone and in pairs. No danger map
	// is drawn then.
	Quick bool
	// Shard is the number of the part that this search does, from 1, and Shards the number
	// of parts. Both are 0 for a whole search.
	Shard, Shards int
	// Jobs is how many worlds the runner can run at the same time.
	Jobs int

	// Runner runs the worlds.
	Runner runs.Runner
	// Records makes the records of the bases, and reports what happened in single worlds.
	Records interface {
		Record(ctx context.Context, base int) (*Record, error)
		reportSource
	}
	// Ledger has the results of an earlier search, and writes down new ones; nil is none.
	Ledger *Ledger
	// Progress, if not nil, is called after every world that was run. It may be called from
	// several goroutines.
	Progress func(Progress)
	// OnFirst, if not nil, is called once, with the first world in which anything broke and
	// the number of worlds that had been tried by then.
	OnFirst func(w runs.WorldSpec, tried int)
	// Watch, if not nil, is called with the result of every base and of every world that
	// the search plans, one at a time. It should be fast: while it runs, little else is
	// run.
	Watch func(runs.WorldSpec, runs.WorldResult)
	// Deadline, if not zero, is when the search stops trying sets of several faults.
	Deadline time.Time
	// End, if not zero, is the latest time at which the search runs worlds. The Deadline then holds
	// for single faults, too. A broken world that has not been made as small as possible when the
	// End comes is reported as it was found. Sizes that have not been measured by then are left
	// out. A search with an End needs a Deadline, too.
	End time.Time
}

// FaultLimit is the largest number of faults that a world of a search can have.
const FaultLimit = 4

// Progress is how far a search has come.
type Progress struct {
	// Phase is the part of the search that is running.
	Phase Phase
	// Done and Total count worlds; Total is 0 if it is unknown.
	Done, Total int
	// Causes is the number of different causes of damage that were seen so far.
	Causes int
}

// A Phase is a part of a search.
type Phase string

// The phases, in their order. SeveralFaults ends at the [Search]'s Deadline.
const (
	SingleFaults   Phase = "single-faults"
	SeveralFaults  Phase = "several-faults"
	Shrinking      Phase = "shrinking"
	Measuring      Phase = "measuring"
	DrawingTheMaps Phase = "danger-map"
)

// A Found holds the results of a search's worlds. [Found.Result] derives from them the ways to
// break the lock.
type Found struct {
	search  *Search
	records []*Record
	singles [][]singleFault // has a list for each base
	// listedCounts has the number of single faults of each base, tried or not.
	listedCounts  []int
	groups        groups
	firstReported bool // OnFirst has been called
	// result has the counts of the worlds that were tried so far.
	result Result
}

// Worlds returns how many worlds were tried, and how many of them were run. Each of the others
// repeats a world that was run.
func (f *Found) Worlds() (tried, run int) {
	return f.result.Worlds, f.result.RunCount()
}

// Stopped says why the search ended early; "" if it did not.
func (f *Found) Stopped() string { return f.result.Stopped }

// A singleFault is a world with one fault, and its result.
type singleFault struct {
	world   runs.WorldSpec
	outcome *runs.WorldResult // equal results are stored once; nil if the world was not tried
	grade   grade
	// repeats means that the world was not run: its result follows from those of others.
	repeats bool
}

// Find runs the worlds of the search. It returns an error if a base cannot be run. If ctx
// is done, the search ends early, which is not an error.
func (s *Search) Find(ctx context.Context) (*Found, error) {
	f := &Found{search: s, groups: groups{}}
	if err := f.record(ctx); err != nil {
		return nil, err
	}
	singlesCtx := ctx
	if !s.End.IsZero() {
		limited, cancel := context.WithDeadline(ctx, s.Deadline)
		defer cancel()
		singlesCtx = limited
	}
	if err := f.runSingles(singlesCtx); err != nil {
		return nil, err
	}
	if s.MaxFaults > 1 && f.result.Stopped == "" {
		if err := f.runLanes(ctx); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// record runs every base without faults, and lists its single faults.
func (f *Found) record(ctx context.Context) error {
	for i, b := range f.search.Bases {
		r, err := f.search.Records.Record(ctx, i)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		f.records = append(f.records, r)
		f.singles = append(f.singles, nil)
		f.listedCounts = append(f.listedCounts, 0)
		f.search.notifyWatch(runs.WorldSpec{Base: i}, r.Outcome)
		if !r.CanExplore() {
			continue
		}
		f.groups.add(r, runs.WorldSpec{Base: i}, r.Outcome)
		for _, w := range r.Singles(f.search.Kinds, b.Kinds) {
			f.listedCounts[i]++
			if !f.search.Quick || r.isQuick(w) {
				f.singles[i] = append(f.singles[i], singleFault{world: w})
			}
		}
	}
	for i, r := range f.records {
		if r.CanExplore() && (f.search.Kinds.IsZero() || len(f.singles[i]) > 0) {
			return nil
		}
	}
	if slices.ContainsFunc(f.records, (*Record).CanExplore) {
		return fmt.Errorf("%s: there is nothing to try: no fault of these kinds can strike here: %s", f.records[0].Name, f.search.Kinds)
	}
	return fmt.Errorf("%s: the run without faults is inconclusive, so no search can begin: %s", f.records[0].Name, f.records[0].Outcome.Off.Doubt)
}

// leap is the distance between two places that are tried one directly after the other.
const leap = 16

// A place groups the single faults of a base that have the same kind, strike the same
// processes, and strike at the same moment. Places decide only the order in which faults are
// tried, and which worlds need not be run: a world can repeat only another one of the same
// place.
type place struct {
	base int
	// members has the indices of the faults among the base's single faults. first is the
	// number of single faults of all earlier bases.
	members []int
	first   int
	// n is the number of the place among all places. earlierTwins is the number of its twins (see
	// twins.go) that are tried before it. Both are the same in every shard.
	n, earlierTwins int
}

// places lists the places of this shard in the order in which they are tried. The classic causes
// (see classic.go) come first. Then comes the first of each set of twins, then the second of each,
// and so on.
func (f *Found) places() (all []place) {
	first := 0
	for base, singles := range f.singles {
		for _, members := range groupByMoment(singles) {
			all = append(all, place{base: base, members: members, first: first, n: len(all)})
		}
		first += len(singles)
	}
	rank := func(p place) int {
		if f.records[p.base].isClassic(f.singles[p.base][p.members[0]].world.Faults[0]) {
			return 0
		}
		return 1
	}
	// Neighbouring places usually behave alike. So the search first tries places that are leap
	// apart, which soon shows how most places behave.
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Or(rank(a)-rank(b), a.n%leap-b.n%leap) })
	f.countTwins(all)
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Or(rank(a)-rank(b), a.earlierTwins-b.earlierTwins) })
	// A shard that tries pairs runs all single faults, because the choice of pairs depends
	// on all of them.
	if f.search.MaxFaults == 1 {
		all = slices.DeleteFunc(all, func(p place) bool { return !f.search.isInShard(p.n) })
	}
	return all
}

// runSingles tries every single fault.
func (f *Found) runSingles(ctx context.Context) error {
	s := f.search
	places := f.places()
	level := Level{Faults: 1, Space: f.setCount(1)}
	total := 0
	for _, p := range places {
		total += len(p.members)
	}
	outcomes := newInterner()
	behaviours := f.baseBehaviours()
	err := parallel(ctx, s.feederCount(), len(places), func(ctx context.Context, k int) error {
		return f.runPlace(ctx, places[k], outcomes)
	}, func(k int) {
		r := f.records[places[k].base]
		for _, i := range places[k].members {
			single := &f.singles[r.Base][i]
			single.grade = provenDamage(single.outcome).grade()
			f.result.Worlds++
			s.notifyWatch(single.world, *single.outcome)
			if single.repeats {
				level.Repeats++
			}
			if level.count(single.outcome, r.grade()) {
				if f.result.First == 0 {
					f.result.First = f.result.Worlds
				}
				f.reportFirst(single.world)
				f.groups.add(r, single.world, *single.outcome)
			}
			if !behaviours[single.outcome.Off.Behaviour] {
				behaviours[single.outcome.Off.Behaviour] = true
				level.Behaviours++
			}
			s.reportProgress(SingleFaults, f.result.Worlds, total, len(f.groups))
		}
	})
	f.result.Levels = append(f.result.Levels, level)
	return f.noteInterrupt(ctx, err)
}

// reportFirst calls OnFirst with the first world in which anything broke.
func (f *Found) reportFirst(w runs.WorldSpec) {
	if f.search.OnFirst != nil && !f.firstReported {
		f.firstReported = true
		f.search.OnFirst(w, f.result.Worlds)
	}
}

// runPlace finds the results of all worlds of a place. It does not run those that only
// repeat another one.
func (f *Found) runPlace(ctx context.Context, p place, outcomes *interner) error {
	var ran []triedWorld
	for _, i := range p.members {
		single := &f.singles[p.base][i]
		o, err := f.runSingle(ctx, p, i, ran)
		if err != nil {
			return err
		}
		if !single.repeats {
			ran = addTried(ran, single.world, o)
		}
		single.outcome = outcomes.intern(o)
	}
	return nil
}

// runSingle returns the result of one of the worlds of a place. It runs the world, unless
// the ledger has the result or the world repeats one of ran.
func (f *Found) runSingle(ctx context.Context, p place, i int, ran []triedWorld) (runs.WorldResult, error) {
	s, single := f.search, &f.singles[p.base][i]
	o, repeats, known := s.Ledger.singleResult(p.first + i)
	if known {
		single.repeats = repeats
		return o, nil
	}
	if s.Ledger.isComplete() {
		return o, &Missing{Unit: singlesUnit, Index: p.first + i, place: p.n}
	}
	if o, single.repeats = f.records[p.base].findRepeated(single.world, ran); !single.repeats {
		var err error
		if o, err = s.Runner.Run(ctx, single.world); err != nil {
			return o, err
		}
	}
	return o, s.Ledger.writeSingle(p.first+i, o, single.repeats)
}

// baseBehaviours returns the behaviours of the bases' runs without faults.
func (f *Found) baseBehaviours() map[uint64]bool {
	known := map[uint64]bool{}
	for _, r := range f.records {
		known[r.Outcome.Off.Behaviour] = true
	}
	return known
}

// count adds a world to the level. partsGrade is the grade of the damage that smaller sets of
// its faults do. count reports whether the grade of the world's damage has a bit that
// partsGrade lacks.
func (l *Level) count(o *runs.WorldResult, partsGrade grade) bool {
	l.Tried++
	damage := provenDamage(o)
	if len(damage) == 0 && (o.Off.Doubt != "" || o.On.Doubt != "") {
		l.Doubtful++
	}
	if !o.RanOn() && !l.Damage.Includes(damage) {
		l.Damage = append(l.Damage, damage...).sorted()
	}
	if damage.grade()&^partsGrade == 0 {
		return false
	}
	l.Broke++
	if len(o.On.Breaks) > 0 {
		l.BrokeFenced++
	}
	return true
}

// grade returns the grade of the base without faults.
func (r *Record) grade() grade { return provenDamage(&r.Outcome).grade() }

// provenDamage returns the damage that a world proves. An inconclusive run proves only
// misconduct, such as a panic. If either run has misconduct, provenDamage returns the damage of
// both runs.
func provenDamage(o *runs.WorldResult) Damage {
	if o.HasMisconduct() {
		return allDamage(*o)
	}
	if o.Off.Doubt != "" {
		return nil
	}
	if o.On.Doubt != "" {
		return allDamage(runs.WorldResult{Off: o.Off})
	}
	return allDamage(*o)
}

// untilEnd calls f with a context that ends at the search's End. If f had to stop for that
// reason, untilEnd calls undo, which must take back the unfinished work of f. Then untilEnd
// returns nil.
func (s *Search) untilEnd(ctx context.Context, f func(context.Context) error, undo func()) error {
	if s.End.IsZero() {
		return f(ctx)
	}
	limited, cancel := context.WithDeadline(ctx, s.End)
	defer cancel()
	err := f(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		undo()
		return nil
	}
	return err
}

// noteInterrupt records that the search was ended early, if ctx is done. Otherwise it
// returns err.
func (f *Found) noteInterrupt(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f.result.Stopped = story.TimeIsUp
		return nil
	}
	if ctx.Err() != nil {
		f.result.Stopped = story.Interrupted
		return nil
	}
	return err
}

// isInShard reports whether the nth part of the work, a place or a lane, belongs to this
// shard.
func (s *Search) isInShard(n int) bool { return s.Shards == 0 || n%s.Shards == s.Shard-1 }

// run returns the result of world i of a unit of the ledger. It runs the world, unless the
// ledger has the result.
func (s *Search) run(ctx context.Context, unit string, i int, w runs.WorldSpec) (runs.WorldResult, error) {
	if o, ok := s.Ledger.plannedResult(unit, i); ok {
		return o, nil
	}
	if s.Ledger.isComplete() {
		return runs.WorldResult{}, &Missing{Unit: unit, Index: i}
	}
	o, err := s.Runner.Run(ctx, w)
	if err != nil {
		return o, err
	}
	return o, s.Ledger.writeEntry(entry{Unit: unit, Index: i, Outcome: &o})
}

// reportProgress calls Progress, if it is set.
func (s *Search) reportProgress(phase Phase, done, total, causes int) {
	if s.Progress != nil {
		s.Progress(Progress{phase, done, total, causes})
	}
}

// notifyWatch calls Watch, if it is set.
func (s *Search) notifyWatch(w runs.WorldSpec, o runs.WorldResult) {
	if s.Watch != nil {
		s.Watch(w, o)
	}
}

// feederCount returns how many goroutines pass worlds to the runner. There are so many that
// the runner never waits for the next world.
func (s *Search) feederCount() int { return (1 + runs.MaxPrefetch) * max(s.Jobs, 1) }

// parallel calls work for each of n indices, at most limit at the same time. It calls done
// for each index, one at a time and in the order of the indices. At the first error, in
// that order, it stops and returns the error.
func parallel(ctx context.Context, limit, n int, work func(ctx context.Context, i int) error, done func(i int)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The number of calls of work that are ahead of done is limited, so that results do not
	// pile up.
	results := make(chan chan error, 8*limit)
	type task struct {
		i      int
		result chan error
	}
	tasks := make(chan task)
	for range limit {
		go func() {
			for t := range tasks {
				t.result <- work(ctx, t.i)
			}
		}()
	}
	go func() {
		defer close(results)
		defer close(tasks)
		for i := range n {
			result := make(chan error, 1)
			select {
			case tasks <- task{i, result}:
				results <- result
			case <-ctx.Done():
				return
			}
		}
	}()
	i := 0
	var firstErr error
	for result := range results {
		switch err := <-result; {
		case firstErr != nil:
		case err != nil:
			firstErr = err
			cancel()
		default:
			done(i)
			i++
		}
	}
	return firstErr
}
