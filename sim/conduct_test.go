package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
)

// Ending separates an error into one line and the stacks, also if the panic's value has
// several lines or the error was wrapped.
func TestEndingSeparatesStacks(t *testing.T) {
	// panics returns the error of a bubble that panics with a value.
	panics := func(value any) error {
		return sim.InBubble(time.Minute, new(sim.Watchdog), func() { panic(value) })
	}
	for _, c := range []struct {
		name        string
		err         error
		why, stacks string // beginnings of Why and Stacks
	}{
		{"a panic with a text of one line", panics("oh no"), "panic in the simulator: oh no", "goroutine "},
		{"a panic with a text of several lines", panics("oh\n\nno"), "panic in the simulator: oh", "\nno\ngoroutine "},
		{"a panic with a number", panics(7), "panic in the simulator: 7", "goroutine "},
		{"a leak", sim.InBubble(time.Minute, new(sim.Watchdog), forgotten), "goroutines outlived the world: ", "goroutine "},
		{"a panic that leaves goroutines behind", sim.InBubble(time.Minute, new(sim.Watchdog), func() { go forgotten(); panic("oh no") }), "panic in the simulator: oh no", "goroutine "},
	} {
		ending := sim.Ending(c.err)
		if ending == nil {
			t.Errorf("%s: the error %v has no ending", c.name, c.err)
			continue
		}
		why, stacks := ending.Why, ending.Stacks
		if !strings.HasPrefix(why, c.why) || !strings.HasPrefix(stacks, c.stacks) || (stacks == "") != (c.stacks == "") {
			t.Errorf("%s: the line is %q and the stacks are %.40q, want beginnings %q and %q", c.name, why, stacks, c.why, c.stacks)
		}
		if stacks != "" && (strings.Contains(why, "\n") || c.err.Error() != why+"\n"+stacks) {
			t.Errorf("%s: the line %q and the stacks do not make up the error %q", c.name, why, c.err)
		}
		if wrapped := sim.Ending(fmt.Errorf("seed 1: %w", c.err)); *wrapped != *ending {
			t.Errorf("%s: if the error is wrapped, the line is %q, want %q", c.name, wrapped.Why, why)
		}
	}
	if ending := sim.Ending(errors.New("a\nb")); ending != nil {
		t.Errorf("an error that is not of a bubble has the ending %q, want none", ending.Why)
	}
}
