package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// stalled is a stall of a client's next request of a kind.
func stalled(client string, step trace.Step) *Stall { return &Stall{client, step} }

// asks is a step at the storage with a token.
func asks(ctx context.Context, p *Program, op storage.Op, token uint64) (storage.Response, error) {
	var resp storage.Response
	err := p.Step(trace.Step(op), func() (err error) {
		resp, err = p.Storage(ctx, storage.Request{Op: op, Object: trace.Object, Token: token, Value: fmt.Sprint(token)})
		return err
	})
	return resp, err
}

// holders is a story of two holders: client-1, whose token is 33, writes at 1s,
// and client-2, whose token is 34, at 2s.
func holders(t *testing.T, policy storage.Policy) Config {
	holder := func(name string, token uint64, at time.Duration) Client {
		return client(t, name, func(ctx context.Context, p *Program) error {
			if policy == storage.CheckAndSet {
				if _, err := asks(ctx, p, storage.Mark, token); err != nil {
					return err
				}
			}
			sleepUntil(p, at)
			_, err := asks(ctx, p, storage.Write, token)
			return err
		})
	}
	cfg := story(holder("client-1", 33, time.Second), holder("client-2", 34, 2*time.Second))
	cfg.Storage.Fencing = policy
	return cfg
}

// writes tells what the storage did with writes, in order: "33 34" or "34 -33",
// where it refused the second.
func writes(tr *trace.Trace) string {
	var told []string
	for _, ev := range events(tr, trace.KindServe, trace.StorageName) {
		switch {
		case ev.Step != trace.Write:
		case ev.OK:
			told = append(told, fmt.Sprint(ev.Token))
		default:
			told = append(told, fmt.Sprint("-", ev.Token))
		}
	}
	return strings.Join(told, " ")
}

// client-1's write stands still in the storage until client-2's has been applied.
// A storage that checks and writes at once refuses it then; one that had checked
// it before does not.
func TestStallAndThePolicies(t *testing.T) {
	for _, test := range []struct {
		policy           storage.Policy
		without, stalled string
	}{
		{storage.None, "33 34", "34 33"},
		{storage.Writes, "33 34", "34 -33"},
		{storage.ReadsAndWrites, "33 34", "34 -33"},
		{storage.VolatileToken, "33 34", "34 -33"},
		{storage.CheckThenWrite, "33 34", "34 33"},
		{storage.Strict, "33 34", "34 -33"},
		{storage.PerShard, "33 34", "34 -33"},
		{storage.CheckAndSet, "-33 34", "34 -33"}, // client-2 has marked since
		{storage.Unfenceable, "33 34", "34 33"},
	} {
		t.Run(string(test.policy), func(t *testing.T) {
			cfg := holders(t, test.policy)
			without := play(t, cfg)
			same(t, "without a stall", writes(without), test.without)
			none(t, without, trace.KindStall, trace.StorageName)

			tr := play(t, with(cfg, until("storage applied client-2's write", at(0, stalled("client-1", "")))))
			struck(t, tr)
			same(t, "with the stall", writes(tr), test.stalled)
			stall := only(t, tr, trace.KindStall, trace.StorageName)
			arrives := time.Second + 3*hop // the connection is opened first
			if test.policy == storage.CheckAndSet {
				arrives = time.Second + hop // which the mark has done
			}
			about(t, "the stall", stall.At, arrives)
			same(t, "what is stalled", fmt.Sprint(stall.Client(), " ", stall.Step, " ", stall.Object, " ", stall.Token, " fault ", stall.Fault), "client-1 write x 33 fault 1")
			if checks := len(events(tr, trace.KindCheck, trace.StorageName)); (checks > 0) != (test.policy == storage.CheckThenWrite) {
				t.Errorf("%d checks of their own", checks)
			}
		})
	}
}

// The check of check-then-write is told before the write, and with its stall in
// between.
func TestCheckThenWriteIsTold(t *testing.T) {
	order := func(tr *trace.Trace) string {
		var told []string
		for _, ev := range tr.Events {
			switch ev.Kind {
			case trace.KindCheck, trace.KindStall, trace.KindServe:
				told = append(told, fmt.Sprint(ev.Kind, " ", ev.Token))
			}
		}
		return strings.Join(told, ", ")
	}
	cfg := holders(t, storage.CheckThenWrite)
	tr := play(t, cfg)
	same(t, "without a stall", order(tr), "check 33, serve 33, check 34, serve 34")
	check, serve := first(t, tr, trace.KindCheck, trace.StorageName), first(t, tr, trace.KindServe, trace.StorageName)
	same(t, "the time between check and write", serve.At-check.At, 0)
	same(t, "the check", fmt.Sprint(check.Client(), " ", check.Step, " ", check.Object, " ", check.OK, check.Text), "client-1 write x true")

	tr = play(t, with(cfg, until("storage applied client-2's write", at(0, stalled("client-1", trace.Write)))))
	same(t, "with one", order(tr), "check 33, stall 33, check 34, serve 34, serve 33")
	for i, ev := range events(tr, trace.KindServe, trace.StorageName) {
		same(t, "the version replaced", ev.Replaced, i)
	}
}

// What the check refuses never gets to where it would be stalled, and a stall
// strikes once.
func TestStallTakesTheNextThatPasses(t *testing.T) {
	cfg := story(
		client(t, "client-1", func(ctx context.Context, p *Program) error {
			for i, token := range []uint64{33, 35, 35} {
				sleepUntil(p, time.Duration(i+2)*time.Second)
				if _, err := asks(ctx, p, storage.Write, token); err != nil {
					return err
				}
			}
			return nil
		}),
		client(t, "client-2", func(ctx context.Context, p *Program) error {
			sleepUntil(p, time.Second)
			_, err := asks(ctx, p, storage.Write, 34)
			return err
		}),
	)
	cfg.Storage.Fencing = storage.CheckThenWrite
	tr := play(t, with(cfg, lasting(5*time.Second, at(0, stalled("client-1", trace.Write)))))
	struck(t, tr)
	same(t, "writes", writes(tr), "34 -33 35 35")
	about(t, "the stall", only(t, tr, trace.KindStall, trace.StorageName).At, 3*time.Second+hop)
	serves := events(tr, trace.KindServe, trace.StorageName)
	about(t, "the stalled write", serves[2].At, 8*time.Second+hop)
	about(t, "the next", serves[3].At, 8*time.Second+3*hop)
}

// Reads and marks can be stalled too: the read sees what was written meanwhile,
// and the late mark takes the object from its new holder.
func TestStallOfAReadAndOfAMark(t *testing.T) {
	t.Run("read", func(t *testing.T) {
		for _, stall := range []bool{false, true} {
			var version int
			cfg := story(
				client(t, "client-1", func(ctx context.Context, p *Program) error {
					resp, err := asks(ctx, p, storage.Read, 33)
					version = resp.Version
					return err
				}),
				client(t, "client-2", func(ctx context.Context, p *Program) error {
					sleepUntil(p, time.Second)
					_, err := asks(ctx, p, storage.Write, 34)
					return err
				}),
			)
			if stall {
				cfg = with(cfg, until("client-2 finished", at(0, stalled("client-1", trace.Read))))
			}
			struck(t, play(t, cfg))
			same(t, fmt.Sprint("stalled ", stall, ": the version read"), version == 1, stall)
		}
	})
	t.Run("mark", func(t *testing.T) {
		cfg := holders(t, storage.CheckAndSet)
		same(t, "marks in order", writes(play(t, cfg)), "-33 34")
		tr := play(t, with(cfg, until("client-2 marked", at(0, stalled("client-1", trace.Mark)))))
		struck(t, tr)
		same(t, "client-1's mark is late", writes(tr), "33 -34")
	})
}

// A client that no longer waits, or has crashed, does not take its stalled write
// back: it lands, even after everybody is done.
func TestStallOutlivesItsClient(t *testing.T) {
	cfg := story(Client{Name: "client-1", Run: func(ctx context.Context, p *Program) error {
		return p.Step(trace.Write, func() error {
			_, err := p.Storage(within(ctx, time.Second), storage.Request{Op: storage.Write, Object: trace.Object, Value: "late"})
			return err
		})
	}})
	for _, test := range []struct {
		name   string
		faults []Fault
		lands  time.Duration // 0 is never
		idle   string
	}{
		{"no stall", nil, 3 * hop, ""},
		{"it gives up", []Fault{lasting(time.Minute, at(0, stalled("client-1", "")))}, time.Minute + 3*hop, ""},
		{"it crashes", []Fault{
			lasting(time.Minute, at(0, stalled("client-1", ""))),
			at(500*time.Millisecond, crashed("client-1", trace.Kill)),
		}, time.Minute + 3*hop, ""},
		{"for good", []Fault{at(0, stalled("client-1", ""))}, 0, ""},
		{"until what never happens", []Fault{until("redis-1 crashed", at(0, stalled("client-1", "")))}, 0, "its end never came: redis-1 crashed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := play(t, with(cfg, test.faults...))
			if len(test.faults) > 0 {
				same(t, "idle", tr.Faults[0].Idle, test.idle)
			}
			if test.lands == 0 {
				none(t, tr, trace.KindServe, trace.StorageName)
				return
			}
			about(t, "it lands", only(t, tr, trace.KindServe, trace.StorageName).At, test.lands)
			same(t, "the object", only(t, tr, trace.KindObject, trace.StorageName).Value, "late")
		})
	}
}

// The stalled thread dies with the storage, and the request with it. The stall is
// over then, not when it would have been.
func TestCrashEndsAStall(t *testing.T) {
	for _, test := range []struct {
		how  trace.Crash
		err  error
		told time.Duration
	}{
		{trace.Kill, syscall.ECONNRESET, 2*time.Second + hop},
		{trace.Shutdown, syscall.ECONNRESET, 2*time.Second + hop},
		// Nobody is told, and the client has nothing more to send that could be
		// answered with a reset: it waits until it gives up.
		{trace.PowerLoss, errGaveUp, 6 * time.Second},
		{trace.FailOver, errGaveUp, 6 * time.Second},
	} {
		t.Run(string(test.how), func(t *testing.T) {
			var err error
			var told time.Duration
			cfg := story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				sleepUntil(p, time.Second)
				write := storage.Request{Op: storage.Write, Object: trace.Object, Value: "v", Token: 33}
				_, err = p.Storage(within(ctx, 5*time.Second), write)
				told = now(p)
				sleepUntil(p, 10*time.Second)
				_, again := p.Storage(ctx, write)
				return again
			}))
			cfg.Storage.Fencing = storage.CheckThenWrite
			tr := play(t, with(cfg,
				lasting(time.Minute, at(0, stalled("client-1", ""))),
				lasting(time.Second, at(2*time.Second, crashed(trace.StorageName, test.how))),
			))
			struck(t, tr)
			if !errors.Is(err, test.err) {
				t.Errorf("the write ended with %v, want %v", err, test.err)
			}
			about(t, "it ended", told, test.told)
			serve := only(t, tr, trace.KindServe, trace.StorageName)
			about(t, "the only write that is applied", serve.At, 10*time.Second+3*hop)
			lifts := events(tr, trace.KindLift, "")
			if len(lifts) != 2 || lifts[0].Fault != 1 || lifts[1].Fault != 2 {
				t.Fatalf("faults end: %v", lifts)
			}
			about(t, "the stall is over", lifts[0].At, 2*time.Second)
		})
	}
}

// A request whose stall ends while the storage is paused goes on when that runs
// again.
func TestStallEndsDuringAPause(t *testing.T) {
	tr := play(t, with(holders(t, storage.None),
		lasting(2*time.Second, at(0, stalled("client-1", ""))),
		lasting(3*time.Second, at(1500*time.Millisecond, stopped(trace.StorageName))),
	))
	struck(t, tr)
	same(t, "writes", writes(tr), "34 33") // client-2's arrived before the stall was over
	for _, ev := range events(tr, trace.KindServe, trace.StorageName) {
		about(t, "a write", ev.At, 4500*time.Millisecond)
	}
}

// A fault can strike between the check and the write of check-then-write.
func TestFaultBetweenCheckAndWrite(t *testing.T) {
	const point = "storage checked client-1's write"
	t.Run("pause", func(t *testing.T) {
		tr := play(t, with(holders(t, storage.CheckThenWrite), lasting(5*time.Second, when(point, stopped(trace.StorageName)))))
		struck(t, tr)
		same(t, "writes", writes(tr), "33 34")
		about(t, "the check", first(t, tr, trace.KindCheck, trace.StorageName).At, time.Second+3*hop)
		about(t, "the write", first(t, tr, trace.KindServe, trace.StorageName).At, 6*time.Second+3*hop)
	})
	t.Run("crash", func(t *testing.T) {
		cfg := holders(t, storage.CheckThenWrite)
		cfg.Clients[0].Run = func(ctx context.Context, p *Program) error {
			sleepUntil(p, time.Second)
			_, err := asks(ctx, p, storage.Write, 33)
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the write ended with %v", err)
			}
			return nil
		}
		tr := play(t, with(cfg, lasting(500*time.Millisecond, when(point, crashed(trace.StorageName, trace.Kill)))))
		struck(t, tr)
		same(t, "writes", writes(tr), "34")
	})
}

func TestStallThatMakesNoSense(t *testing.T) {
	topology := Topology{Clients: map[string]bool{"client-1": true}, Nodes: map[string]Node{"redis-1": {}}}
	for _, test := range []struct {
		stall *Stall
		err   string
	}{
		{stalled("client-1", ""), ""},
		{stalled("client-1", trace.Mark), ""},
		{stalled("", ""), "stall: name a process"},
		{stalled("client-9", ""), `stall: there is no process "client-9"; there are client-1, redis-1, storage`},
		{stalled("redis-1", ""), "stall: redis-1 is no client; name the client whose request is held up"},
		{stalled("client-1", trace.Acquire), `step: "acquire" is no request to the storage; write read, write or mark`},
	} {
		told := ""
		if err := test.stall.Check(topology); err != nil {
			told = err.Error()
		}
		same(t, fmt.Sprintf("%+v", *test.stall), told, test.err)
	}
}
