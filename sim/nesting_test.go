package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// describeCalls lists the calls of locks in order, with the lock, the section, the section
// around it, and whether the call failed.
func describeCalls(tr *trace.Trace, client string) string {
	locks, calls := map[int]string{}, []string(nil)
	for _, ev := range Events(tr, trace.KindEnd, client) {
		if !ev.Step.AtLock() {
			continue
		}
		what := string(ev.Step)
		if ev.Step == trace.Acquire {
			locks[ev.Section] = ev.Lock
		}
		what += fmt.Sprintf(" %s %d", locks[ev.Section], ev.Section)
		if ev.OuterSection > 0 {
			what += fmt.Sprintf(" in %d", ev.OuterSection)
		}
		if !ev.OK {
			what += " failed"
		}
		calls = append(calls, what)
	}
	return strings.Join(calls, ", ")
}

// Each further lock of a client has a section of its own, nested in the section before it,
// with its own token. A write of an object carries the token of the lock that has the
// object's name. The client releases the locks in reverse order.
func TestNestedSections(t *testing.T) {
	cfg := SectionsWorld(ToyLock,
		sim.Client{Name: "client-1", Key: "a", Does: Tasks("acquire b", "acquire c", "read b", "write a", "write b", "write x")},
		sim.Client{Name: "client-2", Key: "b", Does: Tasks("write b"), Sections: 2},
	)
	cfg.Storage.Fencing = storage.PerShard
	cfg.Clients[0].Starts = trace.At(trace.Action{Process: "client-2", Verb: trace.Finished})
	tr := RunWorld(t, cfg)
	Equal(t, "client-1's calls of locks", describeCalls(tr, "client-1"), "acquire a 1, acquire b 2 in 1, acquire c 3 in 2, release c 3, release b 2, release a 1")
	Equal(t, "client-1's steps", Steps(tr, "client-1"), "acquire, acquire, acquire, read b, write a, write b, write x, release, release, release")
	Equal(t, "what the storage served", StorageOps(tr), "write b for client-2 (1), write b for client-2 (2), read b for client-1 (3), write a for client-1 (1), write b for client-1 (3), write x for client-1 (1)")
	// A value that the client writes names the version that the client read or wrote before,
	// whichever of its locks protected that step.
	var values []string
	for _, ev := range Events(tr, trace.KindServe, "storage") {
		if ev.Client() == "client-1" && ev.Step == trace.Write {
			values = append(values, ev.Value)
		}
	}
	Equal(t, "the values that client-1 writes", strings.Join(values, ", "),
		"client-1 after version 2 of b, client-1 after version 2, client-1 after version 3 of b")
}

// A client retries to acquire a further lock as often as it retries its own. With Once it
// tries only once; after a failure it releases all its locks and begins the section again.
func TestAcquiringAnotherLock(t *testing.T) {
	for _, test := range []struct {
		name     string
		does     string        // client-1's task with the further lock
		attempts int           // how often client-1 tries to acquire a lock; 0 for no limit
		sections int           // how many sections client-1 has
		holds    time.Duration // how long client-2 holds the further lock
		calls    string        // client-1's calls of locks, as describeCalls lists them
		failed   bool          // whether client-1 ended with an error
	}{
		{"the client waits for the further lock", "acquire b", 0, 1, 4 * time.Second,
			"acquire a 1, acquire b 2 in 1 failed, acquire b 3 in 1 failed, acquire b 4 in 1 failed, acquire b 5 in 1, release b 5, release a 1", false},
		{"the client gives up, and has no other section", "acquire b", 2, 1, 4 * time.Second,
			"acquire a 1, acquire b 2 in 1 failed, acquire b 3 in 1 failed, release a 1", true},
		{"the client gives up, and succeeds in its second section", "acquire b", 2, 2, 2500 * time.Millisecond,
			"acquire a 1, acquire b 2 in 1 failed, acquire b 3 in 1 failed, release a 1, acquire a 4, acquire b 5 in 4 failed, acquire b 6 in 4, release b 6, release a 4", true},
		{"the client releases its lock after each failure, until it succeeds", "try b", 0, 1, 4 * time.Second,
			"acquire a 1, acquire b 2 in 1 failed, release a 1, acquire a 3, acquire b 4 in 3 failed, release a 3, acquire a 5, acquire b 6 in 5 failed, release a 5, " +
				"acquire a 7, acquire b 8 in 7, release b 8, release a 7", false},
		{"the client releases its lock after each failure, until it gives up", "try b", 2, 1, 4 * time.Second,
			"acquire a 1, acquire b 2 in 1 failed, release a 1, acquire a 3, acquire b 4 in 3 failed, release a 3", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, SectionsWorld(ToyLock, sim.Client{
				Name: "client-1", Key: "a", Does: Tasks(test.does, "write b"), Attempts: test.attempts, Sections: test.sections, RetryEvery: 1500 * time.Millisecond,
				Starts: trace.At(trace.Action{Process: "client-2", Verb: trace.Acquired}),
			}, sim.Client{Name: "client-2", Key: "b", Does: Tasks("work", "write b"), Works: test.holds}))
			Equal(t, "client-1's calls of locks", describeCalls(tr, "client-1"), test.calls)
			Equal(t, "client-1 ended with an error", !Events(tr, trace.KindDone, "client-1")[0].OK, test.failed)
		})
	}
}

// A source of tokens counts separately for each lock. The steps check and extend act on
// each lease.
func TestTokensAndStepsOfEachLock(t *testing.T) {
	cfg := SectionsWorld(ToyLock,
		sim.Client{Name: "client-1", Key: "a", Does: Tasks("acquire b", "work", "check", "write b"), Works: 50 * time.Second, ExtendsEvery: 20 * time.Second})
	cfg.Tokens.Source = ToyTokens
	cfg.Storage.Fencing = storage.PerShard
	tr := RunWorld(t, cfg)
	Equal(t, "client-1's steps", Steps(tr, "client-1"), "acquire, mint, acquire, mint, extend, extend, extend, extend, work, check, write b, release, release")
	Equal(t, "client-1's calls of locks", describeCalls(tr, "client-1"), "acquire a 1, acquire b 2 in 1, extend a 1, extend b 2, extend a 1, extend b 2, release b 2, release a 1")

	// The lease of the lock that the client acquired first ends before the lease of the
	// other.
	cfg = SectionsWorld(ToyLock,
		sim.Client{Name: "client-1", Key: "a", Does: Tasks("acquire b", "work", "check", "write b"), Works: 12 * time.Second},
		sim.Client{Name: "client-2", Key: "b", Does: Tasks("work"), Works: 20 * time.Second})
	cfg.Clients[0].Starts = trace.At(trace.Action{Process: "client-2", Verb: trace.Acquired})
	Equal(t, "client-1's steps when its first lease ends early", Steps(RunWorld(t, cfg), "client-1"), "acquire, "+strings.Repeat("acquire failed, ", 20)+"acquire, work, check failed, release, release failed")
}

// Two clients that take two locks in opposite order wait for each other until their leases
// have ended. Then both continue.
func TestOppositeOrder(t *testing.T) {
	cfg := SectionsWorld(ToyLock,
		sim.Client{Name: "client-1", Key: "a", Does: Tasks("acquire b", "write a", "write b")},
		sim.Client{Name: "client-2", Key: "b", Does: Tasks("acquire a", "write a", "write b")})
	tr := RunWorld(t, cfg)
	for _, client := range []string{"client-1", "client-2"} {
		all := Events(tr, trace.KindEnd, client)
		if granted := all[len(all)-5]; granted.Step != trace.Acquire || !granted.OK || granted.At < cfg.Lock.TTL-time.Second {
			t.Errorf("%s was granted the other lock with %+v, want that after its first lease has ended", client, granted)
		}
	}
}

// A client that is notified of the loss of its lock stops waiting for a further lock, and
// does not write.
func TestLossOfANestedLock(t *testing.T) {
	for _, test := range []struct{ does, steps string }{
		{"acquire b", "acquire, acquire failed, acquire failed, acquire failed, release"},
		{"acquire c", "acquire, acquire, work, release, release"},
	} {
		kind := ToyLock
		kind.New = func(env *locks.Env) (locks.Lock, error) {
			lock, err := ToyLock.New(env)
			return losingLock{lock, env}, err
		}
		cfg := SectionsWorld(kind,
			sim.Client{Name: "client-1", Key: "a", Does: Tasks(test.does, "work", "write x"), Works: 5 * time.Second},
			sim.Client{Name: "client-2", Key: "b", Does: Tasks("work"), Works: 20 * time.Second})
		cfg.Clients[0].Starts = trace.At(trace.Action{Process: "client-2", Verb: trace.Acquired})
		Equal(t, "client-1's steps with the task "+test.does, Steps(RunWorld(t, cfg), "client-1"), test.steps)
	}
}

// losingLock is a test lock. After a while it reports the loss of the lease on the lock
// with the name a.
type losingLock struct {
	locks.Lock
	env *locks.Env
}

func (l losingLock) Acquire(ctx context.Context) (locks.Lease, error) {
	lease, err := l.Lock.Acquire(ctx)
	if err != nil || l.env.Key != "a" {
		return lease, err
	}
	lost := make(chan struct{})
	l.env.Clock.AfterFunc(2500*time.Millisecond, func() { close(lost) })
	return lostLease{lease, lost}, nil
}

// A lostLease is a lease whose loss is reported when lost is closed.
type lostLease struct {
	locks.Lease
	lost chan struct{}
}

func (l lostLease) Lost() <-chan struct{} { return l.lost }

// Nested locks that are impossible in a world are refused with a reason.
func TestRefusedNesting(t *testing.T) {
	for says, change := range map[string]func(*sim.Config){
		"client-1 would acquire a, but it holds a already, and would wait for itself; let it acquire another lock": func(c *sim.Config) {
			c.Clients[0].Does = Tasks("acquire a")
		},
		"client-1 would try b, but it holds b already": func(c *sim.Config) { c.Clients[0].Does = Tasks("acquire b", "try b") },
		"client-1 would acquire more than 8 locks in addition to its own; let it acquire fewer": func(c *sim.Config) {
			c.Clients[0].Does = Tasks("acquire b", "acquire c", "acquire d", "acquire e", "acquire f", "acquire g", "acquire h", "acquire i", "acquire j")
		},
		"without a name":                                 func(c *sim.Config) { c.Clients[0].Does = []trace.Task{{Step: trace.Acquire}} },
		"with a schedule a client acquires one":          func(c *sim.Config) { c.Schedule = trace.Schedule{Every: time.Minute, Periods: 1} },
		"each of which can have 2 holders":               func(c *sim.Config) { c.Lock.Kind.Accepts = []string{"holders"}; c.Lock.Options.Holders = 2 },
		"cannot be distinguished from those for another": func(c *sim.Config) { c.Lock.Kind.OneAtATime = true },
		"each grant of such a lock is a transaction":     func(c *sim.Config) { c.Lock.Kind.KeepsData = true },
		"cannot be compared with each other":             func(c *sim.Config) { c.Storage.Fencing = storage.Writes },
	} {
		cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", Key: "a", Does: Tasks("acquire b", "write b")})
		change(&cfg)
		if _, err := sim.Run(cfg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v and does not say %q", err, says)
		}
	}
}
