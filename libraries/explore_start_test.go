package libraries_test

import (
	"testing"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// locktest.Explore starts on every system, with its worker processes. What it searches then
// is the subject of [TestSearchFitsEverySystem].
func TestExploreStartsOnEverySystem(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a search on each system")
	}
	for _, system := range []string{locks.Redis, locks.Etcd, locks.ZooKeeper, locks.Consul, locks.Postgres, locks.SQLite, locks.Kubernetes} {
		t.Run(system, func(t *testing.T) {
			kind, _ := locks.Lookup(explore.RegisteredOn(system))
			config := locktest.Config{System: system, Slots: kind.Slots}
			breaks := locktest.BreaksIn(t, config, func(env *locktest.Env) (locks.Lock, error) {
				return kind.New(env.Base())
			}, locktest.Exploration{MaxFaults: 1, For: 3 * time.Second})
			for range breaks { // what the lock is to blame for is not the question here
			}
		})
	}
}
