package explore

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/locksim/locksim/checks"
)

// Groups are broken worlds, sorted by their cause.
type groups struct {
	mu  sync.Mutex
	all map[string]*group
}

// A group is broken worlds with one cause: faults of the same families, the same that
// is at fault, and data that fencing tokens protect or do not.
type group struct {
	id     string
	worlds int
	stages []string
	// causes are the faults in words, and how many of the worlds had these.
	causes map[string]int
	// best are examples, the simplest of the worst first.
	best []example
}

// An example is a broken world.
type example struct {
	record *Record
	world  World
	effect Effect
	ranOn  bool
}

func newGroups() *groups { return &groups{all: map[string]*group{}} }

func (g *groups) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.all)
}

// add takes in a broken world.
func (g *groups) add(r *Record, w World, o Outcome) {
	e := example{r, w, effectOf(&o), o.RanOn()}
	if len(e.effect) == 0 {
		return
	}
	id := e.id()
	_, cause := causeOf(r, w)
	g.mu.Lock()
	defer g.mu.Unlock()
	one, ok := g.all[id]
	if !ok {
		one = &group{id: id, causes: map[string]int{}}
		g.all[id] = one
	}
	one.worlds++
	one.causes[strings.Join(cause, " and ")]++
	for _, stage := range e.stages() {
		if !slices.Contains(one.stages, stage) {
			one.stages = append(one.stages, stage)
		}
	}
	one.best = append(one.best, e)
	slices.SortStableFunc(one.best, compareExamples)
	if len(one.best) > keptExamples {
		one.best = one.best[:keptExamples]
	}
}

// keptExamples is how many examples of a group are kept.
const keptExamples = 3

// id is the ID of the way that a world is an example of: the families of its faults,
// whose fault the effect is, if it is the lock's then the stages at which they strike,
// and whether data are corrupted despite fencing tokens.
func (e example) id() string {
	var words []string
	for _, f := range e.record.families(e.world) {
		words = append(words, string(f))
	}
	id := cmp.Or(strings.Join(words, "+"), "no-fault")
	if whose := e.effect.fault(); !whose.IsZero() {
		id += "/" + blameSlugs[whose.Whose]
		for _, a := range whose.Broken() {
			id += "-" + strings.ReplaceAll(string(a), " ", "-")
		}
	}
	if e.effect.grade()&blames != 0 {
		// Different mistakes of a lock show in different steps.
		id += "/" + strings.ReplaceAll(strings.Join(e.stages(), "+"), " ", "-")
	}
	if e.effect.grade()&corrupts != 0 {
		id += "/despite-fencing"
	}
	if e.ranOn {
		id += "/ran-on"
	}
	return id
}

var blameSlugs = map[checks.Whose]string{
	checks.ByLock: "lock", checks.ByNature: "inherent-needs-fencing", checks.ByAssumption: "assumption",
}

// stages are those that the faults of an example strike.
func (e example) stages() []string {
	var all []string
	for _, f := range e.world.Faults {
		all = append(all, string(e.record.stageOf(f)))
	}
	slices.Sort(all)
	return all
}

// compareExamples orders examples: the worst first, and of those that are equally bad
// the simplest, and else in some order that does not depend on which was found first.
func compareExamples(a, b example) int {
	return cmp.Or(
		cmp.Compare(b.effect.severity(), a.effect.severity()),
		rank(a.world, b.world),
		strings.Compare(key(a.world), key(b.world)),
	)
}
