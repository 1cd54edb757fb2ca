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

func gcPause(t testing.TB, kind string, fencing storage.Policy) sim.Config {
	return GCPauseWorld(t, kind, 10*time.Second, fencing)
}

// TestGCPause checks a holder whose lease ends while it is paused. When it runs again it
// writes, although it no longer holds the lock.
func TestGCPause(t *testing.T) {
	for fencing, broken := range map[storage.Policy]string{
		storage.None:   "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections",
		storage.Writes: "section-exclusion inherent: needs fencing",
	} {
		tr := RunWorld(t, gcPause(t, "postgres-lease", fencing))
		AllFaultsStruck(t, tr)
		Equal(t, string(fencing), Violations(tr), broken)
		NoEvents(t, tr, trace.KindRanOn, "client-1")
		Equal(t, "the row", KeyHistory(tr, "postgres-1"), "set 1, expire 1, set 11, delete 11")
	}
}

// droppedConnection is a world in which the server drops the holder's connection while the
// holder is paused.
func droppedConnection(t testing.TB, fencing storage.Policy) sim.Config {
	cfg := gcPause(t, "postgres-advisory", fencing)
	return WithFaults(cfg, At(3*time.Second, &sim.Reset{Process: "client-1", From: "postgres-1"}))
}

// TestAConnectionIsDropped checks that the lock ends with the holder's connection, and that
// the holder does not notice that.
func TestAConnectionIsDropped(t *testing.T) {
	for fencing, broken := range map[storage.Policy]string{
		storage.None:   "lease-exclusion assumption: network, section-exclusion assumption: network, grant-order, write-order, no-lost-update, serial-sections",
		storage.Writes: "lease-exclusion assumption: network, section-exclusion assumption: network",
	} {
		tr := RunWorld(t, droppedConnection(t, fencing))
		AllFaultsStruck(t, tr)
		Equal(t, string(fencing), Violations(tr), broken)
		Equal(t, "released", Events(tr, trace.KindEnd, "client-1")[len(Events(tr, trace.KindEnd, "client-1"))-1].Text, "lock not released: write failed: write tcp postgres-1: broken pipe")
		OnlyEvent(t, tr, trace.KindDrop, "postgres-1")
	}
}

// TestNothingEndsAnAdvisoryLock checks that, if no connection is dropped, a session's lock
// never ends, however long the holder is paused.
func TestNothingEndsAnAdvisoryLock(t *testing.T) {
	cfg := gcPause(t, "postgres-advisory", storage.None)
	cfg.Faults[0].Until, cfg.Faults[0].For = trace.Point{}, time.Minute
	tr := RunWorld(t, cfg)
	Equal(t, "broken", Violations(tr), "")
	Equal(t, "client-1", Steps(tr, "client-1"), "acquire, read x, write x, release")
}

// TestLeaseRows checks the lease row of the reading list under faults, and variants of its
// SQL.
func TestLeaseRows(t *testing.T) {
	const granted = "lease-exclusion assumption: clock, section-exclusion assumption: clock"
	working := func(without ...string) sim.Config {
		cfg := gcPause(t, "postgres-lease", storage.Writes)
		cfg.Faults, cfg.Lock.Options.Without = nil, without
		cfg.Clients[0].Works = 5 * time.Second
		return cfg
	}
	paused := func(without ...string) sim.Config {
		cfg := gcPause(t, "postgres-lease", storage.Writes)
		cfg.Lock.Options.Without = without
		return cfg
	}
	// client-1 releases the lease when client-2 already holds it, while client-3 waits.
	late := func(without ...string) sim.Config {
		cfg := gcPause(t, "postgres-lease", storage.Writes)
		cfg.Lock.Options.Without = without
		cfg.Clients[1].Works = 8 * time.Second
		cfg.Clients = append(cfg.Clients, sim.Client{Name: "client-3", Starts: Point("client-2 acquired"), RetryEvery: time.Second})
		cfg.Faults = nil
		return WithFaults(cfg, Until("client-2 read", Before("client-1 release", PauseOf("client-1"))))
	}
	jump := func(process string) sim.Fault {
		return When("client-1 read", &sim.Jump{Process: process, By: 11 * time.Second})
	}
	for _, test := range []struct {
		name string
		cfg  sim.Config
		want string
	}{
		{"no faults", working(), ""},
		{"the server's clock jumps", WithFaults(working(), jump("postgres-1")), granted},
		{"a client's clock jumps", WithFaults(working(), jump("client-2")), ""},
		{"the server is killed", WithFaults(working(), Lasting(time.Second, When("client-1 read", CrashOf("postgres-1", trace.Kill)))), ""},
		{"released by DELETE", paused("keep-row"), "section-exclusion inherent: needs fencing"},
		{"the holder counts from the answer", paused("count-from-call"), "section-exclusion inherent: needs fencing"},
		{"released late", late(), "section-exclusion inherent: needs fencing"},
		{"released late by DELETE without a holder", late("holder-check"), "lease-exclusion lock, section-exclusion inherent: needs fencing, token-order lock, grant-order, write-order, no-lost-update, serial-sections, release-ownership lock"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, test.cfg)
			AllFaultsStruck(t, tr)
			Equal(t, "broken", Violations(tr), test.want)
		})
	}
}

// TestTheDataIsOfTheTransaction checks a row that is locked by the same transaction that
// writes the data.
func TestTheDataIsOfTheTransaction(t *testing.T) {
	paused := func(kind string) sim.Config {
		cfg := gcPause(t, kind, storage.None)
		cfg.Lock.TTL = 10 * time.Second
		return cfg
	}
	lost := func(kind string, how sim.Action) sim.Config {
		return WithFaults(paused(kind), Lasting(time.Second, When("client-1 paused", how)))
	}
	cut := &sim.Reset{Process: "client-1", From: "postgres-1"}
	for _, test := range []struct {
		name           string
		cfg            sim.Config
		broken, served string
	}{
		{"the server ends the idle session", paused("postgres-row-timeout"), "section-exclusion inherent: needs fencing", "write x for client-2"},
		{"the connection is dropped", lost("postgres-row", cut), "lease-exclusion assumption: network, section-exclusion assumption: network", "write x for client-2"},
		{"the data is elsewhere", lost("postgres-row-elsewhere", cut),
			"lease-exclusion assumption: network, section-exclusion assumption: network, grant-order, write-order, no-lost-update, serial-sections",
			"read x for client-1 (1), read x for client-2 (2), write x for client-2 (2), write x for client-1 (1)"},
		{"the server is killed", lost("postgres-row", CrashOf("postgres-1", trace.Kill)), "lease-exclusion assumption: lock memory, section-exclusion assumption: lock memory", "write x for client-2"},
		{"several writes are one", func() sim.Config {
			cfg := paused("postgres-row")
			cfg.Faults = nil
			cfg.Clients[0].Does = Tasks("read x", "write x", "write y")
			return cfg
		}(), "", "write x for client-1, write y for client-1, read x for client-2, write x for client-2"},
		{"none of several is made without the last", func() sim.Config {
			cfg := lost("postgres-row", cut)
			cfg.Clients[0].Does = Tasks("read x", "write x", "write y")
			cfg.Faults[0] = Until("client-2 finished", When("client-1 wrote", PauseOf("client-1")))
			return cfg
		}(), "lease-exclusion assumption: network, section-exclusion assumption: network", "write x for client-2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, test.cfg)
			AllFaultsStruck(t, tr)
			Equal(t, "broken", Violations(tr), test.broken)
			Equal(t, "served", StorageOps(tr), test.served)
		})
	}
}

// TestNothingEndsAnIdleTransaction checks that the server ends an idle transaction only if
// a timeout is set.
func TestNothingEndsAnIdleTransaction(t *testing.T) {
	cfg := gcPause(t, "postgres-row", storage.None)
	cfg.Clients[1].RetryEvery = time.Second
	cfg.Faults[0].Until, cfg.Faults[0].For = trace.Point{}, time.Minute
	tr := RunWorld(t, cfg)
	Equal(t, "broken", Violations(tr), "")
	NoEvents(t, tr, trace.KindDrop, "postgres-1")
}

// TestAHandleHasAnAdvisoryLockOnce checks that a handle which holds the lock refuses to
// acquire it again. The server would grant the lock to the same connection again and count
// the grants, and one release would not free the lock.
func TestAHandleHasAnAdvisoryLockOnce(t *testing.T) {
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
	if !errors.Is(again, locks.ErrNotAcquired) || !strings.Contains(again.Error(), "this handle has it") {
		t.Errorf("the second acquire of a handle ended with %v", again)
	}
	Equal(t, "broken", Violations(tr), "")
	Equal(t, "client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
	Equal(t, "the lock", KeyHistory(tr, "postgres-1"), "set 1, delete 1, set 1, delete 1")
}
