package consul_test

import (
	"slices"
	"testing"

	_ "github.com/locksim/locksim/libraries/consul" // the lock
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

// TestLock tests the client's Lock through its adapter. All attempts of a process use one
// Lock value. There are two kinds of callers: one believes the message that the lock is
// lost, and does not call Unlock; the other calls Unlock nevertheless.
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
