package suites

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/scenarios"
)

// Findings are the rules that a lock violates, by the test case of package locktest that
// shows it.
type Findings map[string][]string

// Merge returns the findings of f and others. If both have findings for the same test case, it
// takes the findings of others.
func (f Findings) Merge(others Findings) Findings {
	both := maps.Clone(f)
	maps.Copy(both, others)
	return both
}

// OutsideCatalogue reports whether a test case is not a scenario of the catalogue, and so
// applies to any lock.
func OutsideCatalogue(testCase string) bool { return !strings.HasPrefix(testCase, "catalogue/") }

// IsGeneral reports whether a test case matters for any lock. A scenario about a bug of one
// library, or about the locks of one system, does not matter for other locks: its result with
// another lock means nothing.
func IsGeneral(testCase string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(testCase, "catalogue/"), "/")
	return OutsideCatalogue(testCase) || !specificScenarios()[name]
}

// specificScenarios returns the names of the scenarios in the groups about one library or
// one system.
var specificScenarios = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, shelf := range scenarios.Catalogue() {
		isItsSystem := func(name string) bool { k, _ := locks.Lookup(name); return k.System == shelf.Name }
		if shelf.Name != "libraries" && !slices.ContainsFunc(locks.Names(), isItsSystem) {
			continue
		}
		for _, s := range shelf.Scenarios {
			names[s.Name] = true
		}
	}
	return names
})

// CheckFindings runs the test cases that config selects against a lock, and fails the test
// unless the violations that they find are exactly the known ones. For a slow lock it stops
// as soon as all known findings have been found. kind can also name features to turn off:
// "etcd without release-check".
func CheckFindings(t *testing.T, kind string, config locktest.Config, known Findings, slow bool) {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs every test case")
	}
	kind, removed, _ := strings.Cut(kind, " without ")
	k := simtest.Lock(t, kind)
	if err := k.Check(locks.Options{Without: strings.Fields(removed)}); err != nil {
		t.Fatal(err)
	}
	build := func(env *locktest.Env) (locks.Lock, error) {
		base := env.Base()
		base.Options.Without = slices.Concat(base.Options.Without, strings.Fields(removed))
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
			found[f.TestCase] = append(found[f.TestCase], p.Rule)
			if !slices.Contains(known[f.TestCase], p.Rule) {
				t.Errorf("%s: %s: %s\nreplay: %s", f.TestCase, p.Rule, p.Why, p.Command)
			}
		}
		if slow && len(found) == len(known) {
			break
		}
	}
	if os.Getenv("LOCKSIM_REPLAY") != "" {
		return // only one world was run, which says nothing about the others
	}
	for story, rules := range known {
		for _, rule := range rules {
			if !slices.Contains(found[story], rule) {
				t.Errorf("%s does not show %s any more; if the library has a fix, mention it in the scenarios about the bug", story, rule)
			}
		}
	}
}
