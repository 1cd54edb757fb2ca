package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	_ "github.com/locksim/locksim/libraries/postgres"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// gcPause is a world in which the holder of a lock of the given kind is paused before it
// writes. The leases last 10 s.
func gcPause(t testing.TB, kind string, fencing storage.Policy) sim.Config {
	return GCPauseWorld(t, kind, 10*time.Second, fencing)
}

// TestGCPause checks a holder whose lease expires while the holder is paused. When the holder
// runs again it writes, although it no longer holds the lock.
func TestGCPause(t *testing.T) {
	for fencing, broken := range map[storage.Policy]string{
		storage.None:   "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections",
		storage.Writes: "section-exclusion inherent: needs fencing",
	} {
		tr := RunWorld(t, gcPause(t, "postgres-lease", fencing))
		AllFaultsStruck(t, tr)
		Equal(t, "violated properties with fencing "+string(fencing), Violations(tr), broken)
		NoEvents(t, tr, trace.KindRanOn, "client-1")
		Equal(t, "events of the lease row", KeyHistory(tr, "postgres-1"), "set 1, expire 1, set 11, delete 11")
	}
}

// droppedConnection is a world in which the server drops the holder's connection while the
// holder is paused.
func droppedConnection(t testing.TB, fencing storage.Policy) sim.Config {
	cfg := gcPause(t, "postgres-advisory", fencing)
	return WithFaults(cfg, At(3*time.Second, &sim.Reset{Process: "client-1", From: "postgres-1"}))
}

// TestAdvisoryLockEndsWithTheConnection checks that an advisory lock ends when the holder's
// connection is dropped, and that the holder does not notice that before it releases the
// lock.
func TestAdvisoryLockEndsWithTheConnection(t *testing.T) {
	for fencing, broken := range map[storage.Policy]string{
		storage.None:   "lease-exclusion assumption: network, section-exclusion assumption: network, grant-order, write-order, no-lost-update, serial-sections",
		storage.Writes: "lease-exclusion assumption: network, section-exclusion assumption: network",
	} {
		tr := RunWorld(t, droppedConnection(t, fencing))
		AllFaultsStruck(t, tr)
		Equal(t, "violated properties with fencing "+string(fencing), Violations(tr), broken)
		Equal(t, "result of the holder's release", Events(tr, trace.KindEnd, "client-1")[len(Events(tr, trace.KindEnd, "client-1"))-1].Text, "lock not released: write failed: write tcp postgres-1: broken pipe")
		OnlyEvent(t, tr, trace.KindDrop, "postgres-1")
	}
}

// TestAdvisoryLockOutlivesALongPause checks that an advisory lock does not end while the
// holder is paused, if the holder's connection is not dropped.
func TestAdvisoryLockOutlivesALongPause(t *testing.T) {
	cfg := gcPause(t, "postgres-advisory", storage.None)
	cfg.Faults[0].Until, cfg.Faults[0].For = trace.Point{}, time.Minute
	tr := RunWorld(t, cfg)
	Equal(t, "violated properties", Violations(tr), "")
	Equal(t, "steps of client-1", Steps(tr, "client-1"), "acquire, read x, write x, release")
}

// TestLeaseRows checks the lock of kind postgres-lease, which is a lease row, under faults. It
// also checks the lock without some of its options.
func TestLeaseRows(t *testing.T) {
	// clockToBlame are the violations if the server grants the lock while client-1 holds it.
	const clockToBlame = "lease-exclusion assumption: clock, section-exclusion assumption: clock"
	// The parameters of the following worlds are the options that the lock does not have.

	// client-1 works for 5 s, without faults.
	working := func(without ...string) sim.Config {
		cfg := gcPause(t, "postgres-lease", storage.Writes)
		cfg.Faults, cfg.Lock.Options.Without = nil, without
		cfg.Clients[0].Works = 5 * time.Second
		return cfg
	}
	// client-1 is paused before it writes.
	paused := func(without ...string) sim.Config {
		cfg := gcPause(t, "postgres-lease", storage.Writes)
		cfg.Lock.Options.Without = without
		return cfg
	}
	// client-1 releases its lease late: client-2 already holds the lock, and client-3 waits.
	releasedLate := func(without ...string) sim.Config {
		cfg := gcPause(t, "postgres-lease", storage.Writes)
		cfg.Lock.Options.Without = without
		cfg.Clients[1].Works = 8 * time.Second
		cfg.Clients = append(cfg.Clients, sim.Client{Name: "client-3", Starts: Point("client-2 acquired"), RetryEvery: time.Second})
		cfg.Faults = nil
		return WithFaults(cfg, Until("client-2 read", Before("client-1 release", PauseOf("client-1"))))
	}
	// jump sets the clock of a process forward by 11 s, more than a lease lasts.
	jump := func(process string) sim.Fault {
		return When("client-1 read", &sim.Jump{Process: process, By: 11 * time.Second})
	}
	for _, test := range []struct {
		name string
		cfg  sim.Config
		want string
	}{
		{"no faults", working(), ""},
		{"the server's clock jumps", WithFaults(working(), jump("postgres-1")), clockToBlame},
		{"a client's clock jumps", WithFaults(working(), jump("client-2")), ""},
		{"the server is killed", WithFaults(working(), Lasting(time.Second, When("client-1 read", CrashOf("postgres-1", trace.Kill)))), ""},
		{"a lock that deletes the row on release", paused("keep-row"), "section-exclusion inherent: needs fencing"},
		{"a holder that counts its lease from the reply", paused("count-from-call"), "section-exclusion inherent: needs fencing"},
		{"the holder releases late", releasedLate(), "section-exclusion inherent: needs fencing"},
		{"the holder releases late, by a DELETE that does not check the holder", releasedLate("holder-check"), "lease-exclusion lock, section-exclusion inherent: needs fencing, token-order lock, grant-order, write-order, no-lost-update, serial-sections, release-ownership lock"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, test.cfg)
			AllFaultsStruck(t, tr)
			Equal(t, "violated properties", Violations(tr), test.want)
		})
	}
}

// TestDataInTheTransactionOfTheLock checks a lock that is a row locked by a transaction. If
// the same transaction writes the data, a holder that loses the lock loses its writes with
// it.
func TestDataInTheTransactionOfTheLock(t *testing.T) {
	// client-1 is paused before it writes.
	paused := func(kind string) sim.Config {
		cfg := gcPause(t, kind, storage.None)
		cfg.Lock.TTL = 10 * time.Second
		return cfg
	}
	// The action how strikes while client-1 is paused, so that client-1 loses its connection.
	lost := func(kind string, how sim.Action) sim.Config {
		return WithFaults(paused(kind), Lasting(time.Second, When("client-1 paused", how)))
	}
	reset := &sim.Reset{Process: "client-1", From: "postgres-1"}
	for _, test := range []struct {
		name   string
		cfg    sim.Config
		broken string // the violated properties
		served string // the requests that the storage has executed
	}{
		{"the server ends the idle transaction of the paused holder", paused("postgres-row-timeout"), "section-exclusion inherent: needs fencing", "write x for client-2"},
		{"the holder's connection is dropped", lost("postgres-row", reset), "lease-exclusion assumption: network, section-exclusion assumption: network", "write x for client-2"},
		{"the holder's connection is dropped, and the transaction does not write the data", lost("postgres-row-elsewhere", reset),
			"lease-exclusion assumption: network, section-exclusion assumption: network, grant-order, write-order, no-lost-update, serial-sections",
			"read x for client-1 (1), read x for client-2 (2), write x for client-2 (2), write x for client-1 (1)"},
		{"the server is killed", lost("postgres-row", CrashOf("postgres-1", trace.Kill)), "lease-exclusion assumption: lock memory, section-exclusion assumption: lock memory", "write x for client-2"},
		{"two writes of a transaction are committed together", func() sim.Config {
			cfg := paused("postgres-row")
			cfg.Faults = nil
			cfg.Clients[0].Does = Tasks("read x", "write x", "write y")
			return cfg
		}(), "", "write x for client-1, write y for client-1, read x for client-2, write x for client-2"},
		{"the connection is dropped between two writes: neither is made", func() sim.Config {
			cfg := lost("postgres-row", reset)
			cfg.Clients[0].Does = Tasks("read x", "write x", "write y")
			cfg.Faults[0] = Until("client-2 finished", When("client-1 wrote", PauseOf("client-1")))
			return cfg
		}(), "lease-exclusion assumption: network, section-exclusion assumption: network", "write x for client-2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, test.cfg)
			AllFaultsStruck(t, tr)
			Equal(t, "violated properties", Violations(tr), test.broken)
			Equal(t, "requests that the storage executed", StorageOps(tr), test.served)
		})
	}
}

// TestIdleTransactionWithoutTimeoutIsNotEnded checks that the server does not end an idle
// transaction if no timeout is set.
func TestIdleTransactionWithoutTimeoutIsNotEnded(t *testing.T) {
	cfg := gcPause(t, "postgres-row", storage.None)
	cfg.Clients[1].RetryEvery = time.Second
	cfg.Faults[0].Until, cfg.Faults[0].For = trace.Point{}, time.Minute
	tr := RunWorld(t, cfg)
	Equal(t, "violated properties", Violations(tr), "")
	NoEvents(t, tr, trace.KindDrop, "postgres-1")
}

// TestHandleRefusesToAcquireAdvisoryLockTwice checks that a handle which holds the lock
// refuses to acquire it again. The server would grant the lock to the same connection again
// and count the grants, and one release would not free the lock.
func TestHandleRefusesToAcquireAdvisoryLockTwice(t *testing.T) {
	var again error
	first := sim.Client{Name: "client-1", Run: func(ctx context.Context, p *sim.Program) error {
		in, err := p.Acquire(ctx, p.Lock())
		if err != nil {
			return err
		}
		_, again = p.Acquire(ctx, p.Lock())
		return in.Release(ctx)
	}}
	cfg := SectionsWorld(Lock(t, "postgres-advisory"), first, sim.Client{Name: "client-2", Starts: Point("client-1 released")})
	tr := RunWorld(t, cfg)
	if !errors.Is(again, locks.ErrNotAcquired) || !strings.Contains(again.Error(), "this handle already holds it") {
		t.Errorf("the second acquire of the handle ended with %v, want ErrNotAcquired and \"this handle already holds it\"", again)
	}
	Equal(t, "violated properties", Violations(tr), "")
	Equal(t, "steps of client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
	Equal(t, "events of the lock", KeyHistory(tr, "postgres-1"), "set 1, delete 1, set 1, delete 1")
}
