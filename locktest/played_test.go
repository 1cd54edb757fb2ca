package locktest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// A failing is a test that only takes down with what it failed at once.
type failing struct {
	testing.TB
	why string
}

func (f *failing) Helper() {}

func (f *failing) Fatal(args ...any) { f.why = fmt.Sprintln(args...); runtime.Goexit() }

func (f *failing) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

// failed is why a test fails at once, or "".
func failed(t *testing.T, test func(testing.TB)) string {
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() { defer close(done); test(f) }()
	<-done
	return f.why
}

// What cannot be run says why, and lets nobody assert on nothing.
func TestWorldsThatCannotBeRun(t *testing.T) {
	world := func(config locktest.Config, build locktest.New, name string) string {
		return failed(t, func(t testing.TB) { locktest.World(t, config, build, name) })
	}
	story := func(text string) string {
		return failed(t, func(t testing.TB) { locktest.Scenario(t, locktest.Config{}, newCareful, 1, text) })
	}
	broken := func(env *locktest.Env) (locks.Lock, error) { return nil, fmt.Errorf("no licence") }
	rude := func(env *locktest.Env) (locks.Lock, error) { return panicky{}, nil }
	for _, test := range []struct{ name, why, want string }{
		{"it can be run", world(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing-off"), ""},
		{"no such story", world(locktest.Config{}, newCareful, "catalogue/gc-pauses"), `no story is called "catalogue/gc-pauses"`},
		{"no such world", world(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing"), `has no world "fencing"; it has fencing-off, fencing-on`},
		{"no such seed", world(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing-off seed one"), "the seed must be a number"},
		{"not with this lock", world(locktest.Config{}, newCareful, "catalogue/pause-in-flight/no-elapsed-check/fencing-off"), "cannot be told with this lock"},
		{"no lock", world(locktest.Config{}, nil, "catalogue/gc-pause/fencing-off"), "there is no function to make the lock"},
		{"a lock that cannot be made", world(locktest.Config{}, broken, "catalogue/gc-pause/fencing-off"), "no licence"},
		{"a lock that panics", world(locktest.Config{}, rude, "catalogue/gc-pause/fencing-off"), "no key under the mat"},
		{"an error in a scenario", story("title: x\nlock: {kind: singel}\n"), `did you mean "single"`},
		{"a scenario of something else", story("title: x\nlock: {kind: single, ttl: 1s}\nclients: {client-1: {}}\nfaults: [{pause: client-2}]\n"), `"client-2"`},
	} {
		if (test.why == "") != (test.want == "") || !strings.Contains(test.why, test.want) {
			t.Errorf("%s: it fails with %q, want %q", test.name, test.why, test.want)
		}
	}
}

type panicky struct{}

func (panicky) Acquire(context.Context) (locks.Lease, error) { panic("no key under the mat") }
