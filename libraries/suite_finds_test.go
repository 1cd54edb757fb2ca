package libraries_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trace"
)

// subjects are the locks of libraries for Redis and on clusters of three members,
// unmodified. finds are the rules that each of them violates, by test case. The suite finds
// these without any hint. The other libraries are tested in their own modules. The
// scenarios of the group "libraries" show these findings one by one, and docs/libraries.md
// has a table of them.
var subjects = []struct {
	kind   string
	config locktest.Config
	finds  suites.Findings
	// slow means that each call of the lock tries many times. The suite then stops as soon
	// as it has found what finds lists.
	slow bool
}{
	// redsync makes one try in each call here. It then fails only if two or three troubles
	// strike at the same time.
	{kind: "redsync", config: locktest.Config{Nodes: 5, Extends: true}, finds: suites.Findings{
		// The clean-up after a failed attempt runs under the caller's context, which has
		// ended.
		"contexts/ended-meanwhile": {"key left behind"},
	}},
	// A late clean-up deletes the key that a later try of the same call has set.
	{kind: "redsync-retrying", config: locktest.Config{Nodes: 5, Extends: true}, slow: true, finds: suites.Findings{
		"contexts/ended-meanwhile":      {"key left behind"},
		"late-request/acquire":          {"release-ownership"},
		"late-request/acquire/majority": {"release-ownership"},
	}},
	{kind: "redsync-defaults", config: locktest.Config{Nodes: 5, Extends: true}, slow: true, finds: suites.Findings{
		"late-request/acquire":          {"release-ownership"},
		"late-request/acquire/majority": {"release-ownership"},
	}},
	// redislock never checks the time: neither before it returns a lock nor after it has
	// extended one. A failed call leaves its key behind.
	{kind: "redislock", config: locktest.Config{Extends: true}, finds: expiredGrants.Merge(leftKeys)},
	{kind: "redislock-defaults", config: locktest.Config{Extends: true}, finds: expiredGrants},
	// The holder is notified of the loss too late, and the first renewal can come too late.
	// By default, rueidislock's client sends a command again if its response was lost. It
	// then takes the key that the first command has set for another client's key.
	{kind: "rueidislock", config: locktest.Config{Notifies: true}, finds: lateLosses.Merge(suites.Findings{"lost-reply/acquire": {"own key in the way", "key left behind"}})},
	{kind: "rueidislock-strict", config: locktest.Config{Notifies: true}, finds: lateLosses},
	{kind: "etcd", config: inCluster(locks.Etcd), finds: etcdMutex},
	{kind: "etcd-election", config: inCluster(locks.Etcd), finds: etcdElection},
	{kind: "zookeeper", config: inCluster(locks.ZooKeeper), finds: zookeeperLock},
	{kind: "zookeeper-naive", config: inCluster(locks.ZooKeeper), finds: zookeeperNaive},
}

// inCluster returns the Config of a lock that a session keeps in a cluster.
func inCluster(system string) locktest.Config {
	return locktest.Config{System: system, Nodes: 3, Notifies: true, Tokens: true}
}

var (
	expiredGrants = suites.Findings{
		"late/acquire":  {"section-exclusion"},
		"late/extend":   {"claim: extends"},
		"pause/acquire": {"section-exclusion"},
		"pause/extend":  {"section-exclusion"},
	}
	// leftKeys are the findings in a lock that leaves the key of a failed call behind,
	// because its Redis client does not retry.
	leftKeys = suites.Findings{
		"contexts/ended-meanwhile": {"key left behind"},
		"lost-reply/acquire":       {"key left behind"},
		"late-reply/acquire":       {"key left behind"},
	}
	lateLosses = suites.Findings{
		"late-request/meanwhile":      {"section-exclusion"},
		"silence/meanwhile":           {"section-exclusion"},
		"silence/work":                {"section-exclusion"},
		"pause/acquire":               {"section-exclusion"},
		"catalogue/same-leader/heeds": {"section-exclusion"},
		"catalogue/same-leader/late":  {"section-exclusion"},
	}
)

// The suite finds exactly the known violations in the current releases.
func TestLibraries(t *testing.T) {
	for _, l := range subjects {
		t.Run(l.kind, func(t *testing.T) {
			l.config.Stories = suites.IsGeneral
			suites.CheckFindings(t, l.kind, l.config, l.finds, l.slow)
		})
	}
}

// redsync asks its nodes from several goroutines. The worlds of its conformance tests must
// nevertheless be the same each time. The test checks those in which a context ends while
// the goroutines run, or in which one process has two handles.
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
