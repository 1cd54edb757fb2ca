package explore

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/locksim/locksim/internal/runs"
)

// Lanes is how many searches for sets of several faults there are side by side, and so
// into how many parts a search can be cut. It is fixed: what is found must not depend
// on how many machines or processors there are.
const Lanes = 64

// quantum is how many worlds of a lane are run before it is the next one's turn: few, for
// what has begun is finished when the time is over.
const quantum = 4

// fewKinds is how many kinds of pairs a lane needs to choose from.
const fewKinds = 4

// A lane is one search for sets of several faults. Lanes only schedule: what they find is
// put together.
//
// It takes its share of the kinds of pairs, each once at first, or a few times if it
// costs a holder more than it can spare, with members drawn at random. Then it goes on
// with those that have broken something or shown new behaviours most often for their
// trials. A set that behaves as none before, and breaks nothing, may be extended
// by one more fault.
type lane struct {
	found *Found
	// unit names it in a ledger. What it draws depends on how many faults there may be.
	unit string
	// budget is how many worlds with several faults it may try.
	budget  int
	classes []class
	kinds   []pairKind
	random  *rand.Rand
	// seen has the behaviours that it knows, and drawn the sets that it has tried.
	seen, drawn *bloom
	frontier    []*promising
	// step is how many worlds it has run, and tried how many of these were new sets.
	step, tried int
	over        bool
}

// A promising set is one that behaved as none before.
type promising struct {
	world runs.World
	// id stands for the set of its faults.
	id uint64
	// parts are how bad the smaller sets are, as far as that is known.
	parts grade
	tried int
}

// mostFrontier bounds what a lane keeps in mind: a search takes no more memory the longer
// it goes on.
const mostFrontier = 500

// runLanes tries sets of several faults.
func (f *Found) runLanes(ctx context.Context) error {
	s := f.search
	classes := f.classes()
	kinds := f.pairKinds(classes)
	known := f.known()
	for _, singles := range f.singles {
		for _, one := range singles {
			if one.outcome != nil {
				known[one.outcome.Off.Behaviour] = true
			}
		}
	}
	for n := 2; n <= s.MaxFaults; n++ {
		f.result.Levels = append(f.result.Levels, Level{Faults: n, Space: f.space(n)})
	}
	f.result.Levels[1].Kinds = uint64(len(kinds))
	var all []*lane
	for i := range Lanes {
		if !s.mine(i) {
			continue
		}
		l := &lane{
			found: f, unit: laneUnit(s.MaxFaults, i), classes: classes, budget: math.MaxInt,
			random: rand.New(rand.NewPCG(uint64(i), 0x6c6f636b73696d)), seen: new(bloom), drawn: new(bloom),
		}
		if s.Worlds > 0 {
			l.budget = s.Worlds / Lanes
			if i < s.Worlds%Lanes {
				l.budget++
			}
		}
		for k := i; k < len(kinds); k += Lanes {
			l.kinds = append(l.kinds, kinds[k])
		}
		if len(kinds) < fewKinds*Lanes {
			l.kinds = slices.Clone(kinds) // the lanes differ in what they draw
		}
		// Otherwise it is left to chance which kinds a small budget leaves out.
		l.random.Shuffle(len(l.kinds), func(a, b int) { l.kinds[a], l.kinds[b] = l.kinds[b], l.kinds[a] })
		slices.SortStableFunc(l.kinds, comparePairKinds)
		for b := range known {
			l.seen.add(b)
		}
		l.over = len(l.kinds) == 0 || l.budget == 0
		all = append(all, l)
	}
	behaviours := newCensus()
	for b := range known {
		behaviours.see(b, 1)
	}
	sets := newCensus()
	err := f.takeTurns(ctx, all, behaviours, sets)
	for n := 2; n <= s.MaxFaults; n++ {
		level := &f.result.Levels[n-1]
		level.Behaviours = behaviours.count(n)
		level.Again = level.Tried - min(uint64(sets.count(n)), level.Tried, level.Space)
		level.Estimated = sets.isSample()
	}
	return f.halted(ctx, err)
}

// takeTurns runs the lanes, a few worlds of each at a time, until all are over, the time
// is, or ctx is done.
func (f *Found) takeTurns(ctx context.Context, all []*lane, behaviours, sets *census) error {
	s := f.search
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan *lane, len(all))
	for _, l := range all {
		if !l.over {
			queue <- l
		}
	}
	left := len(queue)
	if left == 0 {
		close(queue)
	}
	var mu sync.Mutex
	var work sync.WaitGroup
	late := false
	for range s.hands() {
		work.Go(func() {
			for l := range queue {
				var trials []trial
				var err error
				if trials, err = l.turn(ctx); err != nil {
					cancel(err)
				}
				mu.Lock()
				for _, t := range trials {
					f.take(t, behaviours, sets)
				}
				if !s.Deadline.IsZero() && time.Now().After(s.Deadline) {
					late = true
				}
				if err == nil && !l.over && !late {
					queue <- l // there is room for all
				} else if left--; left == 0 {
					close(queue)
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	tried := map[[2]int]bool{}
	for _, l := range all {
		for _, k := range l.kinds {
			if k.tried > 0 {
				tried[[2]int{k.a, k.b}] = true
			}
		}
	}
	f.result.Levels[1].KindsTried = uint64(len(tried))
	if err := context.Cause(ctx); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// A trial is what a lane found out with one world.
type trial struct {
	world   runs.World
	outcome runs.Outcome
	// id stands for the set of its faults.
	id uint64
	// parts are how bad smaller sets of the faults are.
	parts grade
	// part says that the world was only run to know what a smaller set does.
	part bool
}

// take adds what a lane has found out.
func (f *Found) take(t trial, behaviours, sets *census) {
	f.result.Worlds++
	defer func() { f.search.tell(SeveralFaults, f.result.Worlds, f.total(), len(f.groups)) }()
	if t.part {
		f.result.Parts++
		return
	}
	sets.see(t.id, len(t.world.Faults))
	f.search.watch(t.world, t.outcome)
	level := &f.result.Levels[len(t.world.Faults)-1]
	behaviours.see(t.outcome.Off.Behaviour, len(t.world.Faults))
	if level.count(&t.outcome, t.parts) {
		f.tellFirst(t.world)
		f.groups.add(f.records[t.world.Base], t.world, t.outcome)
	}
}

// total is how many worlds the search is going to run, as far as that is known.
func (f *Found) total() int {
	if f.search.Worlds == 0 {
		return 0
	}
	n := f.search.Worlds
	if f.search.Shards > 0 {
		n /= f.search.Shards
	}
	return int(f.result.Levels[0].Tried) + n
}

// space is how many sets of n faults there are.
func (f *Found) space(n int) uint64 {
	var all uint64
	for _, singles := range f.listed {
		sets := 1.0
		for i := range n {
			sets = sets * float64(singles-i) / float64(i+1)
		}
		all += uint64(math.Round(sets))
	}
	return all
}

// turn runs the next few worlds.
func (l *lane) turn(ctx context.Context) (trials []trial, err error) {
	for range quantum {
		if l.over {
			return trials, nil
		}
		more, err := l.next(ctx)
		trials = append(trials, more...)
		if err != nil {
			return trials, err
		}
	}
	return trials, nil
}

// next tries one more set.
func (l *lane) next(ctx context.Context) ([]trial, error) {
	kind, base := l.draw()
	if kind == nil {
		l.over = true
		return nil, nil
	}
	l.tried++
	l.over = l.tried >= l.budget
	o, err := l.run(ctx, base.world)
	if err != nil {
		return nil, err
	}
	t := trial{world: base.world, id: base.id, outcome: o, parts: base.parts}
	bad := effectOf(&o).grade()
	var trials []trial
	if len(base.world.Faults) > 2 && bad&^t.parts != 0 {
		if trials, err = l.parts(ctx, base.world); err != nil {
			return nil, err
		}
		for _, p := range trials {
			t.parts |= effectOf(&p.outcome).grade()
		}
	}
	trials = append(trials, t)
	if bad&^t.parts != 0 {
		kind.reward() // what breaks the lock is worth more examples
	}
	if b := o.Off.Behaviour; !l.seen.has(b) && o.Off.Doubt == "" {
		kind.reward()
		l.seen.add(b)
		if bad == 0 && len(base.world.Faults) < l.found.search.MaxFaults && len(l.frontier) < mostFrontier {
			l.frontier = append(l.frontier, &promising{world: base.world, parts: base.parts})
		}
	}
	return trials, nil
}

// run runs the lane's next world.
func (l *lane) run(ctx context.Context, w runs.World) (runs.Outcome, error) {
	l.step++
	return l.found.search.run(ctx, l.unit, l.step-1, w)
}

// parts runs the sets that lack one of the world's faults.
func (l *lane) parts(ctx context.Context, w runs.World) ([]trial, error) {
	var trials []trial
	for i := range w.Faults {
		less := w.With(slices.Concat(w.Faults[:i], w.Faults[i+1:])...)
		o, err := l.run(ctx, less)
		if err != nil {
			return nil, err
		}
		trials = append(trials, trial{world: less, outcome: o, part: true})
	}
	return trials, nil
}

// A source is where a set came from, and learns if it was worth it.
type source interface{ reward() }

func (k *pairKind) reward()  { k.rewards++ }
func (p *promising) reward() { p.tried-- }

// attempts is how often a set is drawn again if its faults do not go together, or it
// was tried before.
const attempts = 200

// idOf stands for the world's set of faults.
func idOf(w runs.World) uint64 {
	words := make([]string, len(w.Faults))
	for i, f := range w.Faults {
		words[i] = runs.World{Base: w.Base, Faults: []runs.Fault{f}}.Key()
	}
	slices.Sort(words) // in which order they are listed is all the same
	w.Faults = nil
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q", w.Key(), words)
	return h.Sum64()
}

// fresh says whether a set is new to the lane, and remembers it.
func (l *lane) fresh(id uint64) bool {
	if l.drawn.has(id) {
		return false
	}
	l.drawn.add(id)
	return true
}

// draw chooses the next set. Every other one extends one that was promising, if there
// are any.
func (l *lane) draw() (source, promising) {
	if len(l.frontier) > 0 && l.tried%2 == 1 {
		p := slices.MinFunc(l.frontier, func(a, b *promising) int { return a.tried - b.tried })
		p.tried++
		for range attempts {
			c := l.classes[l.random.IntN(len(l.classes))]
			if c.base != p.world.Base {
				continue
			}
			i := c.members[l.random.IntN(len(c.members))]
			one := l.found.singles[c.base][i]
			w, ok := p.world.And(one.world)
			if !ok {
				continue
			}
			if id := idOf(w); l.fresh(id) {
				return p, promising{world: w, id: id, parts: p.parts | one.grade}
			}
		}
	}
	for range attempts {
		k := l.kind()
		k.drawn++
		a, b := l.pair(k)
		w, ok := a.world.And(b.world)
		if !ok {
			continue
		}
		if id := idOf(w); l.fresh(id) {
			k.tried++
			return k, promising{world: w, id: id, parts: l.found.records[w.Base].grade() | a.grade | b.grade}
		}
	}
	return nil, promising{}
}

// pair draws a pair of a kind. If there are classic ones every other is one of these.
func (l *lane) pair(k *pairKind) (a, b single) {
	members := [2][]int{l.classes[k.a].members, l.classes[k.b].members}
	if k.classics > 0 && k.drawn%2 == 1 {
		members = k.classic
	}
	singles := l.found.singles[l.classes[k.a].base]
	draw := func(members []int) single { return singles[members[l.random.IntN(len(members))]] }
	return draw(members[0]), draw(members[1])
}

// nearMisses is how many pairs are tried at least of a kind that costs a holder more than
// it can spare: it may take the right nodes at the right time for that to do harm.
const nearMisses = 12

// kind is the kind of pair to try next: the first that was not tried, and else the one
// that has shown most for its trials.
func (l *lane) kind() *pairKind {
	best := &l.kinds[0]
	for i := range l.kinds {
		k := &l.kinds[i]
		if k.drawn == 0 || k.enough && k.breaking == 0 && k.drawn < nearMisses {
			return k
		}
		// (1 + 4 rewards) / drawn, without a division.
		if (1+4*k.rewards)*best.drawn > (1+4*best.rewards)*k.drawn {
			best = k
		}
	}
	return best
}
