package explore

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
)

// Groups are broken worlds by their cause, which is the ID of a way: worlds that a report
// shows as alike. The only other notion of likeness is the behaviour of a run.
type groups map[string]*group

// A group is broken worlds with one cause: their faults have the same families, the blame
// is the same, and fencing tokens protect the data in all of them or in none.
type group struct {
	id     string
	worlds int
	stages map[string]bool
	// causes maps the faults in words to the number of worlds with these faults.
	causes map[string]int
	// best is the simplest of the worst examples.
	best example
}

// An example is a broken world.
type example struct {
	record *Record
	world  runs.WorldSpec
	damage Damage
	ranOn  bool
}

// add adds a world, if it is broken.
func (g groups) add(r *Record, w runs.WorldSpec, o runs.WorldResult) {
	e := example{r, w, provenDamage(&o), o.RanOn()}
	if len(e.damage) == 0 {
		return
	}
	stages := map[string]bool{}
	for _, stage := range e.stages() {
		stages[stage] = true
	}
	g.join(&group{id: e.id(), worlds: 1, stages: stages, causes: map[string]int{strings.Join(causeOf(r, w), " and "): 1}, best: e})
}

// join adds the worlds of a group to the group with the same ID.
func (g groups) join(more *group) {
	one, ok := g[more.id]
	if !ok {
		g[more.id] = more
		return
	}
	one.worlds += more.worlds
	maps.Copy(one.stages, more.stages)
	for cause, n := range more.causes {
		one.causes[cause] += n
	}
	if compareExamples(more.best, one.best) < 0 {
		one.best = more.best
	}
}

// ordered lists the groups, sorted by ID.
func (g groups) ordered() []*group {
	var all []*group
	for _, id := range slices.Sorted(maps.Keys(g)) {
		all = append(all, g[id])
	}
	return all
}

// id returns the ID of the way that a world is an example of. It consists of the families
// of the faults, the blame for the damage, the stages that the faults strike if the lock is
// to blame, and whether data are corrupted despite fencing tokens.
func (e example) id() string {
	var words []string
	for _, f := range e.record.families(e.world) {
		words = append(words, string(f))
	}
	id := cmp.Or(strings.Join(words, "+"), "no-fault")
	if blame := e.damage.blame(); !blame.IsZero() {
		id += "/" + blameSlugs[blame.Kind]
		for _, a := range blame.Broken() {
			id += "-" + strings.ReplaceAll(string(a), " ", "-")
		}
	}
	if e.damage.grade()&gradeLockBlamed != 0 {
		// Different mistakes of a lock show in different steps.
		id += "/" + strings.ReplaceAll(strings.Join(e.stages(), "+"), " ", "-")
	}
	if e.damage.grade()&gradeCorrupted != 0 {
		id += "/despite-fencing"
	}
	if e.ranOn {
		id += "/ran-on"
	}
	return id
}

var blameSlugs = map[checks.BlameKind]string{
	checks.KindLock: "lock", checks.KindInherent: "inherent-needs-fencing", checks.KindAssumption: "assumption",
}

// stages returns the stages that the faults of an example strike, sorted.
func (e example) stages() []string {
	var all []string
	for _, f := range e.world.Faults {
		all = append(all, string(e.record.stageOf(f)))
	}
	slices.Sort(all)
	return all
}

// compareExamples orders examples: the worst first, and among equally bad ones the
// simplest. The order does not depend on which was found first.
func compareExamples(a, b example) int {
	return cmp.Or(
		cmp.Compare(b.damage.severity(), a.damage.severity()),
		compareSimplicity(a.world, b.world),
		strings.Compare(a.world.Key(), b.world.Key()),
	)
}
