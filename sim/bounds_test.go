package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// endlessClient returns a client that never stops.
func endlessClient() sim.Client {
	return clientRunning(func(_ context.Context, p *sim.Program) error {
		for p.Clock().Sleep(context.Background(), time.Nanosecond) == nil {
			_ = p.Step(trace.Work, func() error { return nil })
		}
		return nil
	})
}

// clientRunning returns client-1, with f as its program.
func clientRunning(f func(context.Context, *sim.Program) error) sim.Client {
	return sim.Client{Name: "client-1", Run: f}
}

// A world with too many events, or with too much memory, ends with an error that says so.
// It ends at the same event, however its goroutines are scheduled, and its trace contains
// all events up to that.
func TestTooManyEventsOrTooMuchMemory(t *testing.T) {
	long := strings.Repeat("long", 1000)
	writer := clientRunning(func(ctx context.Context, p *sim.Program) error {
		for i := 0; ; i++ {
			if err := Toy(p, 0).Do(ctx, fmt.Sprint("set key-", i, " ", long)); err != nil {
				return err
			}
		}
	})
	// Chance decides which of the goroutines finds no room for its text.
	crowd := clientRunning(func(ctx context.Context, p *sim.Program) error {
		var wg sync.WaitGroup
		for i := range 8 {
			conn, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			wg.Go(func() {
				for range 20 * (i + 1) {
					if _, err := conn.Write([]byte(long)); err != nil {
						break
					}
				}
				_ = conn.Close()
			})
		}
		wg.Wait()
		return p.Sleep(time.Hour)
	})
	for _, c := range []struct {
		name          string
		client        sim.Client
		events, bytes int    // bounds of the world
		is            error  // the error is this one
		want          string // a part of the error
	}{
		{"too many events", endlessClient(), 500, 1 << 30, sim.ErrTooMuch, "too much happens in this world: 501 events by 0s; let clients"},
		{"too many keys", writer, 1_000_000, 4 << 20, sim.ErrTooLarge, " events, and more than 4 MB of memory, by "},
		{"several goroutines write at once", crowd, 1_000_000, 4 << 20, sim.ErrTooLarge, " events, and more than 4 MB of memory, by "},
		{"a line without an end", clientRunning(func(ctx context.Context, p *sim.Program) error {
			conn, err := Dial(ctx, p, 0)
			for err == nil {
				_, err = conn.Write([]byte(long))
			}
			return err
		}), 1_000_000, 4 << 20, sim.ErrTooLarge, " events, and more than 4 MB of memory, by "},
		{"long commands", clientRunning(func(ctx context.Context, p *sim.Program) error {
			for {
				if err := Toy(p, 0).Do(ctx, "get "+long); err != nil {
					return err
				}
			}
		}), 1_000_000, 4 << 20, sim.ErrTooLarge, " events, and more than 4 MB of memory, by "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var first string
			for _, threads := range []int{1, 2, 4} {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
				cfg := ToyWorld(c.client)
				cfg.Horizon = 1000 * time.Hour
				cfg.Disturb = func() {
					for range rand.Intn(3) {
						runtime.Gosched()
					}
				}
				tr, err := sim.RunWithin(cfg, time.Minute, c.events, c.bytes)
				if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("the error is %v, want %v with %q", err, c.is, c.want)
				}
				// If a trace is full, a client did not stop, which is misconduct. If a
				// world is too large, the author of the scenario may be to blame, so it is
				// not misconduct.
				ending := sim.Ending(err)
				if endless := ending != nil && ending.Rule == trace.ConductEndless; endless != (c.is == sim.ErrTooMuch) {
					t.Errorf("the ending is %+v; want the rule %s: %t", ending, trace.ConductEndless, c.is == sim.ErrTooMuch)
				}
				outcome := fmt.Sprintf("%v\n%d events, %s", err, len(tr.Events), tr.Hash())
				if first == "" {
					first = outcome
				}
				if outcome != first {
					t.Errorf("with %d threads the outcome is\n%s\nand with one thread\n%s", threads, outcome, first)
				}
			}
		})
	}
}

// If a world is cut off and also leaves goroutines behind, the error says that it was cut
// off. Otherwise a reader could believe that the trace is complete.
func TestCutOffWithLeak(t *testing.T) {
	cfg := ToyWorld(clientRunning(func(ctx context.Context, p *sim.Program) error {
		go forgotten()
		return endlessClient().Run(ctx, p)
	}))
	cfg.Horizon = 1000 * time.Hour
	if _, err := sim.RunWithin(cfg, time.Minute, 500, 1<<30); !errors.Is(err, sim.ErrTooMuch) {
		t.Errorf("the error is %v, want %v", err, sim.ErrTooMuch)
	}
}

// The memory for which a small world is charged is at least the estimate for its processes
// and its connection, and at most a few times that.
func TestMemoryOfASmallWorld(t *testing.T) {
	cfg := ToyWorld(clientRunning(func(ctx context.Context, p *sim.Program) error {
		return Toy(p, 0).Do(ctx, "set k v")
	}))
	if _, err := sim.RunWithin(cfg, time.Minute, 1000, 1<<30); err != nil {
		t.Fatal(err)
	}
	least, most := 0, 1<<30 // too little memory, and enough
	for least+1 < most {
		bytes := (least + most) / 2
		if _, err := sim.RunWithin(cfg, time.Minute, 1000, bytes); errors.Is(err, sim.ErrTooLarge) {
			least = bytes
		} else {
			most = bytes
		}
	}
	processes := len(cfg.Clients) + len(cfg.Nodes) + 1 // 1 for the storage
	if most < processes*sim.BytesOfProcess+sim.BytesOfConnection || most > 300_000 {
		t.Errorf("a small world is charged for %d bytes, want at least those of %d processes and a connection, and at most 300000", most, processes)
	}
}

// A world that takes too much real time, but still makes progress, is asked to end and
// ends. The error blames no goroutine and says nothing about the lock.
func TestLate(t *testing.T) {
	cfg := ToyWorld(endlessClient())
	cfg.Horizon = 1000 * time.Hour
	tr, err := sim.RunWithin(cfg, time.Second, math.MaxInt, math.MaxInt)
	if !errors.Is(err, sim.ErrLate) || errors.Is(err, sim.ErrTooMuch) || errors.Is(err, sim.ErrStuck) {
		t.Fatalf("the error is %v, want %v", err, sim.ErrLate)
	}
	if text := err.Error(); strings.Contains(text, "goroutine") || !strings.Contains(text, "it was cut off after 1s of real time, at ") {
		t.Errorf("the error is %v, want one that says when the run was cut off, without stacks", err)
	}
	if ending := sim.Ending(err); ending != nil {
		t.Errorf("the ending is %+v, want none", ending)
	}
	if tr == nil || len(tr.Events) == 0 {
		t.Error("got no events, want those until the run was cut off")
	}
}

// The connections of many clients to many nodes would fill the trace before anything
// else happens. CheckSize refuses such a world before it is made.
func TestCheckSize(t *testing.T) {
	crowd := func(clients, nodes int, kind locks.Kind) *sim.Config {
		cfg := &sim.Config{Lock: sim.Lock{Kind: kind, Key: "k", TTL: time.Second}, Nodes: Nodes("toy", nodes)}
		for i := range clients {
			cfg.Clients = append(cfg.Clients, sim.Client{Name: fmt.Sprint("client-", i)})
		}
		return cfg
	}
	for _, c := range []struct {
		cfg  *sim.Config
		want string // the error; "" for none
	}{
		{crowd(198, 101, ToyLock), ""},
		{crowd(1000, 20, ToyLock), ""},
		{crowd(1000, 101, lockOnOneNode()), ""}, // the lock is kept on one of the 101 nodes
		{crowd(1000, 21, ToyLock), "1000 clients would open 21000 connections to nodes, but a world has room for 20000; use fewer clients or fewer nodes"},
		{crowd(1000, 101, ToyLock), "1000 clients would open 101000 connections to nodes, but a world has room for 20000; use fewer clients or fewer nodes"},
	} {
		got := ""
		if err := c.cfg.CheckSize(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d clients on %d nodes: the error is %q, want %q", len(c.cfg.Clients), len(c.cfg.Nodes), got, c.want)
		}
	}
}
