package explore

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
)

// groups are the broken worlds, grouped by the way in which they break. The key is the ID
// of that way. A report shows the worlds with one ID as one way.
type groups map[string]*group

// A group is the broken worlds that have the same ID. The families of their faults (see family.go)
// are the same, the blame is the same, and fencing tokens protect the data in all of them or in
// none.
type group struct {
	// id is the ID, and worlds the number of worlds. stages are the steps of a client that
	// their faults strike.
	id     string
	worlds int
	stages map[string]bool
	// causes maps faults, in words, to the number of worlds with these faults.
	causes map[string]int
	// best is the example to show: the worst one, and among the worst the simplest.
	best example
}

// An example is a broken world, with what broke in it.
type example struct {
	// record is what the run of the world's base showed. ranOn means that a process did something
	// while it was paused.
	record *Record
	world  runs.WorldSpec
	damage Damage
	ranOn  bool
}

// add adds a world to its group, if anything broke in it.
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

// join adds all worlds of a group to the group with the same ID.
func (g groups) join(more *group) {
	existing, ok := g[more.id]
	if !ok {
		g[more.id] = more
		return
	}
	existing.worlds += more.worlds
	maps.Copy(existing.stages, more.stages)
	for cause, n := range more.causes {
		existing.causes[cause] += n
	}
	if compareExamples(more.best, existing.best) < 0 {
		existing.best = more.best
	}
}

// ordered returns the groups, sorted by ID.
func (g groups) ordered() []*group {
	var all []*group
	for _, id := range slices.Sorted(maps.Keys(g)) {
		all = append(all, g[id])
	}
	return all
}

// id returns the ID of the way to break the lock that the example shows. It has the families of the
// faults and the blame for the damage. If the lock is to blame, it also has the stages of a
// client's work that the faults strike. It says if data are corrupted despite fencing tokens, and
// if a process ran on while it was paused.
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

// blameSlugs has the part of an ID for each kind of blame.
var blameSlugs = map[checks.BlameKind]string{
	checks.KindLock: "lock", checks.KindInherent: "inherent-needs-fencing", checks.KindAssumption: "assumption",
}

// stages returns the steps of a client that the faults of an example strike, sorted.
func (e example) stages() []string {
	var all []string
	for _, f := range e.world.Faults {
		all = append(all, string(e.record.stageOf(f)))
	}
	slices.Sort(all)
	return all
}

// compareExamples orders examples: the worst first, and among equally bad ones the
// simplest. The order does not depend on which example was found first.
func compareExamples(a, b example) int {
	return cmp.Or(
		cmp.Compare(b.damage.severity(), a.damage.severity()),
		compareSimplicity(a.world, b.world),
		strings.Compare(a.world.Key(), b.world.Key()),
	)
}
