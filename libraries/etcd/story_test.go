package etcd_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

const (
	inherent = "section-exclusion inherent: needs fencing"
	damage   = ", grant-order, write-order, no-lost-update, serial-sections"
)

// Each lock is tested in the scenario for which it exists: which properties are violated,
// without and with fencing tokens. client-1 acquires the lock, and then client-2 asks for
// it.
func TestStories(t *testing.T) {
	paused := Until("client-2 finished", Before("client-1 write", PauseOf("client-1")))
	// The partition lasts so long that a session expires while client-1 works.
	cutOff := Lasting(20*time.Second, At(time.Second, &sim.Partition{Process: "client-2", From: []string{"etcd-1"}}))
	for _, c := range []struct {
		what          string
		kind          string
		lacks         string // the option that is off
		faults        []sim.Fault
		works         time.Duration // how long client-1 works
		together      bool          // both clients ask at the same time
		third         bool          // client-3 asks after client-1 has released, and works for the same time
		without, with string        // the violations without and with fencing tokens
	}{
		{what: "a pause", kind: "etcd", faults: []sim.Fault{paused}, without: inherent + damage, with: inherent},
		{what: "a pause", kind: "etcd-trylock", faults: []sim.Fault{paused}, without: inherent + damage, with: inherent},
		{what: "a pause", kind: "etcd-election", faults: []sim.Fault{paused}, without: inherent + damage, with: inherent},
		{what: "a pause, and tokens that are all 1", kind: "etcd", lacks: "revision-token", faults: []sim.Fault{paused},
			without: inherent + ", token-order lock" + damage, with: inherent + ", token-order lock" + damage},

		{what: "a pause, and tokens that count what one leader proclaims", kind: "etcd-election-version", faults: []sim.Fault{paused},
			without: inherent + ", token-order lock" + damage, with: inherent + ", token-order lock" + damage},
		{what: "work that takes longer than the TTL", kind: "etcd", works: 25 * time.Second},
		{what: "the waiter loses its session", kind: "etcd", faults: []sim.Fault{cutOff}, works: 15 * time.Second},
		{what: "the waiter loses its session, and does not check its key", kind: "etcd-no-recheck", faults: []sim.Fault{cutOff}, works: 15 * time.Second,
			without: "progress lock", with: "progress lock"}, // the holder is notified of the loss, and stops
		{what: "the waiter loses its session, and client-3 holds the lock", kind: "etcd-no-recheck", faults: []sim.Fault{cutOff}, works: 15 * time.Second, third: true,
			without: "section-exclusion lock, token-order lock, grant-order, progress lock", with: "section-exclusion lock, token-order lock, grant-order, progress lock"},
		{what: "the waiter loses its session, and client-3 holds the lock", kind: "etcd", faults: []sim.Fault{cutOff}, works: 15 * time.Second, third: true},
		{what: "the waiter loses its session, and opens no new one", kind: "etcd", lacks: "new-session", faults: []sim.Fault{cutOff}, works: 15 * time.Second,
			without: "progress lock", with: "progress lock"},

		{what: "no fault", kind: "etcd-ask-owner", works: time.Second,
			without: "lease-exclusion lock, section-exclusion lock" + damage, with: "lease-exclusion lock, section-exclusion lock"},
		{what: "no fault", kind: "etcd-put-recipe", works: time.Second,
			without: "lease-exclusion lock, section-exclusion lock, token-order lock" + damage + ", release-ownership lock, release-answer lock",
			with:    "lease-exclusion lock, section-exclusion lock, token-order lock" + damage + ", release-ownership lock, release-answer lock"},
		{what: "no fault", kind: "etcd-put-recipe-mod", works: time.Second,
			without: "lease-exclusion lock, section-exclusion lock" + damage + ", release-ownership lock, release-answer lock",
			with:    "lease-exclusion lock, section-exclusion lock, release-ownership lock, release-answer lock"},
		{what: "no fault", kind: "etcd-look-then-put", works: time.Second},
		{what: "both clients ask at the same time", kind: "etcd-look-then-put", works: time.Second, together: true,
			without: "lease-exclusion lock, section-exclusion lock" + damage + ", release-ownership lock, release-answer lock", with: "lease-exclusion lock, section-exclusion lock, release-ownership lock, release-answer lock"},
		{what: "both clients ask at the same time", kind: "etcd", works: time.Second, together: true},
	} {
		t.Run(c.kind+": "+c.what, func(t *testing.T) {
			for policy, want := range map[storage.Policy]string{storage.None: c.without, storage.Writes: c.with} {
				cfg := gcPause(t, c.kind, 1)
				if c.lacks != "" {
					cfg.Lock.Options.Without = []string{c.lacks}
				}
				cfg.Faults = c.faults
				cfg.Clients[0].Works = c.works
				if c.together {
					cfg.Clients[1].Starts = trace.Point{}
				}
				if c.third {
					cfg.Clients = append(cfg.Clients, sim.Client{Name: "client-3", RetryEvery: time.Second, Starts: Point("client-1 released"), Works: c.works})
				}
				cfg.Storage.Fencing = policy
				tr := RunWorld(t, cfg)
				AllFaultsStruck(t, tr)
				Equal(t, "doubts", strings.Join(tr.Doubts, "; "), "")
				Equal(t, "violations with the storage "+string(policy), Violations(tr), want)
			}
		})
	}
}

// Two handles of a process that share a session have one key, so both hold the lock.
func TestTwoHandlesOnOneSession(t *testing.T) {
	for feature, want := range map[string]bool{"loss-signal": false, "session-per-handle": true} {
		cfg := gcPause(t, "etcd", 1)
		cfg.Lock.Options.Without = []string{feature}
		cfg.Faults = nil
		cfg.Clients = []sim.Client{Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			first, err := p.Acquire(ctx, p.Lock())
			if err != nil {
				return err
			}
			other, err := p.NewLock()
			if err != nil {
				return err
			}
			second, err := p.Acquire(WithTrueTimeout(ctx, time.Second), other)
			Equal(t, "without "+feature+": the second handle has the lock too", err == nil, want)
			switch {
			case err == nil:
				err = second.Release(ctx)
			case errors.Is(err, context.DeadlineExceeded):
				err = nil
			}
			return errors.Join(err, first.Release(ctx))
		})}
		var tokens []uint64
		for _, ev := range RunWorld(t, cfg).Events {
			if ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK {
				tokens = append(tokens, ev.Token)
			}
		}
		if same := len(tokens) == 2 && tokens[0] == tokens[1]; same != want {
			t.Errorf("without %s: the tokens are %d; want two equal ones: %v", feature, tokens, want)
		}
	}
}
