package libraries_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trace"
)

// The libraries for Redis, and those on clusters of three members, unmodified, and what the
// suite finds wrong with them without being told; the others are put through it in their own
// modules: by story, the rules that fail. The scenarios of the group "libraries" tell
// of these findings one by one, and docs/libraries.md has a table of them.
var subjects = []struct {
	kind   string
	config locktest.Config
	finds  roof.Findings
	// slow is a lock that tries many times in each call: of its stories only those
	// are told that finds knows, and those before them.
	slow bool
}{
	// Once in each call redsync is sound, but for what two or three troubles at once
	// do to it.
	{kind: "redsync", config: locktest.Config{Nodes: 5, Extends: true}, finds: roof.Findings{
		// Its clean-up runs under the caller's context.
		"contexts/ended-meanwhile": {"key left behind"},
	}},
	// A late clean-up deletes what a later try of the same call has set.
	{kind: "redsync-retrying", config: locktest.Config{Nodes: 5, Extends: true}, slow: true, finds: roof.Findings{
		"contexts/ended-meanwhile":      {"key left behind"},
		"late-request/acquire":          {"release-ownership"},
		"late-request/acquire/majority": {"release-ownership"},
	}},
	{kind: "redsync-defaults", config: locktest.Config{Nodes: 5, Extends: true}, slow: true, finds: roof.Findings{
		"late-request/acquire":          {"release-ownership"},
		"late-request/acquire/majority": {"release-ownership"},
	}},
	// It never looks at the time: neither before it returns a lock nor after it has
	// prolonged one. A failed call leaves its key.
	{kind: "redislock", config: locktest.Config{Extends: true}, finds: expiredGrants.And(leftKeys)},
	{kind: "redislock-defaults", config: locktest.Config{Extends: true}, finds: expiredGrants},
	// The loss is told too late, and the first renewal can come too late.
	// By default its client sends a command again whose answer was lost, and the lock takes the
	// key that the first has set for another client's.
	{kind: "rueidislock", config: locktest.Config{Notifies: true}, finds: lateLosses.And(roof.Findings{"lost-reply/acquire": {"own key in the way", "key left behind"}})},
	{kind: "rueidislock-strict", config: locktest.Config{Notifies: true}, finds: lateLosses},
	{kind: "etcd", config: inCluster(locks.Etcd), finds: onEtcd},
	{kind: "etcd-election", config: inCluster(locks.Etcd), finds: electedOnEtcd},
	{kind: "zookeeper", config: inCluster(locks.ZooKeeper), finds: onZooKeeper},
	{kind: "zookeeper-naive", config: inCluster(locks.ZooKeeper), finds: naiveOnZooKeeper},
}

// inCluster is what the locks claim that a session keeps in a cluster.
func inCluster(system string) locktest.Config {
	return locktest.Config{System: system, Nodes: 3, Notifies: true, Tokens: true}
}

var (
	expiredGrants = roof.Findings{
		"late/acquire":  {"section-exclusion"},
		"late/extend":   {"claim: extends"},
		"pause/acquire": {"section-exclusion"},
		"pause/extend":  {"section-exclusion"},
	}
	// Without a retry of its Redis client the key of a failed call stays.
	leftKeys = roof.Findings{
		"contexts/ended-meanwhile": {"key left behind"},
		"lost-reply/acquire":       {"key left behind"},
		"late-reply/acquire":       {"key left behind"},
	}
	lateLosses = roof.Findings{
		"late-request/meanwhile":      {"section-exclusion"},
		"silence/meanwhile":           {"section-exclusion"},
		"silence/work":                {"section-exclusion"},
		"pause/acquire":               {"section-exclusion"},
		"catalogue/same-leader/heeds": {"section-exclusion"},
		"catalogue/same-leader/late":  {"section-exclusion"},
	}
)

// The suite finds in the current releases what is known of them, and nothing else.
func TestLibraries(t *testing.T) {
	for _, l := range subjects {
		t.Run(l.kind, func(t *testing.T) {
			l.config.Stories = roof.NobodysStories
			roof.Finds(t, l.kind, l.config, l.finds, l.slow)
		})
	}
}

// A conformance world of redsync, which asks its nodes from goroutines of its own, is the
// same each time: where its context ends while they run, and where one process has two
// handles.
func TestConformanceIsDeterministic(t *testing.T) {
	k, _ := locks.Lookup("redsync")
	config := locktest.Config{Nodes: 5, Extends: true}
	for _, name := range []string{
		"contexts/cancelled-before/acquire", "contexts/cancelled-before/release", "contexts/cancelled-before/extend",
		"contexts/deadline/acquire", "contexts/deadline/release", "contexts/deadline/extend",
		"handles/two", "late/acquire/1st-reply,1.2-ttl",
	} {
		run := func() *trace.Trace {
			return locktest.World(t, config, func(env *locktest.Env) (locks.Lock, error) { return k.New(env.Base()) }, name).Trace
		}
		first := run()
		for range 2 {
			if again := run(); again.Hash() != first.Hash() {
				t.Errorf("%s: %s", name, trace.FirstDifference(first, again))
			}
		}
	}
}
