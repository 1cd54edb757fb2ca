package etcd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
)

// lockNames returns the names of the locks on etcd.
func lockNames() (names []string) {
	for _, name := range locks.Names() {
		if k, _ := locks.Lookup(name); k.System == locks.Etcd {
			names = append(names, name)
		}
	}
	return names
}

// lockKind returns a lock by its name.
func lockKind(t testing.TB, name string) locks.Kind {
	t.Helper()
	k, ok := locks.Lookup(name)
	if !ok {
		t.Fatalf("no lock is called %s", name)
	}
	return k
}

func TestKindsCheckTheirEnv(t *testing.T) {
	for _, name := range lockNames() {
		k := lockKind(t, name)
		if err := k.CheckProvided(); err != nil {
			t.Error(err)
			continue
		}
		for want, env := range map[string]*locks.Env{
			"at least one node": {Key: "k", Client: "client-1", TTL: time.Second},
			"in whole seconds":  {Key: "k", Client: "client-1", TTL: 1500 * time.Millisecond, Nodes: []string{"10.0.0.1:2379"}},
			"from 1, and":       {Key: "k", Client: "client-1", Nodes: []string{"10.0.0.1:2379"}},
		} {
			if _, err := k.New(env); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: New returns %v, want an error that contains %q", name, err, want)
			}
			env.Close()
		}
	}
}
