package sim_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// lateWrite returns a world with two holders: client-2 writes with token 34 at 1 s, and
// client-1 writes with the older token 33 at 5 s, over a new connection.
func lateWrite(t *testing.T, policy storage.Policy) sim.Config {
	cfg := ToyWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(5 * time.Second)
			_, err := askStorage(ctx, p, storage.Write, 33)
			return err
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(time.Second)
			_, err := askStorage(ctx, p, storage.Write, 34)
			return err
		}),
	)
	cfg.Storage.Fencing = policy
	return cfg
}

// The storage refuses client-1's write because it knows a higher token. After a crash it
// still knows that token if it keeps tokens on disk with the data, but not if it keeps them
// in memory.
func TestCrashAndTheHighestToken(t *testing.T) {
	for _, test := range []struct {
		policy storage.Policy
		how    trace.Crash // "" means no crash
		writes string      // the writes, as writeTokens lists them
		forgot string      // the token that is lost, and what the storage knows then
	}{
		{storage.Writes, "", "34 -33", ""},
		{storage.Writes, trace.Kill, "34 -33", ""},
		{storage.Writes, trace.PowerLoss, "34 -33", ""},
		{storage.VolatileToken, "", "34 -33", ""},
		{storage.VolatileToken, trace.Kill, "34 33", "token 34, now no token"},
		{storage.VolatileToken, trace.PowerLoss, "34 33", "token 34, now no token"},
		{storage.VolatileToken, trace.Shutdown, "34 33", "token 34, now no token"},
	} {
		t.Run(string(test.policy)+" "+string(test.how), func(t *testing.T) {
			cfg := lateWrite(t, test.policy)
			if test.how != "" {
				cfg = WithFaults(cfg, Lasting(time.Second, At(2*time.Second, CrashOf(trace.StorageName, test.how))))
			}
			tr := RunWorld(t, cfg)
			AllFaultsStruck(t, tr)
			Equal(t, "tokens of the writes", writeTokens(tr), test.writes)
			NoEvents(t, tr, trace.KindRevert, trace.StorageName)
			forgot := ""
			for _, ev := range Events(tr, trace.KindForgetToken, trace.StorageName) {
				forgot += fmt.Sprintf("%stoken %d, now %s", ev.Object, ev.Token, ev.Text)
				EqualTime(t, "the loss was recorded", ev.At, 3*time.Second) // the loss is recorded when the storage runs again
			}
			Equal(t, "lost tokens", forgot, test.forgot)
		})
	}
}

// The copy that takes over has the writes that were applied until CopyLag before the crash
// at 2 s. client-2's write was applied at 1.003 s.
func TestFailOver(t *testing.T) {
	for _, test := range []struct {
		name   string
		policy storage.Policy
		lag    time.Duration // how far the copy is behind
		writes string        // the writes, as writeTokens lists them
		lost   string        // the writes and tokens that are lost, as losses lists them
		ends   string        // the final value of the object
	}{
		{"a copy that is up to date", storage.Writes, 0, "34 -33", "", "34 at version 1"},
		{"a copy that is behind but has the write and its token", storage.Writes, 996 * time.Millisecond, "34 -33", "", "34 at version 1"},
		{"a copy that lacks the write and its token", storage.Writes, 998 * time.Millisecond, "34 33", "x 1 → 0, token 34 → no token", "33 at version 1"},
		{"a copy that is up to date, of a storage that keeps its token in memory", storage.VolatileToken, 0, "34 33", "token 34 → no token", "33 at version 2"},
		{"a copy that lacks the write and its token, with a token for each object", storage.PerShard, time.Minute, "34 33", "x 1 → 0, token 34 of x → no token", "33 at version 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := WithFaults(lateWrite(t, test.policy), Lasting(time.Second, At(2*time.Second, CrashOf(trace.StorageName, trace.FailOver))))
			cfg.Storage.CopyLag = test.lag
			tr := RunWorld(t, cfg)
			AllFaultsStruck(t, tr)
			Equal(t, "the manner of the crash", OnlyEvent(t, tr, trace.KindCrash, trace.StorageName).Text, "failover")
			Equal(t, "tokens of the writes", writeTokens(tr), test.writes)
			Equal(t, "lost writes and tokens", losses(tr), test.lost)
			end := OnlyEvent(t, tr, trace.KindObject, trace.StorageName)
			Equal(t, "the object at the end", fmt.Sprintf("%s at version %d", end.Value, end.Version), test.ends)
		})
	}
}

// losses lists the writes and tokens that the storage has lost.
func losses(tr *trace.Trace) string {
	list := ""
	comma := func() {
		if list != "" {
			list += ", "
		}
	}
	for _, ev := range Events(tr, trace.KindRevert, trace.StorageName) {
		comma()
		list += fmt.Sprintf("%s %d → %d", ev.Object, ev.Replaced, ev.Version)
	}
	for _, ev := range Events(tr, trace.KindForgetToken, trace.StorageName) {
		comma()
		list += fmt.Sprintf("token %d", ev.Token)
		if ev.Object != "" {
			list += " of " + ev.Object
		}
		list += " → " + ev.Text
	}
	return list
}

// If the copy never takes over, the trace records no loss, and the final data is that of
// the storage's disk.
func TestFailOverWithoutEnd(t *testing.T) {
	cfg := lateWrite(t, storage.Writes)
	cfg.Clients = cfg.Clients[1:]
	cfg.Storage.CopyLag = time.Minute
	tr := RunWorld(t, WithFaults(cfg, At(1500*time.Millisecond, CrashOf(trace.StorageName, trace.FailOver))))
	Equal(t, "lost writes and tokens", losses(tr), "")
	Equal(t, "the version at the end", OnlyEvent(t, tr, trace.KindObject, trace.StorageName).Version, 1)
}

// A copy that has taken over can fail too. Its own writes have been copied to the next
// copy.
func TestFailOverOfTheCopy(t *testing.T) {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		for i, token := range []uint64{33, 34, 35} {
			SleepUntil(time.Duration(10*i) * time.Second)
			if _, err := askStorage(WithTrueTimeout(ctx, 5*time.Second), p, storage.Write, token); err != nil {
				// This request fails, because its connection was to the machine that is
				// lost.
				if _, err := askStorage(ctx, p, storage.Write, token); err != nil {
					return err
				}
			}
		}
		SleepUntil(30 * time.Second)
		return nil
	}))
	cfg.Storage = sim.Storage{Fencing: storage.Writes, CopyLag: 3 * time.Second}
	tr := RunWorld(t, WithFaults(cfg,
		Lasting(time.Second, At(2*time.Second, CrashOf(trace.StorageName, trace.FailOver))),
		Lasting(time.Second, At(21*time.Second, CrashOf(trace.StorageName, trace.FailOver))),
	))
	AllFaultsStruck(t, tr)
	Equal(t, "tokens of the writes", writeTokens(tr), "33 34 35")
	// The write with token 33 is lost with the first machine, and the write with token 35
	// with the second.
	Equal(t, "lost writes and tokens", losses(tr), "x 1 → 0, x 2 → 1, token 33 → no token, token 35 → token 34")
	Equal(t, "the object at the end", OnlyEvent(t, tr, trace.KindObject, trace.StorageName).Value, "34")
}

// The storage crashes at 2 s and restarts at 7 s. Three clients see it: one waits for an
// answer, one sends a request while the storage is down, and one has an idle connection.
func TestCrashOfTheStorageAndItsClients(t *testing.T) {
	type outcome struct {
		waits    error         // error of client-1, which waits for an answer
		waited   time.Duration // when this wait ended
		asks     error         // error of client-2, which sends a request at 3 s
		answered time.Duration // when this request ended
		idle     error         // error of client-3, which uses its idle connection at 8 s
		later    time.Duration // when this request ended
	}
	// After a loss of power no client gets a reset from the kernel. The waiting client has
	// nothing in flight, so it waits without a result. The client that dials is connected
	// when the machine runs again. The client that uses its old connection then gets a
	// reset, because the machine does not know the connection.
	silent := outcome{
		context.DeadlineExceeded, 9 * time.Second,
		nil, 7*time.Second + 4*Hop,
		syscall.ECONNRESET, 8*time.Second + 2*Hop,
	}
	// The storage's kernel resets all connections.
	notified := outcome{
		syscall.ECONNRESET, 2*time.Second + Hop,
		syscall.ECONNREFUSED, 3*time.Second + 2*Hop,
		nil, 8*time.Second + 4*Hop,
	}
	for _, test := range []struct {
		how  trace.Crash
		want outcome
	}{{trace.Kill, notified}, {trace.Shutdown, notified}, {trace.PowerLoss, silent}, {trace.FailOver, silent}} {
		t.Run(string(test.how), func(t *testing.T) {
			var got outcome
			read := storage.Request{Op: storage.Read, Object: trace.DefaultObject}
			tr := RunWorld(t, WithFaults(ToyWorld(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					SleepUntil(time.Second)
					_, got.waits = p.Storage(WithTrueTimeout(ctx, 8*time.Second), read)
					got.waited = Now()
					return nil
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					SleepUntil(3 * time.Second)
					_, got.asks = p.Storage(WithTrueTimeout(ctx, 8*time.Second), read)
					got.answered = Now()
					return nil
				}),
				Client(t, "client-3", func(ctx context.Context, p *sim.Program) error {
					if _, err := p.Storage(ctx, read); err != nil {
						return err
					}
					SleepUntil(8 * time.Second)
					_, got.idle = p.Storage(ctx, read)
					got.later = Now()
					return nil
				}),
			),
				At(500*time.Millisecond, stallOf("client-1", trace.Read)),
				Lasting(5*time.Second, At(2*time.Second, CrashOf(trace.StorageName, test.how))),
			))
			AllFaultsStruck(t, tr)
			for _, e := range []struct {
				what      string
				got, want error
			}{{"the wait", got.waits, test.want.waits}, {"the request to a storage that is down", got.asks, test.want.asks}, {"the request on the idle connection", got.idle, test.want.idle}} {
				if !errors.Is(e.got, e.want) || e.want == nil && e.got != nil {
					t.Errorf("%s ended with %v, want %v", e.what, e.got, e.want)
				}
			}
			EqualTime(t, "the wait ended", got.waited, test.want.waited)
			EqualTime(t, "the request to a storage that is down ended", got.answered, test.want.answered)
			EqualTime(t, "the request on the idle connection ended", got.later, test.want.later)
		})
	}
}

// A client without a timeout waits for a machine that has lost power. It never gets an
// answer, even when the machine runs again: it has nothing in flight that the machine could
// answer with a reset.
func TestWaitForARestartedMachine(t *testing.T) {
	for _, how := range []trace.Crash{trace.Kill, trace.PowerLoss} {
		t.Run(string(how), func(t *testing.T) {
			tr := RunWorld(t, WithFaults(ToyWorld(sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error {
				_, err := p.Storage(ctx, storage.Request{Op: storage.Read, Object: trace.DefaultObject})
				return err
			}}),
				At(0, stallOf("client-1", trace.Read)),
				Lasting(time.Second, At(time.Second, CrashOf(trace.StorageName, how))),
			))
			waits := len(Events(tr, trace.KindDone, "client-1")) == 0
			Equal(t, "the client waits until the end of the run", waits, how == trace.PowerLoss)
			Equal(t, "the run was cut off", len(Events(tr, trace.KindHorizon, "")) == 1, how == trace.PowerLoss)
		})
	}
}
