package consul_test

import (
	"slices"
	"testing"

	_ "github.com/locksim/locksim/libraries/consul" // the lock
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
	"github.com/locksim/locksim/trackrecord/internal/proof"
)

// The client's Lock, as its adapter has it, in one handle for the life of a process: used as
// who believes it that the lock is lost, and has nothing left to unlock; and by one who calls
// Unlock all the same.
func TestLock(t *testing.T) {
	mutexes, _ := locks.Lookup("consul")
	config := locktest.Config{System: locks.Consul, Notifies: true, Tokens: true}
	without := func(features ...string) proof.New {
		return func(env *locks.Env) (locks.Lock, error) {
			env = env.On(env.Key)
			env.Options.Without = slices.Concat(env.Options.Without, features)
			return mutexes.New(env)
		}
	}
	proof.Run(t, config, without("own-handle", "lost-unlock"),
		proof.Option{Name: "Unlock after a loss", New: without("own-handle")})
}
