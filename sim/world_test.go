package sim

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

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A client that computes without end, or holds a mutex across I/O while another
// of its goroutines waits for it, stops virtual time. The error shows who.
func TestStuck(t *testing.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	for name, run := range map[string]func(context.Context, *Program) error{
		"spinning": func(context.Context, *Program) error {
			spin(&stop)
			return nil
		},
		"holdingAMutex": holdingAMutex,
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := RunPatiently(story(Client{Name: "client-1", Run: run}), 600*time.Millisecond)
			if !errors.Is(err, ErrStuck) || !strings.Contains(err.Error(), strings.TrimSuffix(name, "ning")) {
				t.Errorf("the error is %v", err)
			}
			if tr != nil {
				t.Error("there is a trace, which its world may still be writing")
			}
		})
	}
}

func holdingAMutex(ctx context.Context, p *Program) error {
	var mu sync.Mutex
	locked := make(chan bool)
	go func() {
		mu.Lock()
		defer mu.Unlock()
		close(locked)
		p.Redis(0).Ping(ctx)
	}()
	<-locked
	mu.Lock() // not what synctest calls durably blocked
	defer mu.Unlock()
	return nil
}

// A goroutine that a client leaves behind, blocked for ever, is the run's error;
// the trace is there nevertheless.
func TestLeak(t *testing.T) {
	tr, err := Run(story(Client{Name: "client-1", Run: func(ctx context.Context, p *Program) error {
		go forgotten()
		return p.Redis(0).Set(ctx, "k", "v", 0).Err()
	}}))
	if !errors.Is(err, ErrLeak) || !strings.Contains(err.Error(), "forgotten") {
		t.Errorf("the error is %v", err)
	}
	only(t, tr, trace.KindSet, "redis-1")
}

// A client that panics ends, and the run's error says where; the others go on.
func TestPanic(t *testing.T) {
	tr, err := Run(story(
		Client{Name: "client-1", Run: func(ctx context.Context, p *Program) error { return panicking() }},
		client(t, "client-2", func(ctx context.Context, p *Program) error {
			sleepUntil(p, time.Second)
			return p.Redis(0).Set(ctx, "k", "v", 0).Err()
		}),
	))
	if !errors.Is(err, ErrPanic) || !strings.Contains(err.Error(), "oh no") || !strings.Contains(err.Error(), "panicking") || !strings.Contains(err.Error(), "client-1") {
		t.Errorf("the error is %v", err)
	}
	same(t, "client-1 succeeded", only(t, tr, trace.KindDone, "client-1").OK, false)
	only(t, tr, trace.KindSet, "redis-1")
}

func panicking() error { panic("oh no") }

// A client's error is told in the trace, and is not the run's.
func TestFailingClient(t *testing.T) {
	tr := play(t, story(Client{Name: "client-1", Run: func(context.Context, *Program) error { return errors.New("no luck") }}))
	done := only(t, tr, trace.KindDone, "client-1")
	same(t, "it succeeded", done.OK, false)
	same(t, "why not", done.Text, "no luck")
}

// A run is cut off at its horizon. A client that tries for ever, and never looks
// at its context, is brought to an end.
func TestHorizon(t *testing.T) {
	for name, run := range map[string]func(context.Context, *Program) error{
		"it waits for its context": func(ctx context.Context, p *Program) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"it asks for ever": func(_ context.Context, p *Program) error {
			for {
				_ = p.Redis(0).Ping(context.Background()).Err()
			}
		},
		"it asks for ever, and rests by its clock": func(_ context.Context, p *Program) error {
			for {
				_ = p.Redis(0).Ping(context.Background()).Err()
				_ = p.Clock().Sleep(context.Background(), time.Second)
			}
		},
		"it dials for ever": func(_ context.Context, p *Program) error {
			for {
				if conn, err := dialTo(context.Background(), p, 0); err == nil {
					conn.Close()
				}
			}
		},
		"it sleeps on its clock for ever": func(_ context.Context, p *Program) error {
			for {
				_ = p.Clock().Sleep(context.Background(), time.Second)
			}
		},
		"it dials nowhere for ever": func(_ context.Context, p *Program) error {
			for {
				_, _ = p.Env().Dial(context.Background(), "tcp", "10.9.9.9:6379")
			}
		},
		"it asks the storage for ever": func(_ context.Context, p *Program) error {
			for {
				_, _ = p.Storage(context.Background(), storage.Request{Op: storage.Read, Object: trace.Object})
			}
		},
		"it reads what never comes": func(_ context.Context, p *Program) error {
			conn, err := dialTo(context.Background(), p, 0)
			if err != nil {
				return err
			}
			for {
				_, _ = hear(conn)
			}
		},
		"a goroutine of it asks for ever": func(ctx context.Context, p *Program) error {
			r := p.Redis(0)
			go func() {
				for {
					_ = r.Ping(context.Background()).Err()
				}
			}()
			<-ctx.Done()
			return nil
		},
		"its step never ends": func(_ context.Context, p *Program) error {
			return p.Step(trace.Work, func() error { return p.Clock().Sleep(context.Background(), time.Hour) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := story(Client{Name: "client-1", Run: run})
			cfg.Horizon = time.Second
			tr := play(t, cfg)
			about(t, "the end", only(t, tr, trace.KindHorizon, "").At, cfg.Horizon)
			about(t, "the last event", tr.End(), cfg.Horizon)
			none(t, tr, trace.KindDone, "client-1")
		})
	}
}

// A paused or crashed client is brought to its end too.
func TestHorizonDuringAPause(t *testing.T) {
	for name, fault := range map[string]Fault{
		"suspend":    at(time.Second, suspended("client-1")),
		"power loss": at(time.Second, crashed("client-1", trace.PowerLoss)),
		"partition":  at(time.Second, &Partition{"client-1", []string{"redis-1"}, ""}),
		"hold":       at(time.Second, &Hold{held("redis-1's reply to client-1")}),
	} {
		t.Run(name, func(t *testing.T) {
			cfg := story(
				Client{Name: "client-1", Run: func(_ context.Context, p *Program) error {
					for {
						_ = p.Redis(0).Set(context.Background(), "k", "v", 0).Err()
						_ = p.Step(trace.Work, func() error { return p.Clock().Sleep(context.Background(), 300*time.Millisecond) })
					}
				}},
				client(t, "client-2", func(ctx context.Context, p *Program) error {
					time.Sleep(4 * time.Second)
					return nil
				}),
			)
			cfg.Horizon = 5 * time.Second
			tr := play(t, with(cfg, fault))
			struck(t, tr)
			if end := tr.End(); end > cfg.Horizon+time.Microsecond {
				t.Errorf("it ended at %v", end)
			}
		})
	}
}

// A world ends when its clients have, and with them what was under way.
func TestEndOfAWorld(t *testing.T) {
	tr := play(t, story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		conn, err := dialTo(ctx, p, 0)
		if err != nil {
			return err
		}
		_, err = conn.Write([]byte("SET k v\r\n"))
		return err
	})))
	about(t, "the key was set", only(t, tr, trace.KindSet, "redis-1").At, 3*hop)
	about(t, "the end", tr.End(), 4*hop)
	for i, ev := range tr.Events {
		same(t, "number of the event", ev.Seq, i+1)
		if i > 0 && ev.At < tr.Events[i-1].At {
			t.Errorf("event %d is at %v, before the one before it", ev.Seq, ev.At)
		}
	}
}

// A client starts at its point.
func TestClientStartsAtItsPoint(t *testing.T) {
	one := client(t, "client-1", func(ctx context.Context, p *Program) error {
		sleepUntil(p, time.Second)
		return p.Redis(0).Set(ctx, "k", "v", 10*time.Second).Err()
	})
	two := client(t, "client-2", func(ctx context.Context, p *Program) error {
		return p.Step(trace.Work, func() error { return nil })
	})
	for _, test := range []struct {
		point string
		at    time.Duration
	}{
		{"client-1 holds redis-1", time.Second + 5*hop},
		{"client-1's keys expired", 11*time.Second + 5*hop},
		{"2s after client-1 finished", 3*time.Second + 6*hop},
		{"redis-1's reply to client-1 arrived", time.Second + 6*hop},
	} {
		two.Starts = point1(test.point)
		tr := play(t, story(one, two))
		about(t, test.point, only(t, tr, trace.KindBegin, "client-2").At, test.at)
	}
}

// busy is a world in which much happens at once: clients with several goroutines,
// timeouts, retries and every kind of fault, and times that coincide.
func busy(network Network, seed uint64) Config {
	worker := func(ctx context.Context, p *Program) error {
		library := libraryClient(p)
		defer library.Close()
		strict := []*redis.Client{p.Redis(0), p.Redis(1), p.Redis(2)}
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				key := fmt.Sprint("k", i)
				for n := range 5 {
					r := strict[i]
					if i == 0 && n%2 == 0 {
						r = library
					}
					ctx, cancel := context.WithTimeout(ctx, 2*time.Millisecond+time.Duration(n)*time.Millisecond)
					_ = r.SetNX(ctx, key, fmt.Sprint(n), 100*time.Millisecond).Err()
					_ = r.Eval(ctx, "return redis.call('incr', KEYS[1])", []string{"n"}).Err()
					cancel()
					time.Sleep(120 * time.Millisecond)
				}
			})
		}
		wg.Go(func() {
			for range 10 {
				_ = p.Clock().Sleep(ctx, 100*time.Millisecond)
				ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				_, _ = p.Storage(ctx, storage.Request{Op: storage.Write, Object: trace.Object, Value: "v"})
				cancel()
			}
		})
		wg.Go(func() {
			// Not while another goroutine dials the same node: which of the two
			// comes first nobody could tell.
			time.Sleep(7 * time.Millisecond)
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_ = library.BLPop(ctx, 0, "list").Err()
		})
		wg.Wait()
		return nil
	}
	cfg := story()
	cfg.Seed, cfg.Network = seed, network
	cfg.Nodes = []Node{
		{Name: "redis-1", Persistence: Everysec},
		{Name: "redis-2", Persistence: Always},
		{Name: "redis-3", Persistence: NoPersistence},
		{Name: "redis-4", Persistence: NoPersistence, ReplicaOf: "redis-1", Lag: 5 * time.Millisecond},
	}
	for i := range 3 {
		cfg.Clients = append(cfg.Clients, Client{Name: fmt.Sprint("client-", i+1), Run: worker})
	}
	const ms = time.Millisecond
	return with(cfg,
		lasting(100*ms, at(100*ms, stopped("client-1"))),
		lasting(70*ms, at(150*ms, suspended("client-2"))),
		lasting(50*ms, at(200*ms, stopped("redis-2"))),
		lasting(100*ms, at(250*ms, crashed("redis-3", trace.PowerLoss))),
		lasting(100*ms, at(300*ms, crashed("redis-2", trace.Kill))),
		lasting(100*ms, at(100*ms, &Partition{"client-3", []string{"redis-1", trace.StorageName}, ""})),
		lasting(200*ms, at(150*ms, &Delay{"client-1", "redis-2", 3 * ms, ""})),
		lasting(100*ms, when("client-2's request to storage is in flight, 3rd time", &Hold{held("client-2's request to storage")})),
		at(350*ms, &Reset{"client-1", "redis-1"}),
		at(400*ms, &Jump{"redis-1", -50 * ms}),
		at(400*ms, &Jump{"redis-2", 50 * ms}),
		at(0, &Drift{"redis-3", 10 * Percent}),
		at(500*ms, crashed("redis-1", trace.PowerLoss)),
		at(500*ms, &Promote{"redis-4"}),
		at(550*ms, crashed("client-3", trace.Kill)),
		lasting(50*ms, at(600*ms, &Fail{"redis-2", ""})),
	)
}

// One configuration, one trace: on any number of threads, and however the
// scheduler is disturbed.
func TestDeterminism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, network := range map[string]Network{
		"latencies that vary":   {Min: 300 * time.Microsecond, Max: 3 * time.Millisecond},
		"latencies that do not": {Min: hop, Max: hop},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := busy(network, 7)
			want := play(t, cfg)
			struck(t, want)
			cfg.Disturb = shake
			for i := range 50 {
				threads := 1 << (i % 3)
				runtime.GOMAXPROCS(threads)
				got := play(t, cfg)
				if got.Hash() == want.Hash() {
					continue
				}
				t.Fatalf("run %d, on %d threads, differs: %s", i+1, threads, trace.FirstDifference(want, got))
			}
		})
	}
}

// Other seeds are other runs, if latencies vary.
func TestSeeds(t *testing.T) {
	hashes := map[string]bool{}
	for seed := range uint64(5) {
		hashes[play(t, busy(Network{Min: 300 * time.Microsecond, Max: 3 * time.Millisecond}, seed)).Hash()] = true
	}
	same(t, "different runs", len(hashes), 5)
}

// Nothing outlives a world: no goroutine, no memory.
func TestNothingOutlivesAWorld(t *testing.T) {
	small := story(
		Client{Name: "client-1", Run: func(ctx context.Context, p *Program) error {
			r := libraryClient(p)
			defer r.Close()
			_ = r.Set(ctx, "k", "v", time.Second).Err()
			return r.Subscribe(ctx, "news").Ping(ctx) // left open
		}},
		Client{Name: "client-2", Run: func(ctx context.Context, p *Program) error {
			return p.Redis(0).BLPop(within(ctx, time.Second), 0, "list").Err()
		}},
		Client{Name: "client-3", Run: func(ctx context.Context, p *Program) error {
			return p.Redis(0).BLPop(ctx, 0, "list").Err()
		}},
	)
	small.Horizon = 3 * time.Second
	small = with(small, at(2*time.Second, crashed("client-3", trace.Kill)))
	use := func() (goroutines int, bytes uint64) {
		for range 5 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond) // a goroutine that has ended is soon gone
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	run := func(n int) {
		for range n {
			play(t, small)
		}
		play(t, busy(Network{Min: hop, Max: hop}, 1))
	}
	run(50) // what packages keep for ever is there now
	goroutines, bytes := use()
	run(300)
	more, grown := use()
	if more > goroutines {
		t.Errorf("%d goroutines have become %d", goroutines, more)
	}
	// A world needs about 200 kB; one word kept of each would not be seen, a
	// world would.
	if grown > bytes+2<<20 {
		t.Errorf("%d bytes have become %d", bytes, grown)
	}
}

// What cannot run is refused, and the error says what is wrong.
func TestBadConfigurations(t *testing.T) {
	one := client(t, "client-1", func(context.Context, *Program) error { return nil })
	for _, test := range []struct {
		want  string
		spoil func(*Config)
	}{
		{"horizon", func(c *Config) { c.Horizon = 0 }},
		{"latencies", func(c *Config) { c.Network.Min = 0 }},
		{"latencies", func(c *Config) { c.Network.Max = hop / 2 }},
		{`"client-1"`, func(c *Config) { c.Clients = append(c.Clients, one) }},
		{`"client-1"`, func(c *Config) { c.Nodes[0].Name = "client-1" }},
		{`"storage"`, func(c *Config) { c.Nodes[0].Name = trace.StorageName }},
		{"no name", func(c *Config) { c.Clients[0].Name = "" }},
		{"no master", func(c *Config) { c.Nodes[0].ReplicaOf = "redis-7" }},
		{"no master", func(c *Config) { c.Nodes[0].ReplicaOf = "redis-1" }},
		{"redis-7", func(c *Config) { *c = with(*c, at(0, stopped("redis-7"))) }},
		{"mode", func(c *Config) { *c = with(*c, at(0, &Pause{"client-1", "freeze"})) }},
		{"name a process", func(c *Config) { *c = with(*c, at(0, stopped(""))) }},
		{"by", func(c *Config) { *c = with(*c, at(0, &Jump{"client-1", 0})) }},
		{"more than a year", func(c *Config) { *c = with(*c, at(0, &Jump{"client-1", -9000 * time.Hour})) }},
		{"rate", func(c *Config) { *c = with(*c, at(0, &Drift{"client-1", 0})) }},
		{"more than 50%", func(c *Config) { *c = with(*c, at(0, &Drift{"client-1", -51 * Percent})) }},
		{"direction", func(c *Config) { *c = with(*c, at(0, &Partition{"client-1", []string{"redis-1"}, "up"})) }},
		{"at least one", func(c *Config) { *c = with(*c, at(0, &Partition{"client-1", nil, ""})) }},
		{"itself", func(c *Config) { *c = with(*c, at(0, &Partition{"client-1", []string{"client-1"}, ""})) }},
		{"twice", func(c *Config) { *c = with(*c, at(0, &Partition{"client-1", []string{"redis-1", "redis-1"}, ""})) }},
		{"positive", func(c *Config) { *c = with(*c, at(0, &Delay{"client-1", "redis-1", -1, ""})) }},
		{"to:", func(c *Config) { *c = with(*c, at(0, &Delay{"client-1", "", 1, ""})) }},
		{"from:", func(c *Config) { *c = with(*c, at(0, &Reset{"client-1", ""})) }},
		{"no message", func(c *Config) { *c = with(*c, at(0, &Hold{})) }},
		{"no client", func(c *Config) { *c = with(*c, at(0, &Hold{held("redis-1's request to storage")})) }},
		{"kill, power-loss, shutdown or failover", func(c *Config) { *c = with(*c, at(0, crashed("redis-1", "burn"))) }},
		{"only the storage has", func(c *Config) { *c = with(*c, at(0, crashed("redis-1", trace.FailOver))) }},
		{"no replica", func(c *Config) { *c = with(*c, at(0, &Promote{"redis-1"})) }},
		{"negative", func(c *Config) { *c = with(*c, lasting(-1, at(0, stopped("redis-1")))) }},
		{"negative", func(c *Config) { *c = with(*c, at(-1, stopped("redis-1"))) }},
	} {
		cfg := story(one)
		test.spoil(&cfg)
		tr, err := Run(cfg)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("the error is %v, want one about %q", err, test.want)
		}
		if tr != nil {
			t.Errorf("%s: there is a trace", test.want)
		}
	}
}
