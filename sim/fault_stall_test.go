package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// stallOf returns the action of a fault that stalls a client's next request of a step.
func stallOf(client string, step trace.Step) *sim.Stall { return &sim.Stall{client, step} }

// askStorage sends one request with a token to the storage, as one step.
func askStorage(ctx context.Context, p *sim.Program, op storage.Op, token uint64) (storage.Response, error) {
	var resp storage.Response
	err := p.Step(trace.Step(op), func() (err error) {
		resp, err = p.Storage(ctx, storage.Request{Op: op, Object: trace.DefaultObject, Token: token, Value: fmt.Sprint(token)})
		return err
	})
	return resp, err
}

// twoHolders returns a world of two holders: client-1, with token 33, writes at 1s, and
// client-2, with token 34, at 2s.
func twoHolders(t *testing.T, policy storage.Policy) sim.Config {
	holder := func(name string, token uint64, at time.Duration) sim.Client {
		return Client(t, name, func(ctx context.Context, p *sim.Program) error {
			if policy == storage.CheckAndSet {
				if _, err := askStorage(ctx, p, storage.Mark, token); err != nil {
					return err
				}
			}
			SleepUntil(at)
			_, err := askStorage(ctx, p, storage.Write, token)
			return err
		})
	}
	cfg := ToyWorld(holder("client-1", 33, time.Second), holder("client-2", 34, 2*time.Second))
	cfg.Storage.Fencing = policy
	return cfg
}

// writeTokens lists the tokens of the writes that the storage has served, in order, such as
// "34 -33". A minus sign marks a refused write.
func writeTokens(tr *trace.Trace) string {
	var tokens []string
	for _, ev := range Events(tr, trace.KindServe, trace.StorageName) {
		switch {
		case ev.Step != trace.Write:
		case ev.OK:
			tokens = append(tokens, fmt.Sprint(ev.Token))
		default:
			tokens = append(tokens, fmt.Sprint("-", ev.Token))
		}
	}
	return strings.Join(tokens, " ")
}

// client-1's write stalls in the storage until client-2's write has been applied. A storage
// that checks and writes in one step then refuses client-1's write. A storage that checks in a
// step of its own has accepted client-1's write before the stall, and applies it.
func TestStallAndThePolicies(t *testing.T) {
	for _, test := range []struct {
		policy           storage.Policy
		without, stalled string // writeTokens without and with the stall
	}{
		{storage.None, "33 34", "34 33"},
		{storage.Writes, "33 34", "34 -33"},
		{storage.ReadsAndWrites, "33 34", "34 -33"},
		{storage.VolatileToken, "33 34", "34 -33"},
		{storage.CheckThenWrite, "33 34", "34 33"},
		{storage.Strict, "33 34", "34 -33"},
		{storage.PerShard, "33 34", "34 -33"},
		{storage.CheckAndSet, "-33 34", "34 -33"}, // refused, because client-2 has set a mark since
		{storage.Unfenceable, "33 34", "34 33"},
	} {
		t.Run(string(test.policy), func(t *testing.T) {
			cfg := twoHolders(t, test.policy)
			without := RunWorld(t, cfg)
			Equal(t, "tokens of the writes without a stall", writeTokens(without), test.without)
			NoEvents(t, without, trace.KindStall, trace.StorageName)

			tr := RunWorld(t, WithFaults(cfg, Until("storage applied client-2's write", At(0, stallOf("client-1", "")))))
			AllFaultsStruck(t, tr)
			Equal(t, "tokens of the writes with the stall", writeTokens(tr), test.stalled)
			stall := OnlyEvent(t, tr, trace.KindStall, trace.StorageName)
			arrives := time.Second + 3*Hop // the client first opens a connection
			if test.policy == storage.CheckAndSet {
				arrives = time.Second + Hop // the mark has already opened the connection
			}
			EqualTime(t, "the stall began", stall.At, arrives)
			Equal(t, "what is stalled", fmt.Sprint(stall.Client(), " ", stall.Step, " ", stall.Object, " ", stall.Token, " fault ", stall.Fault), "client-1 write x 33 fault 1")
			if checks := len(Events(tr, trace.KindCheck, trace.StorageName)); (checks > 0) != (test.policy == storage.CheckThenWrite) {
				t.Errorf("the trace has %d events of the kind check, want some only with check-then-write", checks)
			}
		})
	}
}

// With check-then-write, the check is recorded before the write, and the stall between
// them.
func TestTraceOfCheckThenWrite(t *testing.T) {
	// order lists the checks, stalls and applied writes in order, with their tokens.
	order := func(tr *trace.Trace) string {
		var events []string
		for _, ev := range tr.Events {
			switch ev.Kind {
			case trace.KindCheck, trace.KindStall, trace.KindServe:
				events = append(events, fmt.Sprint(ev.Kind, " ", ev.Token))
			}
		}
		return strings.Join(events, ", ")
	}
	cfg := twoHolders(t, storage.CheckThenWrite)
	tr := RunWorld(t, cfg)
	Equal(t, "events without a stall", order(tr), "check 33, serve 33, check 34, serve 34")
	check, serve := FirstEvent(t, tr, trace.KindCheck, trace.StorageName), FirstEvent(t, tr, trace.KindServe, trace.StorageName)
	Equal(t, "the time between check and write", serve.At-check.At, 0)
	Equal(t, "the event of the first check", fmt.Sprint(check.Client(), " ", check.Step, " ", check.Object, " ", check.OK, check.Text), "client-1 write x true")

	tr = RunWorld(t, WithFaults(cfg, Until("storage applied client-2's write", At(0, stallOf("client-1", trace.Write)))))
	Equal(t, "events with a stall", order(tr), "check 33, stall 33, check 34, serve 34, serve 33")
	for i, ev := range Events(tr, trace.KindServe, trace.StorageName) {
		Equal(t, "the version replaced", ev.Replaced, i)
	}
}

// If a storage checks before it writes, a refused request does not stall: the fault waits
// for the next request that is accepted. It stalls only one request.
func TestStallWaitsForAnAcceptedRequest(t *testing.T) {
	cfg := ToyWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			for i, token := range []uint64{33, 35, 35} {
				SleepUntil(time.Duration(i+2) * time.Second)
				if _, err := askStorage(ctx, p, storage.Write, token); err != nil {
					return err
				}
			}
			return nil
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(time.Second)
			_, err := askStorage(ctx, p, storage.Write, 34)
			return err
		}),
	)
	cfg.Storage.Fencing = storage.CheckThenWrite
	tr := RunWorld(t, WithFaults(cfg, Lasting(5*time.Second, At(0, stallOf("client-1", trace.Write)))))
	AllFaultsStruck(t, tr)
	Equal(t, "tokens of the writes", writeTokens(tr), "34 -33 35 35")
	EqualTime(t, "the stall began", OnlyEvent(t, tr, trace.KindStall, trace.StorageName).At, 3*time.Second+Hop)
	serves := Events(tr, trace.KindServe, trace.StorageName)
	EqualTime(t, "the stalled write was applied", serves[2].At, 8*time.Second+Hop)
	EqualTime(t, "the write after the stalled one was applied", serves[3].At, 8*time.Second+3*Hop)
}

// The fault can also stall reads and marks. A stalled read returns the value that was
// written meanwhile. After a stalled mark, the new holder can no longer write the object.
func TestStallOfAReadAndOfAMark(t *testing.T) {
	t.Run("read", func(t *testing.T) {
		for _, stall := range []bool{false, true} {
			var version int
			cfg := ToyWorld(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					resp, err := askStorage(ctx, p, storage.Read, 33)
					version = resp.Version
					return err
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					SleepUntil(time.Second)
					_, err := askStorage(ctx, p, storage.Write, 34)
					return err
				}),
			)
			if stall {
				cfg = WithFaults(cfg, Until("client-2 finished", At(0, stallOf("client-1", trace.Read))))
			}
			AllFaultsStruck(t, RunWorld(t, cfg))
			Equal(t, fmt.Sprint("stalled ", stall, ": the read returned the version of client-2's write"), version == 1, stall)
		}
	})
	t.Run("mark", func(t *testing.T) {
		cfg := twoHolders(t, storage.CheckAndSet)
		Equal(t, "tokens of the writes without a stall", writeTokens(RunWorld(t, cfg)), "-33 34")
		tr := RunWorld(t, WithFaults(cfg, Until("client-2 marked", At(0, stallOf("client-1", trace.Mark)))))
		AllFaultsStruck(t, tr)
		Equal(t, "tokens of the writes after client-1's mark has stalled", writeTokens(tr), "33 -34")
	})
}

// A stalled write is applied even if its client no longer waits or has crashed, and even
// after all clients are done.
func TestStallOutlivesItsClient(t *testing.T) {
	cfg := ToyWorld(sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error {
		return p.Step(trace.Write, func() error {
			_, err := p.Storage(WithTrueTimeout(ctx, time.Second), storage.Request{Op: storage.Write, Object: trace.DefaultObject, Value: "late"})
			return err
		})
	}})
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		lands  time.Duration // when the write was applied; 0 means never
		idle   string        // the IdleReason of the stall
	}{
		{"no stall", nil, 3 * Hop, ""},
		{"the client gives up", []sim.Fault{Lasting(time.Minute, At(0, stallOf("client-1", "")))}, time.Minute + 3*Hop, ""},
		{"the client crashes", []sim.Fault{
			Lasting(time.Minute, At(0, stallOf("client-1", ""))),
			At(500*time.Millisecond, CrashOf("client-1", trace.Kill)),
		}, time.Minute + 3*Hop, ""},
		{"the stall lasts until the end of the run", []sim.Fault{At(0, stallOf("client-1", ""))}, 0, ""},
		{"the point at which the stall ends is never reached", []sim.Fault{Until("toy-1 crashed", At(0, stallOf("client-1", "")))}, 0, "it did not end, because this moment never came: toy-1 crashed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, WithFaults(cfg, test.faults...))
			if len(test.faults) > 0 {
				Equal(t, "why the stall did not act", tr.Faults[0].IdleReason, test.idle)
			}
			if test.lands == 0 {
				NoEvents(t, tr, trace.KindServe, trace.StorageName)
				return
			}
			EqualTime(t, "the write was applied", OnlyEvent(t, tr, trace.KindServe, trace.StorageName).At, test.lands)
			Equal(t, "the value of the object at the end", OnlyEvent(t, tr, trace.KindObject, trace.StorageName).Value, "late")
		})
	}
}

// A crash of the storage drops the stalled request. The fault ends at the crash, before its
// own end.
func TestCrashEndsAStall(t *testing.T) {
	for _, test := range []struct {
		how   trace.Crash
		err   error         // result of the stalled write
		ended time.Duration // when client-1 gets that result
	}{
		{trace.Kill, syscall.ECONNRESET, 2*time.Second + Hop},
		{trace.Shutdown, syscall.ECONNRESET, 2*time.Second + Hop},
		// The storage lost power, so its kernel sends no reset. The client sends nothing
		// more that could be answered with a reset, so it waits until it gives up.
		{trace.PowerLoss, context.DeadlineExceeded, 6 * time.Second},
		{trace.FailOver, context.DeadlineExceeded, 6 * time.Second},
	} {
		t.Run(string(test.how), func(t *testing.T) {
			var err error
			var ended time.Duration
			cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				SleepUntil(time.Second)
				write := storage.Request{Op: storage.Write, Object: trace.DefaultObject, Value: "v", Token: 33}
				_, err = p.Storage(WithTrueTimeout(ctx, 5*time.Second), write)
				ended = Now()
				SleepUntil(10 * time.Second)
				_, again := p.Storage(ctx, write)
				return again
			}))
			cfg.Storage.Fencing = storage.CheckThenWrite
			tr := RunWorld(t, WithFaults(cfg,
				Lasting(time.Minute, At(0, stallOf("client-1", ""))),
				Lasting(time.Second, At(2*time.Second, CrashOf(trace.StorageName, test.how))),
			))
			AllFaultsStruck(t, tr)
			if !errors.Is(err, test.err) {
				t.Errorf("the write ended with %v, want %v", err, test.err)
			}
			EqualTime(t, "the stalled write ended", ended, test.ended)
			serve := OnlyEvent(t, tr, trace.KindServe, trace.StorageName)
			EqualTime(t, "the only applied write was applied", serve.At, 10*time.Second+3*Hop)
			lifts := Events(tr, trace.KindLift, "")
			if len(lifts) != 2 || lifts[0].Fault != 1 || lifts[1].Fault != 2 {
				t.Fatalf("the ends of faults are %v, want that of fault 1 and then that of fault 2", lifts)
			}
			EqualTime(t, "the stall ended", lifts[0].At, 2*time.Second)
		})
	}
}

// A request whose stall ends while the storage is paused continues when the storage runs
// again.
func TestStallEndsDuringAPause(t *testing.T) {
	tr := RunWorld(t, WithFaults(twoHolders(t, storage.None),
		Lasting(2*time.Second, At(0, stallOf("client-1", ""))),
		Lasting(3*time.Second, At(1500*time.Millisecond, PauseOf(trace.StorageName))),
	))
	AllFaultsStruck(t, tr)
	Equal(t, "tokens of the writes", writeTokens(tr), "34 33") // client-2's write arrived before the stall ended
	for _, ev := range Events(tr, trace.KindServe, trace.StorageName) {
		EqualTime(t, "a write was applied", ev.At, 4500*time.Millisecond)
	}
}

// A fault can strike between the check and the write of check-then-write.
func TestFaultBetweenCheckAndWrite(t *testing.T) {
	const point = "storage checked client-1's write"
	t.Run("pause", func(t *testing.T) {
		tr := RunWorld(t, WithFaults(twoHolders(t, storage.CheckThenWrite), Lasting(5*time.Second, When(point, PauseOf(trace.StorageName)))))
		AllFaultsStruck(t, tr)
		Equal(t, "tokens of the writes", writeTokens(tr), "33 34")
		EqualTime(t, "the first check", FirstEvent(t, tr, trace.KindCheck, trace.StorageName).At, time.Second+3*Hop)
		EqualTime(t, "the first write was applied", FirstEvent(t, tr, trace.KindServe, trace.StorageName).At, 6*time.Second+3*Hop)
	})
	t.Run("crash", func(t *testing.T) {
		cfg := twoHolders(t, storage.CheckThenWrite)
		cfg.Clients[0].Run = func(ctx context.Context, p *sim.Program) error {
			SleepUntil(time.Second)
			_, err := askStorage(ctx, p, storage.Write, 33)
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the write ended with %v, want %v", err, syscall.ECONNRESET)
			}
			return nil
		}
		tr := RunWorld(t, WithFaults(cfg, Lasting(500*time.Millisecond, When(point, CrashOf(trace.StorageName, trace.Kill)))))
		AllFaultsStruck(t, tr)
		Equal(t, "tokens of the writes", writeTokens(tr), "34")
	})
}

// A fault stall that makes no sense in its world is refused with a reason.
func TestStallIsRefused(t *testing.T) {
	topology := sim.Topology{Clients: map[string]bool{"client-1": true}, Nodes: map[string]sim.Node{"toy-1": {}}}
	for _, test := range []struct {
		stall *sim.Stall
		err   string // why the fault is refused; "" if it is allowed
	}{
		{stallOf("client-1", ""), ""},
		{stallOf("client-1", trace.Mark), ""},
		{stallOf("", ""), "stall: name a process"},
		{stallOf("client-9", ""), `stall: there is no process "client-9"; there are client-1, storage, toy-1`},
		{stallOf("toy-1", ""), "stall: toy-1 is not a client; name the client whose request is held up"},
		{stallOf("client-1", trace.Acquire), `step: "acquire" is not a request to the storage; write read, write or mark`},
	} {
		got := ""
		if err := (sim.Fault{Action: test.stall}).Check(topology); err != nil {
			got = err.Error()
		}
		Equal(t, fmt.Sprintf("the error of %+v", *test.stall), got, test.err)
	}
}
