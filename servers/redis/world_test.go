package redis_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	server "github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// busyWorld returns a world in which many things happen at the same moments: clients have
// several goroutines, timeouts and retries, and most kinds of fault strike.
func busyWorld(network sim.Network, seed uint64) sim.Config {
	worker := func(ctx context.Context, p *sim.Program) error {
		library := libraryClient(p)
		defer library.Close()
		// The world's own clients of three nodes, in addition to the library's client.
		strict := []*redis.Client{locks.RedisClient(p.Env(), 0), locks.RedisClient(p.Env(), 1), locks.RedisClient(p.Env(), 2)}
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
				_, _ = p.Storage(ctx, storage.Request{Op: storage.Write, Object: trace.DefaultObject, Value: "v"})
				cancel()
			}
		})
		wg.Go(func() {
			// Wait until the other goroutine has dialled the same node: if both dialled at
			// once, their order would be unknown.
			time.Sleep(7 * time.Millisecond)
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_ = library.BLPop(ctx, 0, "list").Err()
		})
		wg.Wait()
		return nil
	}
	cfg := redisWorld()
	cfg.Seed, cfg.Network = seed, network
	cfg.Nodes = []sim.Node{
		{Name: "redis-1", System: "redis", Persistence: server.Everysec},
		{Name: "redis-2", System: "redis", Persistence: server.Always},
		{Name: "redis-3", System: "redis", Persistence: sim.NoPersistence},
		{Name: "redis-4", System: "redis", Persistence: sim.NoPersistence, ReplicaOf: "redis-1", Lag: 5 * time.Millisecond},
	}
	for i := range 3 {
		cfg.Clients = append(cfg.Clients, sim.Client{Name: fmt.Sprint("client-", i+1), Run: worker})
	}
	const ms = time.Millisecond
	return WithFaults(cfg,
		Lasting(100*ms, At(100*ms, PauseOf("client-1"))),
		Lasting(70*ms, At(150*ms, SuspensionOf("client-2"))),
		Lasting(50*ms, At(200*ms, PauseOf("redis-2"))),
		Lasting(100*ms, At(250*ms, CrashOf("redis-3", trace.PowerLoss))),
		Lasting(100*ms, At(300*ms, CrashOf("redis-2", trace.Kill))),
		Lasting(100*ms, At(100*ms, &sim.Partition{Process: "client-3", From: []string{"redis-1", trace.StorageName}})),
		Lasting(200*ms, At(150*ms, &sim.Delay{Process: "client-1", To: "redis-2", By: 3 * ms})),
		Lasting(100*ms, When("client-2's request to storage is in flight, 3rd time", &sim.Hold{Message: HeldMessage("client-2's request to storage")})),
		At(350*ms, &sim.Reset{Process: "client-1", From: "redis-1"}),
		At(400*ms, &sim.Jump{Process: "redis-1", By: -50 * ms}),
		At(400*ms, &sim.Jump{Process: "redis-2", By: 50 * ms}),
		At(0, &sim.Drift{Process: "redis-3", Rate: 10 * sim.Percent}),
		At(500*ms, CrashOf("redis-1", trace.PowerLoss)),
		At(500*ms, &sim.Promote{Node: "redis-4"}),
		At(550*ms, CrashOf("client-3", trace.Kill)),
		Lasting(50*ms, At(600*ms, &sim.Fail{Node: "redis-2"})),
	)
}

// Equal worlds have equal traces, on any number of threads and however the scheduler is
// disturbed.
func TestDeterminism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, network := range map[string]sim.Network{
		"random latencies":   {Min: 300 * time.Microsecond, Max: 3 * time.Millisecond},
		"constant latencies": {Min: Hop, Max: Hop},
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
				t.Fatalf("run %d, on %d threads, differs: %s", i+1, threads, trace.FirstDifference(want, got))
			}
		})
	}
}

// When a world has ended, it leaves no goroutines and no memory behind.
func TestNothingOutlivesAWorld(t *testing.T) {
	small := redisWorld(
		sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error {
			r := libraryClient(p)
			defer r.Close()
			_ = r.Set(ctx, "k", "v", time.Second).Err()
			return r.Subscribe(ctx, "news").Ping(ctx) // the subscription is left open
		}},
		sim.Client{Name: "client-2", Run: func(ctx context.Context, p *sim.Program) error {
			return locks.RedisClient(p.Env(), 0).BLPop(WithTrueTimeout(ctx, time.Second), 0, "list").Err()
		}},
		sim.Client{Name: "client-3", Run: func(ctx context.Context, p *sim.Program) error {
			return locks.RedisClient(p.Env(), 0).BLPop(ctx, 0, "list").Err()
		}},
	)
	small.Horizon = 3 * time.Second
	small = WithFaults(small, At(2*time.Second, CrashOf("client-3", trace.Kill)))
	measureUse := func() (goroutines int, bytes uint64) {
		for range 5 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond) // goroutines that have ended need a moment to disappear
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
	run(50) // after this, packages have allocated what they keep forever
	goroutines, bytes := measureUse()
	run(300)
	more, grown := measureUse()
	if more > goroutines {
		t.Errorf("after more worlds there are %d goroutines, want at most %d", more, goroutines)
	}
	// A world needs about 200 kB. The test would notice if whole worlds were kept, but not
	// if a few bytes of each were.
	if grown > bytes+2<<20 {
		t.Errorf("after more worlds %d bytes are in use, want at most 2 MiB more than %d", grown, bytes)
	}
}
