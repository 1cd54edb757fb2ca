package libraries_test

import (
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
)

// The conformance tests of the locks on Redis. The modules of the locks on other systems
// have their own.
func TestConformance(t *testing.T) {
	// These tests do not apply to rueidislock. After a failed attempt, it deletes its keys
	// even if the context has ended, and Acquire waits for that for up to a TTL.
	rueidislock := slices.Concat(suites.EndlessExceptions, suites.InsistentExceptions, []string{"a lease ends before its key", "the context bounds an attempt"})
	suites.CheckRequirements(t, []suites.Subject{
		{Name: "redsync", Kind: "redsync", Nodes: 5},
		{Name: "redsync-retrying", Kind: "redsync-retrying", Nodes: 5, Except: suites.InsistentExceptions},
		{Name: "redsync-defaults", Kind: "redsync-defaults", Nodes: 5, Except: suites.InsistentExceptions},
		{Name: "rueidislock", Kind: "rueidislock", Nodes: 1, Except: rueidislock},
		{Name: "rueidislock-strict", Kind: "rueidislock-strict", Nodes: 1, Except: rueidislock},
		{Name: "redislock", Kind: "redislock", Nodes: 1, Except: suites.SilentExceptions},
		{Name: "redislock-defaults", Kind: "redislock-defaults", Nodes: 1, Except: append(suites.SilentExceptions, suites.InsistentExceptions...)},
	}, func(k locks.Kind) bool { return k.Adapter != "" && k.System == locks.Redis })
}

func TestQuorum(t *testing.T) {
	suites.CheckQuorum(t, []suites.Subject{
		{Name: "redsync", Kind: "redsync"},
		{Name: "redsync-retrying", Kind: "redsync-retrying"},
		// 32 tries against nodes that refuse connections take more than half a minute.
		{Name: "redsync-defaults", Kind: "redsync-defaults", Settings: []setting{lasting(2 * time.Minute)}},
	})
}

// Every lock of a library is available by its name, and cannot be made without nodes.
func TestLocksNeedNodes(t *testing.T) {
	provided := 0
	for _, kind := range locks.Names() {
		k, _ := locks.Lookup(kind)
		if err := k.CheckProvided(); err != nil {
			t.Error(err)
			continue
		}
		if k.Adapter == "" {
			continue
		}
		provided++
		if _, err := k.New(&locks.Env{Key: "k", TTL: time.Second}); err == nil {
			t.Errorf("%s was made without a node", kind)
		}
	}
	if provided == 0 {
		t.Error("no lock has an adapter")
	}
}
