package sim_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// The simulator relies on testing/synctest outside a test: time is virtual, and goroutines
// that remain cause a panic. This test fails if a Go release changes that.
func TestBubble(t *testing.T) {
	t.Run("time is virtual", func(t *testing.T) {
		real := time.Now()
		var passed time.Duration
		err := sim.InBubble(time.Minute, new(sim.Watchdog), func() {
			began := time.Now()
			time.Sleep(24 * time.Hour)
			passed = time.Since(began)
		})
		Equal(t, "the error of InBubble", err, nil)
		Equal(t, "time that passed in the bubble", passed, 24*time.Hour)
		if time.Since(real) > 10*time.Second {
			t.Errorf("a virtual day took %v of real time, want less than 10s", time.Since(real))
		}
	})
	t.Run("a goroutine remains", func(t *testing.T) {
		err := sim.InBubble(time.Minute, new(sim.Watchdog), func() { go forgotten() })
		if !errors.Is(err, sim.ErrLeak) || !strings.Contains(err.Error(), "forgotten") {
			t.Errorf("the error is %v, want %v with the stack of forgotten", err, sim.ErrLeak)
		}
	})
	t.Run("every goroutine waits forever", func(t *testing.T) {
		err := sim.InBubble(time.Minute, new(sim.Watchdog), forgotten)
		if !errors.Is(err, sim.ErrLeak) || !strings.Contains(err.Error(), "forgotten") {
			t.Errorf("the error is %v, want %v with the stack of forgotten", err, sim.ErrLeak)
		}
	})
	t.Run("a panic", func(t *testing.T) {
		err := sim.InBubble(time.Minute, new(sim.Watchdog), func() { panic("oh no") })
		if !errors.Is(err, sim.ErrPanic) || !strings.Contains(err.Error(), "oh no") {
			t.Errorf("the error is %v, want %v with oh no", err, sim.ErrPanic)
		}
	})
	t.Run("no progress", func(t *testing.T) {
		var stop atomic.Bool
		defer stop.Store(true)
		err := sim.InBubble(100*time.Millisecond, new(sim.Watchdog), func() { spin(&stop) })
		if !errors.Is(err, sim.ErrStuck) || !strings.Contains(err.Error(), "spin") {
			t.Errorf("the error is %v, want %v with the stack of spin", err, sim.ErrStuck)
		}
	})
}

// If a bubble still makes progress when it was asked to end, inBubble returns soon after.
// Its error does not blame the bubble's goroutines.
func TestBubbleThatDoesNotEnd(t *testing.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	alive := new(sim.Watchdog)
	began := time.Now()
	err := sim.InBubble(2*time.Second, alive, func() {
		for began := time.Now(); !stop.Load() && time.Since(began) == 0; {
			alive.Move()
		}
	})
	if !errors.Is(err, sim.ErrLate) || errors.Is(err, sim.ErrStuck) {
		t.Errorf("the error is %v, want %v", err, sim.ErrLate)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("InBubble returned after %v, want soon after its limit of 2s", took)
	}
}

// forgotten never returns. Tests look for its name in stacks.
func forgotten() { select {} }

// setTimers sets timers on a client's clock, and cancels them, until stop is set.
func setTimers(ctx context.Context, p *sim.Program, stop *atomic.Bool) {
	for !stop.Load() {
		_, cancel := fakeclock.WithTimeout(ctx, p.Clock(), time.Second)
		cancel()
	}
}

// spin computes until stop is set.
func spin(stop *atomic.Bool) {
	for !stop.Load() {
	}
}
