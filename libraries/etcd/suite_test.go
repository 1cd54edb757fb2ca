package etcd_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// What the suite finds wrong with the library's locks without being told: by story, the
// rules that fail. All of it are these five.
//
//   - A release that fails leaves the key, and the session lives on: nobody else gets the
//     lock as long as the process lives, and if it asks again itself it has it, with the
//     same token. Whoever uses it has to end the session then.
//   - Who asks with the session that has the lock has it.
//   - A mutex that is unlocked again deletes the key of its session's name, also if that has
//     got the lock anew in between. Who resigns from an election asks whose it is.
//   - The loss is told up to a second after the lease is over, which ends with the TTL after
//     a keep-alive was sent and not after its answer came.
//   - Nobody looks whether the session still lives when the answer comes late by which one
//     has the lock: what it gets is over. Who is told of that at once, and stops, has got
//     nothing done.
var (
	findings = roof.Findings{
		"silence/work":           {"section-exclusion"},
		"silence/meanwhile":      {"section-exclusion"},
		"late-request/meanwhile": {"section-exclusion"},
		"late/acquire":           {"section-exclusion", "progress"},
		"pause/acquire":          {"section-exclusion"},
		"pause/work":             {"section-exclusion"},
	}
	ofWaiting = roof.Findings{
		"contexts/cancelled-before": {"progress"},
		"errors/acquire":            {"progress"},
		"errors/meanwhile":          {"progress"},
		"errors/release":            {"progress", "token-order"},
		"handles":                   {"lease-exclusion", "section-exclusion", "token-order", "progress"},
		"late-reply/acquire":        {"section-exclusion"},
		"lost-request/release":      {"progress", "token-order"},
		"node-down/release":         {"progress", "token-order"},
	}
	ofTrying = roof.Findings{
		"errors/meanwhile":     {"progress", "token-order"},
		"errors/release":       {"progress", "token-order"},
		"handles":              {"lease-exclusion", "section-exclusion", "token-order"},
		"late-reply/acquire":   {"section-exclusion"},
		"lost-request/release": {"progress", "token-order"},
		"node-down/release":    {"progress", "token-order"},
		"silence/acquire":      {"section-exclusion"},
	}
	ofMutexes = roof.Findings{
		"release-again": {"lease-exclusion", "section-exclusion", "release-ownership"},
	}
	ofElections = roof.Findings{
		"late-request/acquire": {"section-exclusion"},
		"late-reply/release":   {"progress"},
	}
)

// The suite finds in the current release what is known of it, and nothing else. The stories
// of the catalogue are told on three members, in ./libraries.
func TestSuite(t *testing.T) {
	config := locktest.Config{System: locks.Etcd, Notifies: true, Tokens: true, Stories: roof.OwnStories}
	for name, finds := range map[string]roof.Findings{
		"etcd":          findings.And(ofWaiting).And(ofMutexes),
		"etcd-trylock":  findings.And(ofTrying).And(ofMutexes),
		"etcd-election": findings.And(ofWaiting).And(ofElections),
	} {
		t.Run(name, func(t *testing.T) {
			roof.Finds(t, name, config, finds, false)
		})
	}
}
