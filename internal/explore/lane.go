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

// Lanes is the number of lanes. A lane is one of the parallel searches for sets of several
// faults, and a search can be cut into at most this many parts. The number is fixed,
// because the result must not depend on how many machines or processors there are.
const Lanes = 64

// turnWorlds is the number of worlds that a lane runs in one turn. It is small, because a
// turn that has begun is finished even if the time is up.
const turnWorlds = 4

// minKinds is the number of kinds of pairs that a lane needs to have a choice.
const minKinds = 4

// A lane is one search for sets of several faults. Each lane chooses by itself which sets it tries;
// the results of all lanes are put together.
//
// Faults that behave alike are in one class, and two classes make a kind of pair; see classes.go. A
// lane first draws pairs of each of its kinds: one pair, or several if neither fault breaks
// anything alone but together they cost a holder more slots than it can spare. It draws the two
// faults at random. It draws again if it has tried a twin: a pair that becomes the same if nodes
// that are alike swap names. Then it prefers the kinds that have most often broken something or
// shown new behaviours, in relation to their number of trials. A set that breaks nothing and shows
// a new behaviour may be extended by one more fault.
type lane struct {
	found *Found
	// unit is the name of the lane in a ledger, the file with all results of a search. It includes
	// the largest number of faults of the search, because what a lane draws depends on that number.
	unit string
	// budget is how many worlds with several faults the lane may try.
	budget int
	// classes are all classes of single faults, and kinds the kinds of pairs of this lane.
	classes []class
	kinds   []pairKind
	random  *rand.Rand
	// knownBehaviours has the behaviours that the lane has seen; a behaviour is the hash of what
	// happened in a run. triedSets has the sets of faults that the lane has tried. triedTwins has
	// the twinsIDs of the pairs among these sets; twins have the same twinsID.
	knownBehaviours, triedSets, triedTwins *bloom
	// frontier has the promising sets, which may be extended.
	frontier []*promisingSet
	// runCount counts the worlds that the lane has run, and triedCount the new sets of
	// faults that it has tried. Other worlds are run to learn what parts of a set do.
	runCount, triedCount int
	// isFinished means that the budget is used up, or that there is nothing left to try.
	isFinished bool
}

// A promisingSet is a set of faults that broke nothing but led to a new behaviour.
type promisingSet struct {
	world runs.WorldSpec
	// id is a hash of the set of faults.
	id uint64
	// partsGrade is how bad the damage of smaller sets of these faults is, as far as the lane
	// knows.
	partsGrade grade
	// tries counts how often the set was extended, minus the rewards that it got for its
	// extensions.
	tries int
}

// maxFrontier limits the promising sets of a lane, so the memory of a search does not grow
// with its duration.
const maxFrontier = 500

// runLanes tries sets of several faults: it makes the lanes of this shard (the part of the search
// that this process runs), runs them, and adds up the counts.
func (f *Found) runLanes(ctx context.Context) error {
	s := f.search
	classes := f.classes()
	kinds := f.pairKinds(classes)
	known := f.baseBehaviours()
	for _, singles := range f.singles {
		for _, single := range singles {
			if single.outcome != nil {
				known[single.outcome.Off.Behaviour] = true
			}
		}
	}
	for n := 2; n <= s.MaxFaults; n++ {
		f.result.Levels = append(f.result.Levels, Level{Faults: n, Space: f.setCount(n)})
	}
	f.result.Levels[1].Kinds = uint64(len(kinds))
	var all []*lane
	for i := range Lanes {
		if !s.isInShard(i) {
			continue
		}
		l := &lane{
			found: f, unit: laneUnit(s.MaxFaults, i), classes: classes, budget: math.MaxInt,
			random: rand.New(rand.NewPCG(uint64(i), 0x6c6f636b73696d)), knownBehaviours: new(bloom), triedSets: new(bloom), triedTwins: new(bloom),
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
		if len(kinds) < minKinds*Lanes {
			l.kinds = slices.Clone(kinds) // too few kinds for all lanes: each lane gets all of them, and draws other faults
		}
		// If the budget is too small for all kinds that comparePairKinds finds equal, chance
		// decides which of them the lane tries.
		l.random.Shuffle(len(l.kinds), func(a, b int) { l.kinds[a], l.kinds[b] = l.kinds[b], l.kinds[a] })
		slices.SortStableFunc(l.kinds, comparePairKinds)
		for b := range known {
			l.knownBehaviours.add(b)
		}
		l.isFinished = len(l.kinds) == 0 || l.budget == 0
		all = append(all, l)
	}
	behaviours := newCensus()
	for b := range known {
		behaviours.add(b, 1)
	}
	sets := newCensus()
	err := f.takeTurns(ctx, all, behaviours, sets)
	for n := 2; n <= s.MaxFaults; n++ {
		level := &f.result.Levels[n-1]
		level.Behaviours = behaviours.count(n)
		level.Duplicates = level.Tried - min(uint64(sets.count(n)), level.Tried, level.Space)
		level.Estimated = sets.isSample()
	}
	return f.noteInterrupt(ctx, err)
}

// takeTurns runs the lanes in turns of a few worlds, until all lanes are finished,
// the deadline has passed, or ctx is done.
func (f *Found) takeTurns(ctx context.Context, all []*lane, behaviours, sets *census) error {
	s := f.search
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan *lane, len(all))
	for _, l := range all {
		if !l.isFinished {
			queue <- l
		}
	}
	unfinished := len(queue)
	if unfinished == 0 {
		close(queue)
	}
	var mu sync.Mutex
	var work sync.WaitGroup
	isTimeUp := false
	for range s.feederCount() {
		work.Go(func() {
			for l := range queue {
				var trials []trial
				var err error
				if trials, err = l.runTurn(ctx); err != nil {
					cancel(err)
				}
				mu.Lock()
				for _, t := range trials {
					f.addTrial(t, behaviours, sets)
				}
				if !s.Deadline.IsZero() && time.Now().After(s.Deadline) {
					isTimeUp = true
				}
				if err == nil && !l.isFinished && !isTimeUp {
					queue <- l // the queue has room for all lanes
				} else if unfinished--; unfinished == 0 {
					close(queue)
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	triedKinds := map[[2]int]bool{}
	for _, l := range all {
		for _, k := range l.kinds {
			if k.tried > 0 {
				triedKinds[[2]int{k.a, k.b}] = true
			}
		}
	}
	f.result.Levels[1].KindsTried = uint64(len(triedKinds))
	if err := context.Cause(ctx); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// A trial is the result of one world that a lane has run.
type trial struct {
	world   runs.WorldSpec
	outcome runs.WorldResult
	// id is a hash of the set of the world's faults.
	id uint64
	// partsGrade is how bad the damage of smaller sets of these faults is.
	partsGrade grade
	// isPart means that the world was run only to learn what a part of a larger set does.
	isPart bool
}

// addTrial adds a trial of a lane to the result of the search.
func (f *Found) addTrial(t trial, behaviours, sets *census) {
	f.result.Worlds++
	defer func() { f.search.reportProgress(SeveralFaults, f.result.Worlds, f.total(), len(f.groups)) }()
	if t.isPart {
		f.result.Parts++
		return
	}
	sets.add(t.id, len(t.world.Faults))
	f.search.notifyWatch(t.world, t.outcome)
	level := &f.result.Levels[len(t.world.Faults)-1]
	behaviours.add(t.outcome.Off.Behaviour, len(t.world.Faults))
	if level.count(&t.outcome, t.partsGrade) {
		f.reportFirst(t.world)
		f.groups.add(f.records[t.world.Base], t.world, t.outcome)
	}
}

// total returns how many worlds the search will run; 0 if that is unknown.
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

// setCount returns the number of sets of n single faults, whether or not they are tried.
func (f *Found) setCount(n int) uint64 {
	var all uint64
	for _, singles := range f.listedCounts {
		sets := 1.0
		for i := range n {
			sets = sets * float64(singles-i) / float64(i+1)
		}
		all += uint64(math.Round(sets))
	}
	return all
}

// runTurn runs the next few worlds of the lane.
func (l *lane) runTurn(ctx context.Context) (trials []trial, err error) {
	for range turnWorlds {
		if l.isFinished {
			return trials, nil
		}
		more, err := l.runNext(ctx)
		trials = append(trials, more...)
		if err != nil {
			return trials, err
		}
	}
	return trials, nil
}

// runNext tries one more set of faults. If a set of three or more shows new damage, it also runs
// the sets that lack one of these faults, to see whether one of them shows the same damage.
func (l *lane) runNext(ctx context.Context) ([]trial, error) {
	kind, set := l.draw()
	if kind == nil {
		l.isFinished = true
		return nil, nil
	}
	l.triedCount++
	l.isFinished = l.triedCount >= l.budget
	o, err := l.run(ctx, set.world)
	if err != nil {
		return nil, err
	}
	t := trial{world: set.world, id: set.id, outcome: o, partsGrade: set.partsGrade}
	damage := provenDamage(&o).grade()
	var trials []trial
	if len(set.world.Faults) > 2 && damage&^t.partsGrade != 0 {
		if trials, err = l.runParts(ctx, set.world); err != nil {
			return nil, err
		}
		for _, p := range trials {
			t.partsGrade |= provenDamage(&p.outcome).grade()
		}
	}
	trials = append(trials, t)
	if damage&^t.partsGrade != 0 {
		kind.reward() // a set that breaks the lock makes its source worth more trials
	}
	if b := o.Off.Behaviour; !l.knownBehaviours.has(b) && o.Off.Doubt == "" {
		kind.reward()
		l.knownBehaviours.add(b)
		if damage == 0 && len(set.world.Faults) < l.found.search.MaxFaults && len(l.frontier) < maxFrontier {
			l.frontier = append(l.frontier, &promisingSet{world: set.world, partsGrade: set.partsGrade})
		}
	}
	return trials, nil
}

// run runs a world as the lane's next step.
func (l *lane) run(ctx context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
	l.runCount++
	return l.found.search.run(ctx, l.unit, l.runCount-1, w)
}

// runParts runs all worlds that lack one of the world's faults.
func (l *lane) runParts(ctx context.Context, w runs.WorldSpec) ([]trial, error) {
	var trials []trial
	for i := range w.Faults {
		smaller := w.WithFaults(slices.Concat(w.Faults[:i], w.Faults[i+1:])...)
		o, err := l.run(ctx, smaller)
		if err != nil {
			return nil, err
		}
		trials = append(trials, trial{world: smaller, outcome: o, isPart: true})
	}
	return trials, nil
}

// A source is what a set of faults was drawn from: a kind of pair, or a promising set that
// was extended. A source that is rewarded is used again sooner. It is rewarded if the set
// showed something new.
type source interface{ reward() }

// reward counts one more reward, which makes the kind likelier to be drawn again.
func (k *pairKind) reward() { k.rewards++ }

// reward makes up for one try, so the set is extended again sooner.
func (p *promisingSet) reward() { p.tries-- }

// maxDraws is how often a lane draws again if the drawn faults cannot be combined, or if it
// has already tried the set.
const maxDraws = 200

// maxPassedTwins is how often a lane draws another pair because it has tried a twin of the drawn
// one. After that number of draws, the lane tries a twin.
const maxPassedTwins = 20

// setID returns a hash of the world's set of faults. It does not depend on their order.
func setID(w runs.WorldSpec) uint64 {
	words := make([]string, len(w.Faults))
	for i, f := range w.Faults {
		words[i] = runs.WorldSpec{Base: w.Base, Faults: []runs.Fault{f}}.Key()
	}
	slices.Sort(words) // their order makes no difference
	w.Faults = nil
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q", w.Key(), words)
	return h.Sum64()
}

// addNew adds a set to those that the lane has tried. It returns false if the lane had
// tried the set before.
func (l *lane) addNew(id uint64) bool {
	if l.triedSets.has(id) {
		return false
	}
	l.triedSets.add(id)
	return true
}

// draw chooses the next set to try, and returns the source of the set. Every second set extends a
// promising set, if there are any. draw returns a nil source if it finds no new set.
func (l *lane) draw() (source, promisingSet) {
	if len(l.frontier) > 0 && l.triedCount%2 == 1 {
		p := slices.MinFunc(l.frontier, func(a, b *promisingSet) int { return a.tries - b.tries })
		p.tries++
		for range maxDraws {
			c := l.classes[l.random.IntN(len(l.classes))]
			if c.base != p.world.Base {
				continue
			}
			i := c.members[l.random.IntN(len(c.members))]
			single := l.found.singles[c.base][i]
			w, ok := p.world.WithFaultsOf(single.world)
			if !ok {
				continue
			}
			if id := setID(w); l.addNew(id) {
				return p, promisingSet{world: w, id: id, partsGrade: p.partsGrade | single.grade}
			}
		}
	}
	passed := 0
	for draws := 0; draws < maxDraws+passed; draws++ {
		k := l.nextKind()
		k.drawn++
		a, b := l.drawPair(k)
		w, ok := a.world.WithFaultsOf(b.world)
		if !ok {
			continue
		}
		r := l.found.records[w.Base]
		twins := r.twinsID(w)
		if passed < maxPassedTwins && l.triedTwins.has(twins) {
			passed++
			continue
		}
		if id := setID(w); l.addNew(id) {
			l.triedTwins.add(twins)
			k.tried++
			return k, promisingSet{world: w, id: id, partsGrade: r.grade() | a.grade | b.grade}
		}
	}
	return nil, promisingSet{}
}

// drawPair draws a pair of faults of one kind. If the kind has classic pairs (see classic.go),
// every second pair is one of them.
func (l *lane) drawPair(k *pairKind) (a, b singleFault) {
	members := [2][]int{l.classes[k.a].members, l.classes[k.b].members}
	if k.classics > 0 && k.drawn%2 == 1 {
		members = k.classic
	}
	singles := l.found.singles[l.classes[k.a].base]
	draw := func(members []int) singleFault { return singles[members[l.random.IntN(len(members))]] }
	return draw(members[0]), draw(members[1])
}

// minNearMissPairs is how many pairs are drawn at least of a kind whose two faults break nothing
// alone, but together cost a holder more slots than it can spare. Such a kind may do harm only with
// the right nodes at the right time.
const minNearMissPairs = 12

// nextKind returns the kind of pair to try next: the first that was not drawn often enough. If
// there is none, it returns the kind with the most rewards for its trials.
func (l *lane) nextKind() *pairKind {
	best := &l.kinds[0]
	for i := range l.kinds {
		k := &l.kinds[i]
		if k.drawn == 0 || k.exceedsSpare && k.breaking == 0 && k.drawn < minNearMissPairs {
			return k
		}
		// This compares (1 + 4 rewards) / drawn without a division.
		if (1+4*k.rewards)*best.drawn > (1+4*best.rewards)*k.drawn {
			best = k
		}
	}
	return best
}
