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
	for _, test := range []struct{ name, why, want string }{
		{"it can be run", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing-off"), ""},
		{"no such test case", worldError(locktest.Config{}, newCareful, "catalogue/gc-pauses"), `no test case is called "catalogue/gc-pauses"`},
		{"no such world", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing"), `has no world "fencing"; it has fencing-off, fencing-on`},
		{"a test case without a world", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause"), `has no world ""; it has fencing-off, fencing-on`},
		{"without the catalogue", worldError(locktest.Config{}, newCareful, "gc-pause"), `did you mean "catalogue/gc-pause"?`},
		{"misspelt, with its world", worldError(locktest.Config{}, newCareful, "catalogue/gcpause/fencing-off"), `did you mean "catalogue/gc-pause"?`},
		{"a seed and more", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing-off seed 2 x"), "the seed must be a number"},
		{"seed 0", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing-off seed 0"), "the seed must be a number from 1"},
		{"no such seed", worldError(locktest.Config{}, newCareful, "catalogue/gc-pause/fencing-off seed one"), "the seed must be a number"},
		{"not with this lock", worldError(locktest.Config{}, newCareful, "catalogue/pause-in-flight/no-elapsed-check/fencing-off"), "not applicable to this lock"},
		{"no lock", worldError(locktest.Config{}, nil, "catalogue/gc-pause/fencing-off"), "there is no function to make the lock"},
		{"a lock that cannot be made", worldError(locktest.Config{}, newUnmakeable, "catalogue/gc-pause/fencing-off"), "no licence"},
		{"a lock that panics", worldError(locktest.Config{}, newPanicking, "catalogue/gc-pause/fencing-off"), "no key under the mat"},
		{"a scenario whose preconditions are not met", worldError(locktest.Config{}, newCareful, "catalogue/adaptive-ttl/adaptive/fencing-off"), "is inconclusive: the witness"},
		{"a lock that never stops asking", worldError(locktest.Config{}, newRestless, "catalogue/no-faults/fencing-off"), "endless"},
		{"a scenario of its own", clientError(newCareful, "{works: 1s}"), ""},
		{"with a lock that cannot be made", clientError(newUnmakeable, "{works: 1s}"), "client-1: cannot make the lock: no licence"},
		{"with a lock that panics", clientError(newPanicking, "{works: 1s}"), "no key under the mat"},
		{"with a lock that cannot do it", clientError(newCareful, "{works: 1s, extends-every: 300ms}"), "cannot be asked to extend a lease"},
		{"an error in a scenario", scenarioError("title: x\nlock: {kind: singel}\n"), `did you mean "single"`},
		{"a scenario of something else", scenarioError("title: x\nlock: {kind: single, ttl: 1s}\nclients: {client-1: {}}\nfaults: [{pause: client-2}]\n"), `"client-2"`},
	} {
		if (test.why == "") != (test.want == "") || !strings.Contains(test.why, test.want) {
			t.Errorf("%s: it fails with %q, want %q", test.name, test.why, test.want)
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
