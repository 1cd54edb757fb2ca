// Package explore finds out by itself which faults break a lock.
//
// It starts from a workload without faults, a [Base], and records at which points a
// fault can strike. A [Search] tries every single fault at each of them, then sets of
// several. What broke it sorts by cause, shrinks, measures and writes as scenario
// files: see [Found.Result]. Where and in which sizes a kind of fault is tried its card
// says (see [sim.FaultKind]); what is done about it follows from its effect, by tables
// of this package.
//
// Package runs describes worlds and runs them.
package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
)

// A Search looks for every way to break a lock.
//
// It runs every single fault of every base, then sets of several faults within a
// budget. What it finds does not depend on how many worlds run at once: the sets are
// drawn in lanes, each a search of its own whose worlds come one after the other, and
// the lanes are put together in the end. Nor does it depend on where: a shard is some
// of the lanes.
type Search struct {
	Bases []Base
	// MaxFaults is how many faults a world has at most, from 1 to [MostFaults].
	MaxFaults int
	// Worlds is how many worlds with several faults are tried; 0 is as many as there is
	// time for.
	Worlds int
	// Kinds are the kinds of faults that are tried.
	Kinds Kinds
	// Quick says that only the classic causes are tried, alone and in pairs, and no danger
	// map is drawn.
	Quick bool
	// Shard, from 1, is the part that this search does, of Shards; 0 of 0 is all of it.
	Shard, Shards int
	// Jobs is how many worlds the runner can run at once.
	Jobs int

	Runner runs.Runner
	// Records makes the records of the bases, and says what happened in a world.
	Records interface {
		Record(ctx context.Context, base int) (*Record, error)
		accountant
	}
	// Ledger has what was run before, and takes down what is run now; nil is none.
	Ledger *Ledger
	// Progress, if set, is told of every world that was run. It may be called from
	// several goroutines.
	Progress func(Progress)
	// First, if set, is told of the first world in which anything broke, and how many were
	// tried by then.
	First func(w runs.World, tried int)
	// Watch, if set, is shown what every base and every world of the plan came to, one at
	// a time. Until it returns, little else is run.
	Watch func(runs.World, runs.Outcome)
	// Deadline, if not zero, is when no more sets of several faults are tried.
	Deadline time.Time
}

// MostFaults is how many faults a world of a search can have.
const MostFaults = 4

// A Progress is how far a search has come.
type Progress struct {
	// Phase is what it is doing.
	Phase Phase
	// Done and Total count worlds; Total is 0 if that is not known.
	Done, Total int
	// Causes is how many different causes were seen so far.
	Causes int
}

// A Phase is what a search is doing.
type Phase string

// The phases, in their order. SeveralFaults ends at the [Search]'s Deadline.
const (
	SingleFaults   Phase = "single-faults"
	SeveralFaults  Phase = "several-faults"
	Shrinking      Phase = "shrinking"
	Measuring      Phase = "measuring"
	DrawingTheMaps Phase = "danger-map"
)

// A Found is what a search has found before the ways are made of it.
type Found struct {
	search  *Search
	records []*Record
	singles [][]single // by base
	// listed is how many single faults there are, tried or not, by base.
	listed []int
	groups groups
	told   bool // the first world in which anything broke was told
	// result has what is counted.
	result Result
}

// Worlds is how many worlds were tried, and how many of these were run.
func (f *Found) Worlds() (tried, run int) {
	return f.result.Worlds, f.result.Run()
}

// Stopped says why the search ended before its time; "" if it did not.
func (f *Found) Stopped() string { return f.result.Stopped }

// A single is what came of one fault.
type single struct {
	world   runs.World
	outcome *runs.Outcome // shared between all that are equal; nil if it was not run
	grade   grade
	// repeats says that what came of it follows from others that were run.
	repeats bool
}

// Find runs the worlds of the search. An error means that a base cannot be run; a
// search that ctx ends is none.
func (s *Search) Find(ctx context.Context) (*Found, error) {
	f := &Found{search: s, groups: groups{}}
	if err := f.record(ctx); err != nil {
		return nil, err
	}
	if err := f.runSingles(ctx); err != nil {
		return nil, err
	}
	if s.MaxFaults > 1 && f.result.Stopped == "" {
		if err := f.runLanes(ctx); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// record runs every base without faults.
func (f *Found) record(ctx context.Context) error {
	for i, b := range f.search.Bases {
		r, err := f.search.Records.Record(ctx, i)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		f.records = append(f.records, r)
		f.singles = append(f.singles, nil)
		f.listed = append(f.listed, 0)
		f.search.watch(runs.World{Base: i}, r.Outcome)
		if !r.TookPlace() {
			continue
		}
		f.groups.add(r, runs.World{Base: i}, r.Outcome)
		for _, w := range r.Singles(f.search.Kinds, b.Kinds) {
			f.listed[i]++
			if !f.search.Quick || r.quick(w) {
				f.singles[i] = append(f.singles[i], single{world: w})
			}
		}
	}
	for i, r := range f.records {
		if r.TookPlace() && (f.search.Kinds.IsZero() || len(f.singles[i]) > 0) {
			return nil
		}
	}
	if slices.ContainsFunc(f.records, (*Record).TookPlace) {
		return fmt.Errorf("%s: there is nothing to try: no fault of these kinds can strike in it: %s", f.records[0].Name, f.search.Kinds)
	}
	return fmt.Errorf("%s: without any fault the run proves nothing: %s", f.records[0].Name, f.records[0].Outcome.Off.Doubt)
}

// leap is how many spots are skipped, to be tried later.
const leap = 16

// A place is single faults that strike the same at the same moment of a base. Places only
// schedule: of the worlds of one, those that repeat others are not run.
type place struct {
	base int
	// spot has their places among the base's singles, and first is how many singles the
	// bases before have.
	spot  []int
	first int
	// n is its own place among all spots, which is the same in every shard.
	n int
}

// places lists where single faults of the shard strike, in the order in which they are
// tried.
func (f *Found) places() (all []place) {
	n, before := 0, 0
	for base, singles := range f.singles {
		for _, spot := range spotsOf(singles) {
			// Which pairs are worth trying follows from all single faults, so a shard that
			// tries pairs runs them all.
			if f.search.MaxFaults > 1 || f.search.mine(n) {
				all = append(all, place{base, spot, before, n})
			}
			n++
		}
		before += len(singles)
	}
	late := func(p place) int {
		if f.records[p.base].classic(f.singles[p.base][p.spot[0]].world.Faults[0]) {
			return 0
		}
		return 1
	}
	// Neighbours behave alike as a rule: in leaps, what many of them do is seen soon.
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Or(late(a)-late(b), a.n%leap-b.n%leap) })
	return all
}

// runSingles tries every single fault.
func (f *Found) runSingles(ctx context.Context) error {
	s := f.search
	places := f.places()
	level := Level{Faults: 1, Space: f.space(1)}
	total := 0
	for _, p := range places {
		total += len(p.spot)
	}
	outcomes := newInterner()
	behaviours := f.known()
	err := parallel(ctx, s.hands(), len(places), func(ctx context.Context, k int) error {
		return f.runSpot(ctx, places[k], outcomes)
	}, func(k int) {
		r := f.records[places[k].base]
		for _, i := range places[k].spot {
			one := &f.singles[r.Base][i]
			one.grade = effectOf(one.outcome).grade()
			f.result.Worlds++
			s.watch(one.world, *one.outcome)
			if one.repeats {
				level.Repeats++
			}
			if level.count(one.outcome, r.grade()) {
				if f.result.First == 0 {
					f.result.First = f.result.Worlds
				}
				f.tellFirst(one.world)
				f.groups.add(r, one.world, *one.outcome)
			}
			if !behaviours[one.outcome.Off.Behaviour] {
				behaviours[one.outcome.Off.Behaviour] = true
				level.Behaviours++
			}
			s.tell(SingleFaults, f.result.Worlds, total, len(f.groups))
		}
	})
	f.result.Levels = append(f.result.Levels, level)
	return f.halted(ctx, err)
}

// tellFirst tells of the first world in which anything broke.
func (f *Found) tellFirst(w runs.World) {
	if f.search.First != nil && !f.told {
		f.told = true
		f.search.First(w, f.result.Worlds)
	}
}

// runSpot runs the worlds of a place, but for those that only repeat what another of them
// has shown.
func (f *Found) runSpot(ctx context.Context, p place, outcomes *interner) error {
	var ran []tried
	for _, i := range p.spot {
		one := &f.singles[p.base][i]
		o, err := f.runSingle(ctx, p, i, ran)
		if err != nil {
			return err
		}
		if !one.repeats {
			ran = with(ran, one.world, o)
		}
		one.outcome = outcomes.intern(o)
	}
	return nil
}

// runSingle runs one of the worlds of a place, unless the ledger has it, or it repeats
// others.
func (f *Found) runSingle(ctx context.Context, p place, i int, ran []tried) (runs.Outcome, error) {
	s, one := f.search, &f.singles[p.base][i]
	o, repeats, known := s.Ledger.pastSingle(p.first + i)
	if known {
		one.repeats = repeats
		return o, nil
	}
	if s.Ledger.complete() {
		return o, &Missing{Unit: singlesUnit, Index: p.first + i, spot: p.n}
	}
	if o, one.repeats = f.records[p.base].repeats(one.world, ran); !one.repeats {
		var err error
		if o, err = s.Runner.Run(ctx, one.world); err != nil {
			return o, err
		}
	}
	return o, s.Ledger.keepSingle(p.first+i, o, one.repeats)
}

// known are the behaviours without any fault.
func (f *Found) known() map[uint64]bool {
	known := map[uint64]bool{}
	for _, r := range f.records {
		known[r.Outcome.Off.Behaviour] = true
	}
	return known
}

// count takes in a world, and says whether it broke something that the smaller parts of
// it, which are known to be so bad, did not.
func (l *Level) count(o *runs.Outcome, parts grade) bool {
	l.Tried++
	effect := effectOf(o)
	if len(effect) == 0 && (o.Off.Doubt != "" || o.On.Doubt != "") {
		l.Doubtful++
	}
	if !o.RanOn() && !l.Effect.Includes(effect) {
		l.Effect = append(l.Effect, effect...).ordered()
	}
	if effect.grade()&^parts == 0 {
		return false
	}
	l.Broke++
	if len(o.On.Breaks) > 0 {
		l.BrokeFenced++
	}
	return true
}

// grade is how bad the base is without any fault.
func (r *Record) grade() grade { return effectOf(&r.Outcome).grade() }

// effectOf is the effect of a world that proves something: of one in doubt only what
// the lock must not do whatever happens.
func effectOf(o *runs.Outcome) Effect {
	if o.Misconduct() {
		return wholeEffect(*o)
	}
	if o.Off.Doubt != "" {
		return nil
	}
	if o.On.Doubt != "" {
		return wholeEffect(runs.Outcome{Off: o.Off})
	}
	return wholeEffect(*o)
}

// halted notes that the search was ended before its time.
func (f *Found) halted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		f.result.Stopped = story.Interrupted
		return nil
	}
	return err
}

// mine says whether the nth part of the work belongs to the shard.
func (s *Search) mine(n int) bool { return s.Shards == 0 || n%s.Shards == s.Shard-1 }

// run runs a world that has a place in the plan, unless the ledger has it.
func (s *Search) run(ctx context.Context, unit string, i int, w runs.World) (runs.Outcome, error) {
	if o, ok := s.Ledger.past(unit, i); ok {
		return o, nil
	}
	if s.Ledger.complete() {
		return runs.Outcome{}, &Missing{Unit: unit, Index: i}
	}
	o, err := s.Runner.Run(ctx, w)
	if err != nil {
		return o, err
	}
	return o, s.Ledger.keep(entry{Unit: unit, Index: i, Outcome: &o})
}

func (s *Search) tell(phase Phase, done, total, causes int) {
	if s.Progress != nil {
		s.Progress(Progress{phase, done, total, causes})
	}
}

func (s *Search) watch(w runs.World, o runs.Outcome) {
	if s.Watch != nil {
		s.Watch(w, o)
	}
}

// hands is how many goroutines hand worlds to the runner: so many that it never waits
// for the next.
func (s *Search) hands() int { return (1 + runs.Ahead) * max(s.Jobs, 1) }

// parallel does n things, as many at once as there are hands, and then calls done for
// each of them in their order, one at a time. It ends with the first error, in that
// order.
func parallel(ctx context.Context, hands, n int, do func(ctx context.Context, i int) error, done func(i int)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// No more is begun than a bounded number ahead of what is done, so that nothing
	// piles up.
	begun := make(chan chan error, 8*hands)
	type thing struct {
		i    int
		over chan error
	}
	things := make(chan thing)
	for range hands {
		go func() {
			for t := range things {
				t.over <- do(ctx, t.i)
			}
		}()
	}
	go func() {
		defer close(begun)
		defer close(things)
		for i := range n {
			over := make(chan error, 1)
			select {
			case things <- thing{i, over}:
				begun <- over
			case <-ctx.Done():
				return
			}
		}
	}()
	i := 0
	var failed error
	for over := range begun {
		switch err := <-over; {
		case failed != nil:
		case err != nil:
			failed = err
			cancel()
		default:
			done(i)
			i++
		}
	}
	return failed
}
