package locktest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// A fatalRecorder is a testing.TB that only records the message of its Fatal.
type fatalRecorder struct {
	testing.TB
	why string
}

func (f *fatalRecorder) Helper() {}

func (f *fatalRecorder) Fatal(args ...any) { f.why = fmt.Sprintln(args...); runtime.Goexit() }

func (f *fatalRecorder) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

// fatalMessage returns the message with which test calls Fatal, or "".
func fatalMessage(t *testing.T, test func(testing.TB)) string {
	f := &fatalRecorder{TB: t}
	done := make(chan struct{})
	go func() { defer close(done); test(f) }()
	<-done
	return f.why
}

// World and Scenario fail the test and say why if the world cannot be run, or if the run
// offers nothing to assert on.
func TestWorldsThatCannotBeRun(t *testing.T) {
	worldError := func(config locktest.Config, build locktest.New, name string) string {
		return fatalMessage(t, func(t testing.TB) { locktest.World(t, config, build, name) })
	}
	scenarioError := func(text string) string {
		return fatalMessage(t, func(t testing.TB) { locktest.Scenario(t, locktest.Config{}, newCareful, 1, text) })
	}
	clientError := func(build locktest.New, client string) string {
		return fatalMessage(t, func(t testing.TB) {
			locktest.Scenario(t, locktest.Config{}, build, 1, "title: x\nlock: {kind: single, ttl: 1s}\nclients: {client-1: "+client+"}\n")
		})
	}
	newUnmakeable := func(env *locktest.Env) (locks.Lock, error) { return nil, fmt.Errorf("no licence") }
	newPanicking := func(env *locktest.Env) (locks.Lock, error) { return panicky{}, nil }
	newRestless := func(env *locktest.Env) (locks.Lock, error) { return restless{env.Redis(0)}, nil }
	// why is the message with which the test fails, and want a part of it; "" if it must not
	// fail.
	for _, test := range []struct{ name, why, want string }{
		{"a world that can be run", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing-off"), ""},
		{"a test case that does not exist", worldError(locktest.Config{}, newCareful, "catalogue/gc-pauses"), `no test case is called "catalogue/gc-pauses"`},
		{"a world that the test case does not have", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing"), `has no world "fencing"; it has fencing-off, fencing-on`},
		{"an address that lacks the world", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause"), `has no world ""; it has fencing-off, fencing-on`},
		{"an address that lacks the folder catalogue", worldError(locktest.Config{}, newCareful, "gc-pause"), `did you mean "catalogue/gc-pause"?`},
		{"a misspelt test case with its world", worldError(locktest.Config{}, newCareful, "catalogue/gcpause/fencing-off"), `did you mean "catalogue/gc-pause"?`},
		{"text after the seed", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing-off seed 2 x"), "the seed must be a number"},
		{"seed 0", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing-off seed 0"), "the seed must be a number from 1"},
		{"a seed that is not a number", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing-off seed one"), "the seed must be a number"},
		{"a test case that does not apply to the lock", worldError(locktest.Config{}, newCareful, "catalogue/pause-in-flight/no-elapsed-check/fencing-off"), "not applicable to this lock"},
		{"a missing constructor of the lock", worldError(locktest.Config{}, nil, "catalogue/gc-pause/fencing-off"), "there is no function to make the lock"},
		{"a lock that cannot be made", worldError(locktest.Config{}, newUnmakeable, "catalogue/gc-pause/fencing-off"), "no licence"},
		{"a lock that panics", worldError(locktest.Config{}, newPanicking, "catalogue/gc-pause/fencing-off"), "no key under the mat"},
		{"a scenario whose preconditions are not met", worldError(locktest.Config{}, newCareful, "catalogue/adaptive-ttl/adaptive/fencing-off"), "is inconclusive: the witness"},
		{"a lock that never stops asking", worldError(locktest.Config{}, newRestless, "catalogue/no-faults/fencing-off"), "endless"},
		{"a scenario that can be run", clientError(newCareful, "{works: 1s}"), ""},
		{"a scenario with a lock that cannot be made", clientError(newUnmakeable, "{works: 1s}"), "client-1: cannot make the lock: no licence"},
		{"a scenario with a lock that panics", clientError(newPanicking, "{works: 1s}"), "no key under the mat"},
		{"a scenario that extends leases, with a lock that cannot extend", clientError(newCareful, "{works: 1s, extends-every: 300ms}"), "cannot be asked to extend a lease"},
		{"a scenario with a misspelt kind of lock", scenarioError("title: x\nlock: {kind: singel}\n"), `did you mean "single"`},
		{"a scenario with a fault of a client that does not exist", scenarioError("title: x\nlock: {kind: single, ttl: 1s}\nclients: {client-1: {}}\nfaults: [{pause: client-2}]\n"), `"client-2"`},
	} {
		if (test.why == "") != (test.want == "") || !strings.Contains(test.why, test.want) {
			t.Errorf("%s: the test fails with %q, want %q", test.name, test.why, test.want)
		}
	}
}

type panicky struct{}

func (panicky) Acquire(context.Context) (locks.Lease, error) { panic("no key under the mat") }

// restless is a lock that asks again and again, without a pause.
type restless struct{ redis *redis.Client }

func (r restless) Acquire(ctx context.Context) (locks.Lease, error) {
	for ctx.Err() == nil {
		r.redis.Ping(ctx)
	}
	return nil, ctx.Err()
}
