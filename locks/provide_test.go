package locks_test

import (
	"testing"

	"github.com/locksim/locksim/locks"
)

// Three mistakes must panic: a kind that no package can make, two constructors of one kind,
// and a constructor of a kind that does not exist.
func TestProvidePanics(t *testing.T) {
	make := func(*locks.Env) (locks.Lock, error) { return nil, nil }
	for name, do := range map[string]func(){
		"a kind without a constructor or an adapter": func() { locks.Register(locks.Kind{Name: "nobody's"}) },
		"a constructor of an unknown kind":           func() { locks.Provide("redsink", make) },
		"a second constructor of a kind":             func() { locks.Provide("single", make) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was accepted, want a panic", name)
				}
			}()
			do()
		}()
	}
}
