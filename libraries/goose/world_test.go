package goose_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"

	_ "github.com/locksim/locksim/libraries/goose"
)

// world is a world in which clients go through their sections.
func world(t testing.TB, kind string, clients ...sim.Client) sim.Config {
	cfg := SectionsWorld(Lock(t, kind), clients...)
	cfg.Nodes = Nodes("postgres", 1)
	cfg.Lock.TTL = 10 * time.Second
	cfg.Network = sim.Network{Min: 200 * time.Microsecond, Max: time.Millisecond}
	return cfg
}

// gcPause is a world in which the holder is paused. The second client tries to acquire once
// a second.
func gcPause(t testing.TB, kind string, fencing storage.Policy) sim.Config {
	cfg := GCPauseWorld(t, kind, 10*time.Second, fencing)
	cfg.Clients[1].RetryEvery = time.Second
	return cfg
}

// TestGCPause checks a holder whose lease ends while it is paused. When it runs again it
// writes, although it no longer holds the lock.
func TestGCPause(t *testing.T) {
	tr := RunWorld(t, gcPause(t, "goose-table", storage.None))
	AllFaultsStruck(t, tr)
	Equal(t, "violations", Violations(tr), "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections")
	NoEvents(t, tr, trace.KindRanOn, "client-1")
	Equal(t, "the changes of the row", KeyHistory(tr, "postgres-1"), "set 1, expire 1, set 11, delete 11")
}

// contended is a world in which client-1 works for a while, and client-2 tries to acquire
// once a second.
func contended(t testing.TB, works time.Duration, without ...string) sim.Config {
	cfg := world(t, "goose-table",
		sim.Client{Name: "client-1", Works: works},
		sim.Client{Name: "client-2", Starts: Point("client-1 acquired"), RetryEvery: time.Second})
	cfg.Lock.Options.Without = without
	return cfg
}

// TestTheHeartbeatHasTheContextOfTheAttempt checks that heartbeats last as long as the
// context of Lock. If the context ends with the attempt, so do the heartbeats, without any
// fault.
func TestTheHeartbeatHasTheContextOfTheAttempt(t *testing.T) {
	const alone, shared = "", "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections"
	for _, test := range []struct {
		name    string
		works   time.Duration
		without []string
		want    string
	}{
		{"the context of Lock outlasts the attempt", 35 * time.Second, nil, alone},
		{"the context of Lock ends with the attempt", 15 * time.Second, []string{"lasting-context"}, shared},
		{"the context of Lock ends with the attempt, and the work takes less than a lease", 8 * time.Second, []string{"lasting-context"}, alone},
	} {
		t.Run(test.name, func(t *testing.T) {
			Equal(t, "violations", Violations(RunWorld(t, contended(t, test.works, test.without...))), test.want)
		})
	}
}

// TestALeaseIsInWholeSeconds checks that fractions of a second of a lease are cut off.
func TestALeaseIsInWholeSeconds(t *testing.T) {
	for ttl, ends := range map[time.Duration]time.Duration{1900 * time.Millisecond: time.Second, 2 * time.Second: 2 * time.Second} {
		cfg := world(t, "goose-table", sim.Client{Name: "client-1", Works: 100 * time.Millisecond})
		cfg.Lock.TTL = ttl
		tr := RunWorld(t, cfg)
		Equal(t, "the lease of "+ttl.String(), Events(tr, trace.KindSet, "postgres-1")[0].TTL.Round(time.Millisecond), ends)
	}
}

// TestLeaseOfHalfASecondIsZero checks that a lease of half a second is cut off to zero,
// and every client acquires the lock.
func TestLeaseOfHalfASecondIsZero(t *testing.T) {
	for ttl, broken := range map[time.Duration]string{
		500 * time.Millisecond: "lease-exclusion lock, section-exclusion lock, grant-order, write-order, no-lost-update, serial-sections",
		time.Second:            "",
	} {
		cfg := world(t, "goose-table",
			sim.Client{Name: "client-1", WorksUntil: Point("client-2 released")},
			sim.Client{Name: "client-2", Starts: Point("client-1 acquired")})
		cfg.Lock.TTL = ttl
		if ttl >= time.Second {
			cfg.Clients[0].Works, cfg.Clients[0].WorksUntil = 3*time.Second, trace.Point{}
		}
		Equal(t, "violations with a TTL of "+ttl.String(), Violations(RunWorld(t, cfg)), broken)
	}
}

// TestAHeartbeatRevivesALease checks that a heartbeat renews a lease that has ended, if no
// other client has acquired the lock.
func TestAHeartbeatRevivesALease(t *testing.T) {
	cfg := world(t, "goose-table", sim.Client{Name: "client-1", Works: 5 * time.Second})
	cfg = WithFaults(cfg, Lasting(12*time.Second, When("client-1 read", PauseOf("client-1"))))
	tr := RunWorld(t, cfg)
	Equal(t, "violations", Violations(tr), "")
	Equal(t, "the changes of the row", KeyHistory(tr, "postgres-1"), "set 1, expire 1, set 1, touch 1, touch 1, touch 1, touch 1, delete 1")
}

// TestAnUnlockThatComesLateTakesAMinute checks a client that tries to unlock another
// client's lock. The error is retried 30 times, so by the library's defaults the client
// learns of it only after a minute.
func TestAnUnlockThatComesLateTakesAMinute(t *testing.T) {
	// lateRelease returns how long client-1's release takes.
	lateRelease := func(without ...string) time.Duration {
		cfg := gcPause(t, "goose-table", storage.None)
		cfg.Lock.Options.Without = without
		tr := RunWorld(t, cfg)
		AllFaultsStruck(t, tr)
		var took time.Duration
		for _, ev := range tr.Events {
			if ev.Process == "client-1" && ev.Step == trace.Release {
				switch ev.Kind {
				case trace.KindBegin:
					took = -ev.At
				case trace.KindEnd:
					took += ev.At
				}
			}
		}
		return took
	}
	if took := lateRelease(); took > time.Second {
		t.Errorf("with one try the release takes %v, want at most 1s", took)
	}
	if took := lateRelease("one-try"); took < 45*time.Second || took > 75*time.Second {
		t.Errorf("with the library's own tries the release takes %v, want about a minute", took)
	}
}

// TestTheTriesOfALockerAreUsedUp checks that the library counts its tries over the life of
// a locker. A locker that has often waited no longer waits. client-2 waits for 300 seconds
// the first time, and not at all the third time.
func TestTheTriesOfALockerAreUsedUp(t *testing.T) {
	waits := func(without ...string) (waited []time.Duration) {
		asks := sim.Client{Name: "client-2", Starts: Point("client-1 acquired"), Run: func(ctx context.Context, p *sim.Program) error {
			for range 3 {
				began := p.Clock().Now()
				in, err := p.Acquire(ctx, p.Lock())
				waited = append(waited, p.Clock().Now().Sub(began).Round(time.Minute))
				if err == nil {
					return errors.Join(errors.New("client-2 got the lock"), in.Release(ctx))
				}
			}
			return nil
		}}
		cfg := world(t, "goose-table", sim.Client{Name: "client-1", Works: 1000 * time.Second}, asks)
		cfg.Lock.TTL = 60 * time.Second
		cfg.Horizon = 2000 * time.Second
		cfg.Lock.Options.Without = without
		RunWorld(t, cfg)
		return waited
	}
	Equal(t, "the waits with one locker", fmt.Sprint(waits("one-try", "own-handle")), "[5m0s 0s 0s]")
	Equal(t, "the waits with a locker for each attempt", fmt.Sprint(waits("one-try")), "[5m0s 5m0s 5m0s]")
}
