package etcd_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// What the suite finds wrong with the library's locks without being told: by story, the
// rules that fail. All of it are these four.
//
//   - A release that fails leaves the key, and the session lives on: nobody else gets the
//     lock as long as the process lives, and if it asks again itself it has it, with the
//     same token. Whoever uses it has to end the session then.
//   - Who asks with the session that has the lock has it.
//   - The loss is told up to a second after the lease is over, which ends with the TTL after
//     a keep-alive was sent and not after its answer came.
//   - Nobody looks whether the session still lives when the answer comes late by which one
//     has the lock: what it gets is over. Who is told of that at once, and stops, has got
//     nothing done.
var (
	findings = map[string][]string{
		"silence/work":           {"section-exclusion"},
		"late-request/meanwhile": {"section-exclusion"},
		"late-reply/meanwhile":   {"section-exclusion"},
		"late/acquire":           {"section-exclusion", "progress"},
		"pause/meanwhile":        {"section-exclusion"},
		"pause/work":             {"section-exclusion"},
	}
	ofWaiting = map[string][]string{
		"contexts/cancelled-before": {"progress"},
		"errors/acquire":            {"progress"},
		"errors/meanwhile":          {"progress"},
		"errors/release":            {"progress", "token-order"},
		"handles":                   {"lease-exclusion", "section-exclusion", "token-order", "progress"},
		"late-reply/acquire":        {"section-exclusion"},
		"lost-request/release":      {"progress", "token-order"},
		"node-down/release":         {"progress", "token-order"},
	}
	ofTrying = map[string][]string{
		"errors/meanwhile":     {"progress"},
		"errors/release":       {"progress", "token-order"},
		"handles":              {"lease-exclusion", "section-exclusion", "token-order"},
		"late-reply/acquire":   {"progress"},
		"late-reply/release":   {"progress"},
		"late-reply/meanwhile": {"section-exclusion", "progress"},
		"lost-request/release": {"progress", "token-order"},
		"node-down/release":    {"progress", "token-order"},
		"silence/meanwhile":    {"section-exclusion"},
	}
	ofElections = map[string][]string{
		"pause/acquire":        {"section-exclusion"},
		"late-request/acquire": {"section-exclusion"},
		"late-reply/release":   {"progress"},
		"late-reply/meanwhile": {"section-exclusion", "progress"},
	}
)

// The suite finds in the current release what is known of it, and nothing else.
func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("it tells every story")
	}
	for name, finds := range map[string][]map[string][]string{
		"etcd":          {findings, ofWaiting},
		"etcd-trylock":  {findings, ofTrying},
		"etcd-election": {findings, ofWaiting, ofElections},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string][]string{}
			for _, f := range finds {
				maps.Copy(want, f)
			}
			k := kind(t, name)
			found := map[string][]string{}
			config := locktest.Config{System: locks.Etcd, Notifies: true, Tokens: true}
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
