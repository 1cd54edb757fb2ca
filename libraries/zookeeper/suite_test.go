package zookeeper_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	. "github.com/locksim/locksim/sim/simtest"
)

// What the suite finds wrong with the recipes without being told: by story, the rules that
// fail. All of it are these three.
//
//   - The loss is told when the client has a connection again. With one server it waits for a
//     second first.
//   - A node whose deletion fails stands as long as its session lives, which is as long as the
//     process: whoever uses the library's lock has to ask again.
//   - So does the node of an attempt that fails after it was made: the library does not
//     delete it (go-zookeeper's pull request 237, open as of v1.0.4).
//
// Ours asks again, and has only the first; and as it looks only once at a node that it has
// made, what it gets may be over when an answer comes late. Who is told so at once, and stops,
// has got nothing done.
var (
	findings = map[string][]string{
		"pause/work":   {"section-exclusion"},
		"silence/work": {"section-exclusion"},
	}
	ofTheLibrary = map[string][]string{
		"errors/release":       {"progress"},
		"late-request/release": {"progress"},
		"lost-request/release": {"progress"},
		"node-down/acquire":    {"progress"},
		"node-down/release":    {"progress"},
	}
	ofOurs = map[string][]string{
		"late/acquire":  {"section-exclusion", "progress"},
		"pause/acquire": {"section-exclusion"},
	}
)

// The suite finds in the current release what is known of it, and nothing else.
func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("it tells every story")
	}
	for name, finds := range map[string]map[string][]string{
		"zookeeper": ofTheLibrary, "zookeeper-sequence": ofTheLibrary, "zookeeper-naive": ofOurs,
	} {
		t.Run(name, func(t *testing.T) {
			want := maps.Clone(findings)
			maps.Copy(want, finds)
			k := Lock(t, name)
			found := map[string][]string{}
			config := locktest.Config{System: locks.ZooKeeper, Notifies: true, Tokens: true}
			for f := range locktest.Survey(t, config, func(env *locktest.Env) (locks.Lock, error) { return k.New(env.Base()) }) {
				if strings.HasPrefix(f.Story, "catalogue/") {
					continue // which says itself what comes of it
				}
				for _, p := range f.Problems {
					found[f.Story] = append(found[f.Story], p.Rule)
					if !slices.Contains(want[f.Story], p.Rule) {
						t.Errorf("%s: %s: %s\nreplay: %s", f.Story, p.Rule, p.Why, p.Command)
					}
				}
			}
			for story, rules := range want {
				for _, rule := range rules {
					if !slices.Contains(found[story], rule) {
						t.Errorf("%s does not show %s any more: if the library has a fix, say so", story, rule)
					}
				}
			}
		})
	}
}
