package consul_test

import (
	"slices"
	"testing"

	_ "github.com/locksim/locksim/libraries/consul" // the lock
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

// TestLock tests the client's Lock through its adapter, with one handle for the life of the
// process. The handle is used in two ways: by a caller that believes the message that the
// lock is lost, and therefore does not unlock; and by one that still calls Unlock.
func TestLock(t *testing.T) {
	mutexes, _ := locks.Lookup("consul")
	config := locktest.Config{System: locks.Consul, Notifies: true, Tokens: true}
	newLockWithout := func(features ...string) proof.New {
		return func(env *locks.Env) (locks.Lock, error) {
			env = env.ForKey(env.Key)
			env.Options.Without = slices.Concat(env.Options.Without, features)
			return mutexes.New(env)
		}
	}
	proof.Run(t, config, newLockWithout("own-handle", "lost-unlock"),
		proof.Option{Name: "Unlock after a loss", New: newLockWithout("own-handle")})
}
