package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
)

// splitStacks separates an error into one line and the stacks, also if the panic's value
// has several lines or the error was wrapped.
func TestWithoutStacks(t *testing.T) {
	panics := func(says any) error {
		return sim.InBubble(time.Minute, new(sim.Watchdog), func() { panic(says) })
	}
	for _, c := range []struct {
		name         string
		err          error
		said, stacks string // beginnings of the two results
	}{
		{"a panic", panics("oh no"), "panic in the simulator: oh no", "goroutine "},
		{"in several lines", panics("oh\n\nno"), "panic in the simulator: oh", "\nno\ngoroutine "},
		{"of a value", panics(7), "panic in the simulator: 7", "goroutine "},
		{"a leak", sim.InBubble(time.Minute, new(sim.Watchdog), forgotten), "goroutines outlived the world: ", "goroutine "},
		{"a panic that leaves goroutines behind", sim.InBubble(time.Minute, new(sim.Watchdog), func() { go forgotten(); panic("oh no") }), "panic in the simulator: oh no", "goroutine "},
	} {
		ending := sim.Ending(c.err)
		if ending == nil {
			t.Errorf("%s: no ending is in %v", c.name, c.err)
			continue
		}
		said, stacks := ending.Why, ending.Stacks
		if !strings.HasPrefix(said, c.said) || !strings.HasPrefix(stacks, c.stacks) || (stacks == "") != (c.stacks == "") {
			t.Errorf("%s: %q and %.40q, want %q and %q", c.name, said, stacks, c.said, c.stacks)
		}
		if stacks != "" && (strings.Contains(said, "\n") || c.err.Error() != said+"\n"+stacks) {
			t.Errorf("%s: %q and its stacks are not %q", c.name, said, c.err)
		}
		if wrapped := sim.Ending(fmt.Errorf("seed 1: %w", c.err)); *wrapped != *ending {
			t.Errorf("%s: wrapped it is %q", c.name, wrapped.Why)
		}
	}
	if ending := sim.Ending(errors.New("a\nb")); ending != nil {
		t.Errorf("the error of somebody else is %q", ending.Why)
	}
}
