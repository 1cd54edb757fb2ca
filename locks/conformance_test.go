package locks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/locks"
)

// isOwn reports whether a lock is made by package locks itself.
func isOwn(k locks.Kind) bool { return k.Adapter == "" }

func TestConformance(t *testing.T) {
	suites.CheckRequirements(t, []suites.Subject{
		{Name: "single", Kind: "single", Nodes: 1},
		{Name: "single by the wall clock", Kind: "single", Nodes: 1, Settings: []setting{withClock(fakeclock.Wall, fakeclock.System())}},
		{Name: "redlock", Kind: "redlock", Nodes: 5},
		{Name: "redlock all at once", Kind: "redlock", Nodes: 5, Settings: []setting{withAskOrder(locks.AllAtOnce)}},
		{Name: "redlock on one node", Kind: "redlock", Nodes: 1},
		{Name: "single-plain-del", Kind: "single-plain-del", Nodes: 1, Except: []string{"release does not free another's lock"}},
		{Name: "single-get-then-del", Kind: "single-get-then-del", Nodes: 1},
		{Name: "single-delex", Kind: "single-delex", Nodes: 1},
		{Name: "single-no-ttl", Kind: "single-no-ttl", Nodes: 1, Except: append(suites.EndlessExceptions, "a lease ends before its key")},
		{Name: "setnx-then-expire", Kind: "setnx-then-expire", Nodes: 1},
		{Name: "single-wait", Kind: "single-wait", Nodes: 1},
		{Name: "single-token", Kind: "single-token", Nodes: 1},
		{Name: "watchdog", Kind: "watchdog", Nodes: 1, Except: suites.EndlessExceptions},
		{Name: "adaptive-ttl", Kind: "adaptive-ttl", Nodes: 1},
		{Name: "adaptive-ttl-floor", Kind: "adaptive-ttl-floor", Nodes: 1},
		{Name: "circuit-breaker", Kind: "circuit-breaker", Nodes: 1},
		{Name: "circuit-breaker that goes ahead", Kind: "circuit-breaker", Nodes: 1, Settings: []setting{withFallback(locks.GoAhead)}},
		{Name: "circuit-breaker with a lock of its own", Kind: "circuit-breaker", Nodes: 1, Settings: []setting{withFallback(locks.Local)}},
	}, isOwn)
}

// TestKinds checks what each registered lock declares: its slots, its quorum, and whether
// it is endless or open.
func TestKinds(t *testing.T) {
	for _, kind := range locks.Names() {
		k, _ := locks.Lookup(kind)
		slots, quorum := k.Slots("k", 5)
		want, wantQuorum := 1, 1
		switch kind {
		case "redlock", "redsync", "redsync-retrying", "redsync-defaults":
			want, wantQuorum = 5, 3
		case "rueidislock", "rueidislock-strict":
			want, wantQuorum = 3, 2
		case "none", "postgres-none", "consul-semaphore":
			want, wantQuorum = 0, 0
		}
		if len(slots) != want || quorum != wantQuorum {
			t.Errorf("%s keeps a grant in %d slots and needs %d; want %d and %d", kind, len(slots), quorum, want, wantQuorum)
		}
		for i, slot := range slots {
			place := locks.Slot{Node: i, Key: "k"}
			switch {
			case strings.HasPrefix(kind, "rueidislock"):
				place = locks.Slot{Key: fmt.Sprintf("rueidislock:%d:k", i)}
			case k.System == locks.Etcd:
				place = locks.Slot{Node: locks.Cluster, Key: "k"}
			case strings.HasPrefix(kind, "sqlite-lease"):
				place = locks.Slot{Key: "locks/k"}
			case strings.HasPrefix(kind, "sqlite-transaction"):
				place = locks.Slot{Key: "k.db"}
			case strings.HasPrefix(kind, "postgres-lease"):
				place = locks.Slot{Key: "locks/k"}
			case kind == "goose-table":
				place = locks.Slot{Key: "goose_lock/3993778410"}
			case strings.HasPrefix(kind, "postgres-advisory"), kind == "goose-session":
				place = locks.Slot{Key: "advisory/3993778410"}
			case strings.HasPrefix(kind, "postgres-row"):
				place = locks.Slot{Key: "items/k"}
			case strings.HasPrefix(kind, "postgres-queue"):
				place = locks.Slot{Key: "jobs/k"}
			case k.System == locks.Kubernetes:
				place = locks.Slot{Key: "default/k"}
			case k.System == locks.ZooKeeper:
				place = locks.Slot{Node: locks.Cluster, Key: "/k"}
			}
			if slot != place {
				t.Errorf("%s: slot %d is %+v, want %+v", kind, i, slot, place)
			}
		}
		if isOwn(k) {
			if _, err := k.New(&locks.Env{Key: "k", TTL: time.Second}); (err == nil) != k.Open {
				t.Errorf("the error of %s without a node is %v; want no error: %v", kind, err, k.Open)
			}
		}
		if k.Endless != (slices.Contains([]string{"single-no-ttl", "sqlite-transaction", "sqlite-transaction-data", "postgres-advisory", "postgres-advisory-data", "postgres-advisory-transaction", "postgres-row", "postgres-row-elsewhere", "postgres-queue", "postgres-queue-elsewhere", "goose-session"}, kind)) || k.Open != (kind == "none" || kind == "postgres-none") {
			t.Errorf("%s declares that it is endless: %v, and open: %v; want at least one of these otherwise", kind, k.Endless, k.Open)
		}
	}
}
