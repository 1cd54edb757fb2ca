package locks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// adapt runs sections of the given lengths, and returns how long the lease after them
// lasts.
func adapt(t *testing.T, l locks.Lock, sections ...time.Duration) time.Duration {
	t.Helper()
	for _, took := range sections {
		lease := acquire(t, l)
		time.Sleep(took)
		// The section may have taken longer than the lease.
		_ = lease.Release(t.Context())
	}
	lease := acquire(t, l)
	defer release(t, lease)
	return timeLeft(t, lease, fakeclock.System())
}

func TestAdaptiveTTL(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name     string
		sections []time.Duration
		want     time.Duration
	}{
		{"no section yet", nil, 30 * s},
		{"three times the longest section", []time.Duration{s, 4 * s, 2 * s}, 12 * s},
		{"never more than the TTL", []time.Duration{11 * s}, 30 * s},
		{"never less than a tenth of a second", []time.Duration{0}, s / 10},
		{"the fifth section from last counts", []time.Duration{5 * s, s, s, s, s}, 15 * s},
		{"the sixth section from last does not count", []time.Duration{5 * s, s, s, s, s, s}, 3 * s},
		{"a section that outlasts its lease counts", []time.Duration{s, 5 * s}, 15 * s},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, c *cluster) {
				if got := adapt(t, c.Client(t, "adaptive-ttl"), test.sections...); got != test.want {
					t.Errorf("after sections of %v the TTL is %v, want %v", test.sections, got, test.want)
				}
			})
		})
	}
}

func TestAdaptiveTTLFloor(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name     string
		expects  time.Duration // the option Expects
		sections []time.Duration
		want     time.Duration
	}{
		{"no section yet", 0, nil, 30 * s},
		{"never less than the TTL", 0, []time.Duration{s, 14 * s}, 30 * s},
		{"twice the average section", 0, []time.Duration{20 * s, 25 * s, 27 * s}, 48 * s},
		{"a section that outlasts its lease counts", 0, []time.Duration{200 * s}, 400 * s},
		{"the fifth section from last counts", 0, []time.Duration{200 * s, s, s, s, s}, 81600 * time.Millisecond},
		{"the sixth section from last does not count", 0, []time.Duration{200 * s, s, s, s, s, s}, 30 * s},
		{"three times the expected section", 20 * s, nil, 60 * s},
		{"never less than the TTL, even if a short section is expected", 5 * s, nil, 30 * s},
		{"the expected section counts, and earlier sections do not", 20 * s, []time.Duration{200 * s}, 60 * s},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, c *cluster) {
				l := c.Client(t, "adaptive-ttl-floor", func(e *locks.Env) { e.Options.Expects = test.expects })
				if got := adapt(t, l, test.sections...); got != test.want {
					t.Errorf("after sections of %v the TTL is %v, want %v", test.sections, got, test.want)
				}
			})
		})
	}
}

// After many quick sections comes a slow one, and another client is granted the lock during
// it.
func TestAdaptiveTTLDoesNotCoverASlowSection(t *testing.T) {
	for _, quick := range []int{0, 5} {
		t.Run(fmt.Sprint(quick, " quick sections before"), func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, c *cluster) {
				l := c.Client(t, "adaptive-ttl")
				for range quick {
					lease := acquire(t, l)
					time.Sleep(200 * time.Millisecond)
					release(t, lease)
				}
				acquire(t, l)
				time.Sleep(5 * time.Second)
				_, err := c.Client(t, "adaptive-ttl").Acquire(t.Context())
				if granted := err == nil; granted != (quick > 0) {
					t.Errorf("after 5s another client was granted the lock: %v (%v), want %v", granted, err, quick > 0)
				}
			})
		})
	}
}

func TestExtensionLastsTheAdaptiveTTL(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "adaptive-ttl")
		adapt(t, l, 2*time.Second)
		lease := acquire(t, l)
		time.Sleep(time.Second)
		if err := extend(t, lease); err != nil {
			t.Fatal(err)
		}
		if got := timeLeft(t, lease, fakeclock.System()); got != 6*time.Second || c.Nodes[0].TTL(key) != got {
			t.Errorf("the extension lasts %v, and the key %v; want 6s", got, c.Nodes[0].TTL(key))
		}
	})
}

// Later sections do not change the length of a lease that was granted before them.
func TestAdaptiveTTLOfAGrantedLeaseDoesNotChange(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		l := c.Client(t, "adaptive-ttl")
		lease := acquire(t, l)
		value, err := c.Nodes[0].Get(key)
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes[0].Del(key)
		adapt(t, l, time.Second)
		if err := c.Nodes[0].Set(key, value); err != nil {
			t.Fatal(err)
		}
		if err := extend(t, lease); err != nil {
			t.Fatal(err)
		}
		if got := timeLeft(t, lease, fakeclock.System()); got != ttl {
			t.Errorf("the extension lasts %v, want %v as the grant", got, ttl)
		}
	})
}

// If the process's machine was suspended, its clock has not counted that time, and the
// section seems short.
func TestAdaptiveTTLIsMeasuredByTheProcesssClock(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		clock := newFake()
		defer clock.Close()
		l := c.Client(t, "adaptive-ttl", withClock("", clock))
		lease := acquire(t, l)
		clock.Suspend()
		time.Sleep(4 * time.Second)
		clock.Resume()
		time.Sleep(time.Second)
		release(t, lease)
		if got := timeLeft(t, acquire(t, l), clock); got != 3*time.Second {
			t.Errorf("the TTL is %v, want 3s: three times the second that the process's clock counted", got)
		}
	})
}
