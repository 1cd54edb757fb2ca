package sim

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// What the simulator needs of testing/synctest, outside a test: virtual time, and
// a panic for goroutines that remain. A Go release that changed that would be
// noticed here.
func TestBubble(t *testing.T) {
	t.Run("time is virtual", func(t *testing.T) {
		real := time.Now()
		var passed time.Duration
		err := inBubble(time.Minute, new(watchdog), func() {
			began := time.Now()
			time.Sleep(24 * time.Hour)
			passed = time.Since(began)
		})
		same(t, "error", err, nil)
		same(t, "passed in the bubble", passed, 24*time.Hour)
		if time.Since(real) > 10*time.Second {
			t.Error("it took real time")
		}
	})
	t.Run("a goroutine remains", func(t *testing.T) {
		err := inBubble(time.Minute, new(watchdog), func() { go forgotten() })
		if !errors.Is(err, ErrLeak) || !strings.Contains(err.Error(), "forgotten") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("everybody waits for ever", func(t *testing.T) {
		err := inBubble(time.Minute, new(watchdog), forgotten)
		if !errors.Is(err, ErrLeak) || !strings.Contains(err.Error(), "forgotten") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("a panic", func(t *testing.T) {
		err := inBubble(time.Minute, new(watchdog), func() { panic("oh no") })
		if !errors.Is(err, ErrPanic) || !strings.Contains(err.Error(), "oh no") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("no progress", func(t *testing.T) {
		var stop atomic.Bool
		defer stop.Store(true)
		err := inBubble(100*time.Millisecond, new(watchdog), func() { spin(&stop) })
		if !errors.Is(err, ErrStuck) || !strings.Contains(err.Error(), "spin") {
			t.Errorf("the error is %v", err)
		}
	})
}

// forgotten waits for ever.
func forgotten() { select {} }

// spin computes until it is told to stop.
func spin(stop *atomic.Bool) {
	for !stop.Load() {
	}
}
