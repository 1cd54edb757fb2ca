package roof

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locksim/locksim/internal/testkit/floor"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/scenarios"
)

// Findings are the rules that a lock fails, by story.
type Findings map[string][]string

// And is these findings and those; of a story that both name, what those say.
func (f Findings) And(those Findings) Findings {
	both := maps.Clone(f)
	maps.Copy(both, those)
	return both
}

// OwnStories are those that are told to every lock without a word about any.
func OwnStories(story string) bool { return !strings.HasPrefix(story, "catalogue/") }

// NobodysStories are those and the ones of the catalogue that are not about what was found in
// one library, or about the locks of one system: what these come to with others nobody asks.
func NobodysStories(story string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(story, "catalogue/"), "/")
	return OwnStories(story) || !somebodys()[name]
}

// somebodys are the scenarios of the groups that are about one library or one system.
var somebodys = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, shelf := range scenarios.Catalogue() {
		isItsSystem := func(name string) bool { k, _ := locks.Lookup(name); return k.System == shelf.Group }
		if shelf.Group != "libraries" && !slices.ContainsFunc(locks.Names(), isItsSystem) {
			continue
		}
		for _, s := range shelf.Scenarios {
			names[s.Name] = true
		}
	}
	return names
})

// Finds tells a lock the stories that config names, and fails the test unless the suite finds
// in it what is known, and nothing else. A lock that is slow is told no more of them when all
// that is known has been found. A kind can be one that some features are taken from: "etcd
// without release-check".
func Finds(t *testing.T, kind string, config locktest.Config, known Findings, slow bool) {
	t.Helper()
	if testing.Short() {
		t.Skip("it tells every story")
	}
	kind, without, _ := strings.Cut(kind, " without ")
	k := floor.Lock(t, kind)
	if err := k.Check(locks.Options{Without: strings.Fields(without)}); err != nil {
		t.Fatal(err)
	}
	build := func(env *locktest.Env) (locks.Lock, error) {
		base := env.Base()
		base.Options.Without = slices.Concat(base.Options.Without, strings.Fields(without))
		return k.New(base)
	}
	config.Slots = k.Slots
	found := Findings{}
	for f := range locktest.Survey(t, config, build) {
		f.Attr(t)
		if f.Failed == 0 {
			continue
		}
		for _, p := range f.Problems {
			found[f.Story] = append(found[f.Story], p.Rule)
			if !slices.Contains(known[f.Story], p.Rule) {
				t.Errorf("%s: %s: %s\nreplay: %s", f.Story, p.Rule, p.Why, p.Command)
			}
		}
		if slow && len(found) == len(known) {
			break
		}
	}
	if os.Getenv("LOCKSIM_REPLAY") != "" {
		return // of one world nothing follows for the others
	}
	for story, rules := range known {
		for _, rule := range rules {
			if !slices.Contains(found[story], rule) {
				t.Errorf("%s does not show %s any more: if the library has a fix, say so in the scenarios that tell of it", story, rule)
			}
		}
	}
}
