package sim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// Virtual time cannot pass if a client computes without end, or waits for a mutex. In a
// client's own code that is an error, and the error contains the stack of the goroutine to
// blame. But a mutex that is held during I/O would be unlocked in reality.
func TestStandstill(t *testing.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	for name, c := range map[string]struct {
		run  func(context.Context, *sim.Program) error
		want error
		text string
	}{
		"a goroutine computes without end": {func(context.Context, *sim.Program) error {
			spin(&stop)
			return nil
		}, sim.ErrStuck, "sim_test.spin("},
		"a goroutine sets timers without end": {func(ctx context.Context, p *sim.Program) error {
			setTimers(ctx, p, &stop)
			return nil
		}, sim.ErrStuck, "sim_test.setTimers("},
		"a mutex is held during I/O": {holdMutexDuringIO, sim.ErrMutex, "a sync.Mutex of github.com/locksim/locksim/sim_test"},
		"a mutex is locked twice":    {lockMutexTwice, sim.ErrStuck, "sim_test.lockMutexTwice("},
	} {
		t.Run(name, func(t *testing.T) {
			// The other client waits for an answer, in code of the same package.
			asking := sim.Client{Name: "client-2", Run: func(ctx context.Context, p *sim.Program) error { return Toy(p, 0).Do(ctx, "ping") }}
			tr, err := sim.RunPatiently(ToyWorld(sim.Client{Name: "client-1", Run: c.run}, asking), 600*time.Millisecond)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("the error is %v, want %v with %q", err, c.want, c.text)
			}
			if ending := sim.Ending(err); (ending != nil) != (c.want == sim.ErrStuck) {
				t.Errorf("the ending is %v; a client's code is to blame for %v only", ending, sim.ErrStuck)
			}
			if tr != nil {
				t.Error("got a trace, want none: the world may still be writing it")
			}
		})
	}
}

// On a busy machine a world may make no progress for longer than half of a short patience.
// Its error is then ErrLate, and not ErrStuck.
func TestShortStandstillIsNotStuck(t *testing.T) {
	var stop atomic.Bool
	defer time.AfterFunc(600*time.Millisecond, func() { stop.Store(true) }).Stop()
	_, err := sim.RunPatiently(ToyWorld(sim.Client{Name: "client-1", Run: func(context.Context, *sim.Program) error {
		spin(&stop)
		return nil
	}}), 500*time.Millisecond)
	if errors.Is(err, sim.ErrStuck) {
		t.Errorf("the error is %v, want any error but ErrStuck", err)
	}
}

// lockMutexTwice is a client's program that waits for a mutex that it holds itself.
func lockMutexTwice(ctx context.Context, p *sim.Program) error {
	var mu sync.Mutex
	mu.Lock()
	mu.Lock()
	return Toy(p, 0).Do(ctx, "ping")
}

// holdMutexDuringIO is a client's program in which one goroutine holds a mutex during I/O,
// while another waits for that mutex.
func holdMutexDuringIO(ctx context.Context, p *sim.Program) error {
	var mu sync.Mutex
	locked := make(chan bool)
	go func() {
		mu.Lock()
		defer mu.Unlock()
		close(locked)
		Toy(p, 0).Do(ctx, "ping")
	}()
	<-locked
	mu.Lock() // a state that synctest does not call durably blocked
	defer mu.Unlock()
	return nil
}

// If a client leaves a goroutine that is blocked forever, the run returns an error. It also
// returns the trace.
func TestLeak(t *testing.T) {
	tr, err := sim.Run(ToyWorld(sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error {
		go forgotten()
		return Toy(p, 0).Do(ctx, "set k v")
	}}))
	if !errors.Is(err, sim.ErrLeak) || !strings.Contains(err.Error(), "forgotten") {
		t.Errorf("the error is %v, want %v with the stack of forgotten", err, sim.ErrLeak)
	}
	if tr.Ending == nil || tr.Ending.Rule != trace.ConductLeak || !strings.Contains(tr.Ending.Stacks, "forgotten") {
		t.Errorf("the ending in the trace is %+v, want a leak with the stack of forgotten", tr.Ending)
	}
	OnlyEvent(t, tr, trace.KindSet, "toy-1")
}

// If a client panics, it ends, and the error of the run says where. The other clients
// continue.
func TestPanic(t *testing.T) {
	tr, err := sim.Run(ToyWorld(
		sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error { return panicking() }},
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(time.Second)
			return Toy(p, 0).Do(ctx, "set k v")
		}),
	))
	if !errors.Is(err, sim.ErrPanic) || !strings.Contains(err.Error(), "oh no") || !strings.Contains(err.Error(), "panicking") || !strings.Contains(err.Error(), "client-1") {
		t.Errorf("the error is %v, want %v of client-1 in panicking", err, sim.ErrPanic)
	}
	Equal(t, "client-1 succeeded", OnlyEvent(t, tr, trace.KindDone, "client-1").OK, false)
	OnlyEvent(t, tr, trace.KindSet, "toy-1")
}

// If a client panics while it takes an answer, it holds the world's mutex, which the other
// clients need. They continue nevertheless, and the error of the run says where the panic
// was.
func TestPanicWhileTakingAnAnswer(t *testing.T) {
	tr, err := sim.RunPatiently(ToyWorld(
		sim.Client{Name: "client-1", Run: func(_ context.Context, p *sim.Program) error { sim.PanicInAnswer(p); return nil }},
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(time.Second)
			return Toy(p, 0).Do(ctx, "set k v")
		}),
	), 20*time.Second)
	if !errors.Is(err, sim.ErrPanic) || !strings.Contains(err.Error(), "panic in client-1: ") || !strings.Contains(err.Error(), "takeAnswer") {
		t.Fatalf("the error is %v, want %v of client-1 in takeAnswer", err, sim.ErrPanic)
	}
	OnlyEvent(t, tr, trace.KindSet, "toy-1")
}

// panicking panics. Tests look for its name in stacks.
func panicking() error { panic("oh no") }

// The error of a client is in the trace; the run itself returns no error.
func TestFailingClient(t *testing.T) {
	tr := RunWorld(t, ToyWorld(sim.Client{Name: "client-1", Run: func(context.Context, *sim.Program) error { return errors.New("no luck") }}))
	done := OnlyEvent(t, tr, trace.KindDone, "client-1")
	Equal(t, "client-1 succeeded", done.OK, false)
	Equal(t, "client-1's error in the trace", done.Text, "no luck")
}

// A run is cut off at its horizon. Even a client that retries forever and never checks its
// context is ended.
func TestHorizon(t *testing.T) {
	for name, run := range map[string]func(context.Context, *sim.Program) error{
		"the client waits for its context": func(ctx context.Context, p *sim.Program) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"the client sends commands forever": func(_ context.Context, p *sim.Program) error {
			for {
				_ = Toy(p, 0).Do(context.Background(), "ping")
			}
		},
		"the client sends commands and sleeps between them, forever": func(_ context.Context, p *sim.Program) error {
			for {
				_ = Toy(p, 0).Do(context.Background(), "ping")
				_ = p.Clock().Sleep(context.Background(), time.Second)
			}
		},
		"the client dials forever": func(_ context.Context, p *sim.Program) error {
			for {
				if conn, err := Dial(context.Background(), p, 0); err == nil {
					conn.Close()
				}
			}
		},
		"the client sleeps on its clock forever": func(_ context.Context, p *sim.Program) error {
			for {
				_ = p.Clock().Sleep(context.Background(), time.Second)
			}
		},
		"the client dials an address without a node, forever": func(_ context.Context, p *sim.Program) error {
			for {
				_, _ = p.Env().Dial(context.Background(), "tcp", "10.9.9.9:6379")
			}
		},
		"the client reads from the storage forever": func(_ context.Context, p *sim.Program) error {
			for {
				_, _ = p.Storage(context.Background(), storage.Request{Op: storage.Read, Object: trace.DefaultObject})
			}
		},
		"the client waits for a reply that never comes": func(_ context.Context, p *sim.Program) error {
			conn, err := Dial(context.Background(), p, 0)
			if err != nil {
				return err
			}
			for {
				_, _ = ReadReply(conn)
			}
		},
		"a goroutine of the client sends commands forever": func(ctx context.Context, p *sim.Program) error {
			toy := Toy(p, 0)
			go func() {
				for {
					_ = toy.Do(context.Background(), "ping")
				}
			}()
			<-ctx.Done()
			return nil
		},
		"a step of the client never ends": func(_ context.Context, p *sim.Program) error {
			return p.Step(trace.Work, func() error { return p.Clock().Sleep(context.Background(), time.Hour) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := ToyWorld(sim.Client{Name: "client-1", Run: run})
			cfg.Horizon = time.Second
			tr := RunWorld(t, cfg)
			EqualTime(t, "the run was cut off", OnlyEvent(t, tr, trace.KindHorizon, "").At, cfg.Horizon)
			EqualTime(t, "the last event", tr.End(), cfg.Horizon)
			NoEvents(t, tr, trace.KindDone, "client-1")
		})
	}
}

// At the horizon, a client is also ended if a fault lasts that has stopped it or holds back
// its messages.
func TestHorizonDuringAFault(t *testing.T) {
	for name, fault := range map[string]sim.Fault{
		"suspend":    At(time.Second, SuspensionOf("client-1")),
		"power loss": At(time.Second, CrashOf("client-1", trace.PowerLoss)),
		"partition":  At(time.Second, &sim.Partition{"client-1", []string{"toy-1"}, ""}),
		"hold":       At(time.Second, &sim.Hold{HeldMessage("toy-1's reply to client-1")}),
	} {
		t.Run(name, func(t *testing.T) {
			cfg := ToyWorld(
				sim.Client{Name: "client-1", Run: func(_ context.Context, p *sim.Program) error {
					for {
						_ = Toy(p, 0).Do(context.Background(), "set k v")
						_ = p.Step(trace.Work, func() error { return p.Clock().Sleep(context.Background(), 300*time.Millisecond) })
					}
				}},
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					time.Sleep(4 * time.Second)
					return nil
				}),
			)
			cfg.Horizon = 5 * time.Second
			tr := RunWorld(t, WithFaults(cfg, fault))
			AllFaultsStruck(t, tr)
			if end := tr.End(); end > cfg.Horizon+time.Microsecond {
				t.Errorf("the last event is at %v, want at most the horizon, %v", end, cfg.Horizon)
			}
		})
	}
}

// A world ends when all clients are done and no message is in flight.
func TestEndOfAWorld(t *testing.T) {
	tr := RunWorld(t, ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		conn, err := Dial(ctx, p, 0)
		if err != nil {
			return err
		}
		_, err = conn.Write([]byte("set k v\n"))
		return err
	})))
	EqualTime(t, "the key was set", OnlyEvent(t, tr, trace.KindSet, "toy-1").At, 3*Hop)
	EqualTime(t, "the last event", tr.End(), 4*Hop)
	for i, ev := range tr.Events {
		Equal(t, "the Seq of an event", ev.Seq, i+1)
		if i > 0 && ev.At < tr.Events[i-1].At {
			t.Errorf("event %d is at %v, earlier than the event before it in the trace", ev.Seq, ev.At)
		}
	}
}

// A client begins when the point of its Starts is reached.
func TestClientStartsAtItsPoint(t *testing.T) {
	one := Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		SleepUntil(time.Second)
		return Toy(p, 0).Do(ctx, "set k v 10000")
	})
	two := Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
		return p.Step(trace.Work, func() error { return nil })
	})
	for _, test := range []struct {
		point string
		at    time.Duration // when client-2 begins
	}{
		{"client-1 holds toy-1", time.Second + 3*Hop},
		{"client-1's keys expired", 11*time.Second + 3*Hop},
		{"2s after client-1 finished", 3*time.Second + 4*Hop},
		{"toy-1's reply to client-1 arrived", time.Second + 4*Hop},
	} {
		two.Starts = Point(test.point)
		tr := RunWorld(t, ToyWorld(one, two))
		EqualTime(t, "client-2 starts when "+test.point+": it began", OnlyEvent(t, tr, trace.KindBegin, "client-2").At, test.at)
	}
}

// busyWorld returns a world in which much happens at the same time. Its clients have
// several goroutines, timeouts and retries, and faults of every kind strike.
func busyWorld(network sim.Network, seed uint64) sim.Config {
	worker := func(ctx context.Context, p *sim.Program) error {
		var wg sync.WaitGroup
		for i := range 3 {
			toy := Toy(p, i)
			wg.Go(func() {
				for n := range 5 {
					ctx, cancel := context.WithTimeout(ctx, 2*time.Millisecond+time.Duration(n)*time.Millisecond)
					_ = toy.Do(ctx, fmt.Sprintf("take k%d %d 100", i, n))
					_ = toy.Do(ctx, "incr n")
					cancel()
					time.Sleep(120 * time.Millisecond)
				}
			})
		}
		wg.Go(func() {
			for range 10 {
				_ = p.Clock().Sleep(ctx, 100*time.Millisecond)
				ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				_, _ = p.Storage(ctx, storage.Request{Op: storage.Write, Object: trace.DefaultObject, Value: "v"})
				cancel()
			}
		})
		wg.Go(func() {
			// Wait, so that no other goroutine dials the same node at the same time: the
			// order of two such dials would depend on chance.
			time.Sleep(7 * time.Millisecond)
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if conn, err := Dial(ctx, p, 0); err == nil {
				_, _ = Ask(conn, "wait n")
				conn.Close()
			}
		})
		wg.Wait()
		return nil
	}
	cfg := ToyWorld()
	cfg.Seed, cfg.Network = seed, network
	cfg.Nodes = []sim.Node{
		{Name: "toy-1", System: "toy"},
		{Name: "toy-2", System: "toy"},
		{Name: "toy-3", System: "toy"},
	}
	for i := range 3 {
		cfg.Clients = append(cfg.Clients, sim.Client{Name: fmt.Sprint("client-", i+1), Run: worker})
	}
	const ms = time.Millisecond
	return WithFaults(cfg,
		Lasting(100*ms, At(100*ms, PauseOf("client-1"))),
		Lasting(70*ms, At(150*ms, SuspensionOf("client-2"))),
		Lasting(50*ms, At(200*ms, PauseOf("toy-2"))),
		Lasting(100*ms, At(250*ms, CrashOf("toy-3", trace.PowerLoss))),
		Lasting(100*ms, At(300*ms, CrashOf("toy-2", trace.Kill))),
		Lasting(100*ms, At(100*ms, &sim.Partition{"client-3", []string{"toy-1", trace.StorageName}, ""})),
		Lasting(200*ms, At(150*ms, &sim.Delay{"client-1", "toy-2", 3 * ms, ""})),
		Lasting(100*ms, When("client-2's request to storage is in flight, 3rd time", &sim.Hold{HeldMessage("client-2's request to storage")})),
		At(350*ms, &sim.Reset{"client-1", "toy-1"}),
		At(400*ms, &sim.Jump{"toy-1", -50 * ms}),
		At(400*ms, &sim.Jump{"toy-2", 50 * ms}),
		At(0, &sim.Drift{"toy-3", 10 * sim.Percent}),
		At(500*ms, CrashOf("toy-1", trace.PowerLoss)),
		At(550*ms, CrashOf("client-3", trace.Kill)),
		Lasting(50*ms, At(600*ms, &sim.Fail{"toy-2", ""})),
	)
}

// A configuration always gives the same trace, on any number of threads, and in whatever
// order its goroutines run.
func TestDeterminism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, network := range map[string]sim.Network{
		"latencies that vary":          {Min: 300 * time.Microsecond, Max: 3 * time.Millisecond},
		"latencies that are all equal": {Min: Hop, Max: Hop},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := busyWorld(network, 7)
			want := RunWorld(t, cfg)
			AllFaultsStruck(t, want)
			cfg.Disturb = YieldRandomly
			for i := range 50 {
				threads := 1 << (i % 3)
				runtime.GOMAXPROCS(threads)
				got := RunWorld(t, cfg)
				if got.Hash() == want.Hash() {
					continue
				}
				t.Fatalf("run %d, on %d threads, differs from the first run: %s", i+1, threads, trace.FirstDifference(want, got))
			}
		})
	}
}

// If latencies vary, worlds with different seeds have different traces.
func TestSeeds(t *testing.T) {
	hashes := map[string]bool{}
	for seed := range uint64(5) {
		hashes[RunWorld(t, busyWorld(sim.Network{Min: 300 * time.Microsecond, Max: 3 * time.Millisecond}, seed)).Hash()] = true
	}
	Equal(t, "number of different traces of five seeds", len(hashes), 5)
}

// A world leaves no goroutine and no memory behind.
func TestNothingOutlivesAWorld(t *testing.T) {
	small := ToyWorld(
		sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error {
			return Toy(p, 0).Do(ctx, "set k v 1000") // the client leaves its connection open
		}},
		sim.Client{Name: "client-2", Run: func(ctx context.Context, p *sim.Program) error {
			return Toy(p, 0).Do(WithTrueTimeout(ctx, time.Second), "wait news")
		}},
		sim.Client{Name: "client-3", Run: func(ctx context.Context, p *sim.Program) error {
			return Toy(p, 0).Do(ctx, "wait news")
		}},
	)
	small.Horizon = 3 * time.Second
	small = WithFaults(small, At(2*time.Second, CrashOf("client-3", trace.Kill)))
	use := func() (goroutines int, bytes uint64) {
		for range 5 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond) // so that the runtime removes goroutines that have ended
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	run := func(n int) {
		for range n {
			RunWorld(t, small)
		}
		RunWorld(t, busyWorld(sim.Network{Min: Hop, Max: Hop}, 1))
	}
	run(50) // so that packages have allocated what they keep forever
	goroutines, bytes := use()
	run(300)
	more, grown := use()
	if more > goroutines {
		t.Errorf("after 300 more worlds there are %d goroutines, want at most the %d from before", more, goroutines)
	}
	// A world needs about 200 kB. The limit is too coarse to notice a few bytes that remain
	// of each world, but it notices a world that remains.
	if grown > bytes+2<<20 {
		t.Errorf("after 300 more worlds %d bytes are in use, want at most 2 MiB more than the %d from before", grown, bytes)
	}
}

// A configuration that cannot run is refused, and the error says what is wrong.
func TestBadConfigurations(t *testing.T) {
	one := Client(t, "client-1", func(context.Context, *sim.Program) error { return nil })
	for _, test := range []struct {
		want  string            // a part of the error
		spoil func(*sim.Config) // makes the configuration invalid
	}{
		{"horizon", func(c *sim.Config) { c.Horizon = 0 }},
		{"latencies", func(c *sim.Config) { c.Network.Min = 0 }},
		{"latencies", func(c *sim.Config) { c.Network.Max = Hop / 2 }},
		{`"client-1"`, func(c *sim.Config) { c.Clients = append(c.Clients, one) }},
		{`"client-1"`, func(c *sim.Config) { c.Nodes[0].Name = "client-1" }},
		{`"storage"`, func(c *sim.Config) { c.Nodes[0].Name = trace.StorageName }},
		{"no name", func(c *sim.Config) { c.Clients[0].Name = "" }},
		{"not a master", func(c *sim.Config) { c.Nodes[0].ReplicaOf = "toy-7" }},
		{"not a master", func(c *sim.Config) { c.Nodes[0].ReplicaOf = "toy-1" }},
		{"a toy cannot be a replica", func(c *sim.Config) {
			c.Nodes = Nodes("toy", 2)
			c.Nodes[1].ReplicaOf = "toy-1"
		}},
		{`toy-1 is a server of the kind "abacus", which this program does not have: it has `, func(c *sim.Config) { c.Nodes[0].System = "abacus" }},
		{"the kind of server of toy-1 is not given", func(c *sim.Config) { c.Nodes[0].System = "" }},
		{"toy-1 cannot have persistence always: a toy has no disk", func(c *sim.Config) { c.Nodes[0].Persistence = "always" }},
		{"beads counts on nodes of the kind abacus, but toy-1 is a toy", func(c *sim.Config) {
			c.Tokens.Source = locks.TokenSource{Name: "beads", Counts: true, System: "abacus"}
		}},
		{"toy-7", func(c *sim.Config) { *c = WithFaults(*c, At(0, PauseOf("toy-7"))) }},
		{"mode", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Pause{"client-1", "freeze"})) }},
		{"name a process", func(c *sim.Config) { *c = WithFaults(*c, At(0, PauseOf(""))) }},
		{"by", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Jump{"client-1", 0})) }},
		{"more than a year", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Jump{"client-1", -9000 * time.Hour})) }},
		{"rate", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Drift{"client-1", 0})) }},
		{"more than 50%", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Drift{"client-1", -51 * sim.Percent})) }},
		{"direction", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Partition{"client-1", []string{"toy-1"}, "up"})) }},
		{"at least one", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Partition{"client-1", nil, ""})) }},
		{"itself", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Partition{"client-1", []string{"client-1"}, ""})) }},
		{"twice", func(c *sim.Config) {
			*c = WithFaults(*c, At(0, &sim.Partition{"client-1", []string{"toy-1", "toy-1"}, ""}))
		}},
		{"positive", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Delay{"client-1", "toy-1", -1, ""})) }},
		{"to:", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Delay{"client-1", "", 1, ""})) }},
		{"from:", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Reset{"client-1", ""})) }},
		{"name the message", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Hold{})) }},
		{"not a client", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Hold{HeldMessage("toy-1's request to storage")})) }},
		{"kill, power-loss, shutdown or failover", func(c *sim.Config) { *c = WithFaults(*c, At(0, CrashOf("toy-1", "burn"))) }},
		{"only the storage has", func(c *sim.Config) { *c = WithFaults(*c, At(0, CrashOf("toy-1", trace.FailOver))) }},
		{"not a replica", func(c *sim.Config) { *c = WithFaults(*c, At(0, &sim.Promote{"toy-1"})) }},
		{"negative", func(c *sim.Config) { *c = WithFaults(*c, Lasting(-1, At(0, PauseOf("toy-1")))) }},
		{"negative", func(c *sim.Config) { *c = WithFaults(*c, At(-1, PauseOf("toy-1"))) }},
	} {
		cfg := ToyWorld(one)
		test.spoil(&cfg)
		tr, err := sim.Run(cfg)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("the error is %v, want one that contains %q", err, test.want)
		}
		if tr != nil {
			t.Errorf("%s: got a trace, want none", test.want)
		}
	}
}
