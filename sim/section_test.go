package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A client does the tasks of its Does in a section. Read, work and write are only the
// default.
func TestTasks(t *testing.T) {
	for _, test := range []struct {
		name  string
		does  []trace.Task
		steps string
	}{
		{"the default tasks", nil, "acquire, read x, work, write x, release"},
		{"a write without a read", Tasks("write x"), "acquire, write x, release"},
		{"two objects", Tasks("read x", "read y", "write y"), "acquire, read x, read y, write y, release"},
		{"two writes", Tasks("read x", "write x", "write x"), "acquire, read x, write x, write x, release"},
		{"work first", Tasks("work", "check", "write x"), "acquire, work, check, write x, release"},
		{"a mark", Tasks("mark x", "read x", "write x"), "acquire, mark x, read x, write x, release"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, SectionsWorld(ToyLock, sim.Client{Name: "client-1", Does: test.does, Works: time.Second}))
			Equal(t, "steps", Steps(tr, "client-1"), test.steps)
		})
	}
}

// A value names the version from which it was computed, so two writes of one section never
// have the same value.
func TestWrittenValuesNameTheVersionRead(t *testing.T) {
	tr := RunWorld(t, SectionsWorld(ToyLock, sim.Client{Name: "client-1", Does: Tasks("write z", "read x", "write y", "write x", "write x")}))
	var values []string
	for _, ev := range Events(tr, trace.KindServe, "storage") {
		if ev.Step == trace.Write {
			values = append(values, ev.Value)
		}
	}
	want := []string{"client-1", "client-1 after version 0 of x", "client-1 after version 0", "client-1 after version 1"}
	if !slices.Equal(values, want) {
		t.Errorf("the values are %q, want %q", values, want)
	}
}

// A client that checks its lease before it writes gives up the section if the lease has
// ended.
func TestCheck(t *testing.T) {
	endless := ToyLock
	endless.Name, endless.Endless = "endless", true
	endless.New = func(env *locks.Env) (locks.Lock, error) {
		forGood := env.ForKey(env.Key)
		forGood.TTL = 0
		return ToyLock.New(forGood)
	}
	for _, test := range []struct {
		lock  locks.Kind
		works time.Duration // how long client-1 works before it checks its lease
		steps string
	}{
		{ToyLock, 29 * time.Second, "acquire, work, check, write x, release"},
		{ToyLock, 30 * time.Second, "acquire, work, check failed, release failed"},
		// The grants of this lock never end.
		{endless, 300 * time.Second / 2, "acquire, work, check, write x, release"},
		// The kind none has no leases.
		{Lock(t, "none"), 150 * time.Second, "acquire, work, check, write x, release"},
	} {
		tr := RunWorld(t, SectionsWorld(test.lock, sim.Client{Name: "client-1", Does: Tasks("work", "check", "write x"), Works: test.works}))
		Equal(t, fmt.Sprintf("steps with the lock %s and %v of work", test.lock.Name, test.works), Steps(tr, "client-1"), test.steps)
	}
}

// If a lease does not declare its end, the step check takes one TTL after the call of
// acquire, on the clock that the lock reads: the process's own clock or true time.
func TestCheckOfALeaseWithoutADeclaredEnd(t *testing.T) {
	for _, test := range []struct {
		ownClock bool          // whether the lock reads the process's own clock
		works    time.Duration // how long client-1 works before it checks its lease
		steps    string
	}{
		{false, 29 * time.Second, "acquire, work, check, write x, release"},
		{false, 30 * time.Second, "acquire, work, check failed, release"},
		{true, 29 * time.Second, "acquire, work, check, write x, release"},
		{true, 30 * time.Second, "acquire, work, check failed, release"},
	} {
		cfg := SectionsWorld(Lock(t, "none"), sim.Client{Name: "client-1", Does: Tasks("work", "check", "write x"), Works: test.works})
		cfg.Lock.Kind.Open, cfg.Nodes = false, Nodes("toy", 1)
		cfg.Lock.Kind.OwnClock = test.ownClock
		Equal(t, fmt.Sprintf("steps with own clock %t and %v of work", test.ownClock, test.works), Steps(RunWorld(t, cfg), "client-1"), test.steps)
	}
}

// Services pass a request on to the storage and pass its answer back, each over its own
// connections. A service can drop the token.
func TestServices(t *testing.T) {
	for _, test := range []struct {
		name     string
		services []sim.Service
		served   string // what the storage served
	}{
		{"the services pass the token on", []sim.Service{{Name: "order"}, {Name: "billing"}}, "write x for client-1 by billing (1)"},
		{"the first service drops the token", []sim.Service{{Name: "order", DropsToken: true}, {Name: "billing"}}, "write x for client-1 by billing refused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", Does: Tasks("write x via order and billing")})
			cfg.Services = test.services
			cfg.Storage.Fencing = storage.Writes
			tr := RunWorld(t, cfg)
			Equal(t, "served", StorageOps(tr), test.served)
			stripped := Events(tr, trace.KindStrip, "order")
			Equal(t, "the service order dropped client-1's token", len(stripped) == 1 && stripped[0].Token == 1 && stripped[0].By.Client == "client-1", test.services[0].DropsToken)
			Equal(t, "the Seq of the event with which the served write was sent", Events(tr, trace.KindServe, "storage")[0].By.Sent, writeSent(tr))
			// The acquire takes two hops. The request takes three, one to each process on
			// its way. Each service opens its connection with the first request, which
			// takes two more hops.
			EqualTime(t, "the storage served the write", Events(tr, trace.KindServe, "storage")[0].At, (2+1+2+1+2+1)*Hop)
			end := Events(tr, trace.KindEnd, "client-1")[1]
			EqualTime(t, "client-1 got the answer", end.At, (2+1+2+1+2+1+3)*Hop)
		})
	}
}

// writeSent returns the Seq of the event with which client-1 sent its write. Services have
// later sent the write, too.
func writeSent(tr *trace.Trace) int {
	for _, ev := range Events(tr, trace.KindSend, "client-1") {
		if ev.Step == trace.Write {
			return ev.Seq
		}
	}
	return 0
}

// A request on its way through a service arrives even after its client has given up.
func TestServiceIsPaused(t *testing.T) {
	cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", GivesUp: time.Second, Does: Tasks("write x via order")})
	cfg.Services = []sim.Service{{Name: "order"}}
	cfg.Faults = []sim.Fault{{Action: &sim.Pause{Process: "order"}, For: 10 * time.Second}}
	tr := RunWorld(t, cfg)
	Equal(t, "steps", Steps(tr, "client-1"), "acquire, write x failed, release")
	Equal(t, "served", StorageOps(tr), "write x for client-1 by order (1)")
	EqualTime(t, "the storage served the write", Events(tr, trace.KindServe, "storage")[0].At, 10*time.Second+3*Hop)
}

// A service that crashes loses the request, and the client's connection is reset.
func TestServiceCrashes(t *testing.T) {
	cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", Does: Tasks("write x via order")})
	cfg.Services = []sim.Service{{Name: "order"}}
	cfg.Faults = []sim.Fault{
		{Action: &sim.Hold{Message: HeldMessage("order's write request to storage")}},
		{Strikes: trace.Trigger{At: time.Second}, Action: &sim.CrashFault{Process: "order"}},
	}
	tr := RunWorld(t, cfg)
	Equal(t, "steps", Steps(tr, "client-1"), "acquire, write x failed, release")
}

// A client mints a token after the acquire, or where its tasks contain a mint.
func TestTokens(t *testing.T) {
	// after returns a client that starts at a point, or, if that is "", with the run.
	after := func(client, starts string, tasks ...string) sim.Client {
		c := sim.Client{Name: client, Does: Tasks(tasks...)}
		if starts != "" {
			c.Starts = Point(starts)
		}
		return c
	}
	for _, test := range []struct {
		name    string
		clients []sim.Client
		nodes   []string // the nodes that count tokens; nil for the lock's node
		served  string   // what the storage served, with the tokens in parentheses
	}{
		{"the lock's node counts the tokens", []sim.Client{after("client-1", "", "write x"), after("client-2", "client-1 released", "write x")}, nil,
			"write x for client-1 (1), write x for client-2 (2)"},
		{"another node counts the tokens", []sim.Client{after("client-1", "", "write x"), after("client-2", "client-1 released", "write x")}, []string{"counter"},
			"write x for client-1 (1), write x for client-2 (2)"},
		{"the client mints a token after it has read", []sim.Client{after("client-1", "", "read x", "mint", "write x")}, nil,
			"read x for client-1, write x for client-1 (1)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := SectionsWorld(ToyLock, test.clients...)
			cfg.Tokens = sim.Tokens{Source: ToyTokens, Nodes: test.nodes}
			for _, name := range test.nodes {
				cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, System: "toy", CountersOnly: true})
			}
			tr := RunWorld(t, cfg)
			Equal(t, "served", StorageOps(tr), test.served)
			counts := "toy-1"
			if test.nodes != nil {
				counts = test.nodes[0]
			}
			counted := 0
			for _, ev := range Events(tr, trace.KindSet, counts) {
				if ev.Key == "resource:token" {
					counted++
				}
			}
			Equal(t, "number of tokens counted on "+counts, counted, len(test.clients))
		})
	}
}

// lockOnOneNode returns a lock that keeps its key only on the first toy.
func lockOnOneNode() locks.Kind {
	kind := ToyLock
	kind.Slots = func(key string, _ int) ([]locks.Slot, int) { return []locks.Slot{{Key: key}}, 1 }
	return kind
}

// A fault can have an effect at a node that keeps no lock, if the node counts tokens.
func TestFaultOfACounter(t *testing.T) {
	clock, _ := locks.LookupTokenSource("clock")
	for _, test := range []struct {
		source locks.TokenSource
		nodes  []string // the nodes that count tokens; nil for all
		idle   bool     // whether a pause of toy-2 does not act
	}{
		{ToyTokens, nil, false},
		{ToyTokens, []string{"toy-1", "toy-2"}, false},
		{ToyTokens, []string{"toy-1"}, true},
		{clock, []string{"toy-2"}, true},
		{clock, nil, true},
	} {
		cfg := SectionsWorld(lockOnOneNode(), sim.Client{Name: "client-1"})
		cfg.Nodes = Nodes("toy", 2)
		cfg.Tokens = sim.Tokens{Source: test.source, Nodes: test.nodes}
		cfg.Faults = []sim.Fault{{Action: &sim.Pause{Process: "toy-2"}, For: time.Second}}
		idle := RunWorld(t, cfg).Faults[0].IdleReason
		if got := strings.Contains(idle, "keeps nothing on toy-2"); got != test.idle || !test.idle && idle != "" {
			t.Errorf("tokens by %s on %v: the reason why the pause of toy-2 did not act is %q; want a reason: %t", test.source.Name, test.nodes, idle, test.idle)
		}
	}
}

// Clients of two locks do not affect each other, and each lock has its own order of grants.
func TestKeys(t *testing.T) {
	tr := RunWorld(t, SectionsWorld(ToyLock,
		sim.Client{Name: "client-1", Key: "file-1", Works: 10 * time.Second},
		sim.Client{Name: "client-2", Key: "file-2", Works: 10 * time.Second},
		sim.Client{Name: "client-3", Key: "file-1", Attempts: 1, Starts: Point("client-1 acquired")},
	))
	Equal(t, "client-1", Steps(tr, "client-1"), "acquire, read x, work, write x, release")
	Equal(t, "client-2", Steps(tr, "client-2"), "acquire, read x, work, write x, release")
	Equal(t, "client-3", Steps(tr, "client-3"), "acquire failed")
	var names []string
	for _, l := range tr.Locks {
		names = append(names, l.Name)
	}
	Equal(t, "locks", strings.Join(names, " "), "file-1 file-2")
	for _, client := range []string{"client-1", "client-2"} {
		Equal(t, "rank of "+client, Events(tr, trace.KindEnd, client)[0].Rank, 1)
	}
}

// A path gives two processes another latency than the rest of the network.
func TestPaths(t *testing.T) {
	cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", Does: Tasks("write x")})
	cfg.Network.Paths = []sim.Path{{Between: "storage", And: "client-1", Min: 20 * Hop, Max: 20 * Hop}}
	tr := RunWorld(t, cfg)
	EqualTime(t, "client-1 had acquired the lock", Events(tr, trace.KindEnd, "client-1")[0].At, 2*Hop)
	EqualTime(t, "client-1 had written", Events(tr, trace.KindEnd, "client-1")[1].At, 42*Hop)
}

// A request without an answer is sent again over a new connection. The first copy may still
// arrive.
func TestResends(t *testing.T) {
	cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", GivesUp: time.Second, Resends: true, Does: Tasks("read x", "write x", "write x")})
	cfg.Faults = []sim.Fault{{Action: &sim.Hold{Message: HeldMessage("client-1's write request to storage")}, Until: Point("client-1 finished")}}
	tr := RunWorld(t, cfg)
	Equal(t, "steps", Steps(tr, "client-1"), "acquire, read x, write x, write x, release")
	var order []string
	for _, ev := range Events(tr, trace.KindServe, "storage") {
		if ev.Step == trace.Write {
			order = append(order, ev.Value)
		}
	}
	want := []string{"client-1 after version 0", "client-1 after version 1", "client-1 after version 0"}
	if !slices.Equal(order, want) {
		t.Errorf("the storage made the writes %q, want %q", order, want)
	}
	again := Events(tr, trace.KindAgain, "client-1")
	if len(again) != 1 || again[0].Step != trace.Write || again[0].Text != "no answer within 1s" {
		t.Errorf("the requests sent again are %+v, want one write, because of no answer within 1s", again)
	}
}

// A client repeats its request to a storage that is down, with pauses, until the storage is
// up again.
func TestResendsToAStorageThatWasDown(t *testing.T) {
	cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", GivesUp: time.Second, Resends: true})
	cfg.Faults = []sim.Fault{{
		Strikes: trace.Trigger{Before: trace.StepPoint{Client: "client-1", Step: trace.Write}},
		Action:  &sim.CrashFault{Process: trace.StorageName}, For: 2500 * time.Millisecond,
	}}
	tr := RunWorld(t, cfg)
	Equal(t, "steps", Steps(tr, "client-1"), "acquire, read x, write x, release")
	// First the old connection is reset. The next attempt is refused, so the client pauses
	// for a second before each further one. After 1 s and 2 s the storage is still down;
	// after 3 s it is up.
	Equal(t, "how often the write was sent again", len(Events(tr, trace.KindAgain, "client-1")), 4)
}

// If the configuration says that a client extends its lease, and the lock has no extend,
// the run is inconclusive.
func TestExtendWithALockThatHasNoExtend(t *testing.T) {
	extends := sim.Client{Name: "client-1", Works: 3 * time.Second, ExtendsEvery: time.Second}
	again := extends // a second client with the same doubt, which is recorded once
	again.Name, again.Starts = "client-2", Point("client-1 released")
	tr := RunWorld(t, SectionsWorld(renewingKind(), extends, again))
	want := "a client of the scenario extends its lease, but renewing cannot be asked to extend a lease"
	if !slices.Equal(tr.Doubts, []string{want}) {
		t.Errorf("the doubts are %q, want %q", tr.Doubts, want)
	}
	endless := renewingKind()
	endless.Endless = true
	if tr := RunWorld(t, SectionsWorld(endless, extends)); len(tr.Doubts) > 0 {
		t.Errorf("with leases that never end the doubts are %q, want none", tr.Doubts)
	}
}

// If a client never started, the run is inconclusive, because it does not show what its
// story describes.
func TestClientThatNeverBegins(t *testing.T) {
	tr := RunWorld(t, SectionsWorld(ToyLock,
		sim.Client{Name: "client-1"},
		sim.Client{Name: "client-2", Starts: Point("client-1's keys expired")},
	))
	if want := "client-2 never began: it starts when client-1's keys expired"; !slices.Contains(tr.Doubts, want) {
		t.Errorf("the doubts are %q, want among them %q", tr.Doubts, want)
	}
}

// A release that failed is repeated in the next section; a release that succeeded is not.
// If the lock does not check whose key it deletes, the repeated release deletes the
// client's own new key.
func TestReleaseAgain(t *testing.T) {
	lostAnswer := sim.Fault{
		Strikes: trace.Trigger{When: Point("toy-1's reply to client-1's release is in flight")},
		Action:  &sim.Reset{Process: "client-1", From: "toy-1"},
	}
	for _, c := range []struct {
		name          string
		without       []string // parts of the lock's algorithm that are left out
		faults        []sim.Fault
		steps, broken string // client-1's steps, and the violated properties
	}{
		{name: "the first release succeeds", steps: "acquire, read x, write x, release, acquire, read x, write x, release"},
		{name: "the answer to the first release is lost", faults: []sim.Fault{lostAnswer}, steps: "acquire, read x, write x, release failed, acquire, read x, release failed, write x, release"},
		{
			name: "the answer is lost, and the lock deletes keys of any value", without: []string{"value-check"}, faults: []sim.Fault{lostAnswer},
			steps:  "acquire, read x, write x, release failed, acquire, read x, release, write x, release failed",
			broken: "release-ownership lock",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", Sections: 2, Does: Tasks("read x", "release-again", "write x")})
			cfg.Lock.Options.Without = c.without
			cfg.Faults = c.faults
			tr := RunWorld(t, cfg)
			Equal(t, "steps", Steps(tr, "client-1"), c.steps)
			Equal(t, "violated properties", Violations(tr), c.broken)
		})
	}
}

// A request whose connection was reset is sent again, over a new connection.
func TestResendsAfterAReset(t *testing.T) {
	// By whether the client sends a request again: how many writes the storage serves.
	for resends, want := range map[bool]int{true: 1, false: 0} {
		cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", GivesUp: time.Second, Resends: resends})
		cfg.Faults = []sim.Fault{{
			Strikes: trace.Trigger{When: Point("client-1's write request to storage is in flight")},
			Action:  &sim.Reset{Process: "client-1", From: "storage"},
		}}
		made := 0
		for _, ev := range Events(RunWorld(t, cfg), trace.KindServe, "storage") {
			if ev.Step == trace.Write {
				made++
			}
		}
		if made != want {
			t.Errorf("resends %v: the storage made %d writes, want %d", resends, made, want)
		}
	}
}

// The trace contains the renewals that a lock makes by itself.
func TestRenewals(t *testing.T) {
	tr := RunWorld(t, SectionsWorld(renewingKind(), sim.Client{Name: "client-1", Works: 25 * time.Second}))
	Equal(t, "steps", Steps(tr, "client-1"), "acquire, read x, extend, extend, work, write x, release")
	ends := Events(tr, trace.KindEnd, "client-1")
	if first, second := ends[0].LeaseEnd, ends[2].LeaseEnd; second == nil || second.Sub(*first) < 9*time.Second {
		t.Errorf("the lease ends at %v, and after the first renewal at %v, want at least 9s later", first, second)
	}
}

// The pauses between attempts follow the client's retry policy.
func TestRetry(t *testing.T) {
	for retry, want := range map[locks.Retry][]time.Duration{
		"":                {time.Second, time.Second, time.Second},
		locks.Fixed:       {time.Second, time.Second, time.Second},
		locks.Exponential: {time.Second, 2 * time.Second, 4 * time.Second},
	} {
		tr := RunWorld(t, SectionsWorld(ToyLock,
			sim.Client{Name: "client-1", Works: 20 * time.Second},
			sim.Client{Name: "client-2", Starts: Point("client-1 acquired"), Attempts: 4, RetryEvery: time.Second, Retry: retry},
		))
		tries, fails := Events(tr, trace.KindBegin, "client-2"), Events(tr, trace.KindEnd, "client-2")
		for i, pause := range want {
			EqualTime(t, fmt.Sprintf("%q: attempt %d", retry, i+2), tries[i+1].At-fails[i].At, pause)
		}
	}
}

// With ByClockOf, the duration of a fault is measured on the wall clock of a process, which
// may itself jump or drift.
func TestByClockOf(t *testing.T) {
	crash := sim.Fault{Strikes: trace.Trigger{At: time.Second}, Action: &sim.CrashFault{Process: "toy-1"}, For: 31 * time.Second, ByClockOf: "toy-1"}
	jump := func(by time.Duration) sim.Fault {
		return sim.Fault{Strikes: trace.Trigger{At: 2 * time.Second}, Action: &sim.Jump{Process: "toy-1", By: by}}
	}
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		back   time.Duration // when toy-1 restarts
	}{
		{"the clock of toy-1 is right", nil, 32 * time.Second},
		{"the clock of toy-1 jumps forward, not to the end of the crash", []sim.Fault{jump(10 * time.Second)}, 22 * time.Second},
		{"the clock of toy-1 jumps forward past the end of the crash", []sim.Fault{jump(time.Minute)}, 2 * time.Second},
		{"the clock of toy-1 jumps back", []sim.Fault{jump(-10 * time.Second)}, 42 * time.Second},
		{"the clock of client-1 jumps", []sim.Fault{{Strikes: trace.Trigger{At: 2 * time.Second}, Action: &sim.Jump{Process: "client-1", By: time.Minute}}}, 32 * time.Second},
	} {
		cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", Works: 2 * time.Minute})
		cfg.Faults = append([]sim.Fault{crash}, test.faults...)
		tr := RunWorld(t, cfg)
		EqualTime(t, test.name+": toy-1 restarted", Events(tr, trace.KindRestart, "toy-1")[0].At, test.back)
	}
}

// Invalid tasks of a client are refused before the run.
func TestBadSections(t *testing.T) {
	for want, change := range map[string]func(*sim.Config){
		"there is no service":                          func(c *sim.Config) { c.Clients[0].Does = Tasks("write x via nobody") },
		"not a step that a client can do in a section": func(c *sim.Config) { c.Clients[0].Does = []trace.Task{{Step: trace.Extend}} },
		"needs an object":                              func(c *sim.Config) { c.Clients[0].Does = []trace.Task{{Step: trace.Read}} },
		"two processes are called":                     func(c *sim.Config) { c.Services = []sim.Service{{Name: "client-1"}} },
		"no node \"counter\" that could count":         func(c *sim.Config) { c.Tokens.Nodes = []string{"counter"} },
		"between storage and client-1": func(c *sim.Config) {
			c.Network.Paths = []sim.Path{{Between: "storage", And: "client-1", Min: 2, Max: 1}}
		},
		"by-clock-of": func(c *sim.Config) {
			c.Faults = []sim.Fault{{Action: &sim.Pause{Process: "client-1"}, ByClockOf: "client-1"}}
		},
		"there is no process \"nobody\"": func(c *sim.Config) {
			c.Faults = []sim.Fault{{Action: &sim.Pause{Process: "client-1"}, For: time.Second, ByClockOf: "nobody"}}
		},
	} {
		cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1"})
		change(&cfg)
		if _, err := sim.Run(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
}
