package whatif_test

import (
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/scenarios"
)

// The nearest value turns a verdict, and a value that is closer by the resolution does not:
// above a value that is too short, and below one that is too long.
func TestFindNearestTurn(t *testing.T) {
	for _, c := range []struct {
		overrides []string
		path      string
		closer    time.Duration // the step towards the value of the override
	}{
		{[]string{"faults[1].for=20s"}, "faults[1].for", -time.Millisecond},
		{[]string{"faults[1].for=20s", "lock.ttl=25s"}, "lock.ttl", time.Millisecond},
		{[]string{"lock.ttl=25s", "faults[1].for=20s", "storage.fencing=reads-and-writes"}, "faults[1].for", -time.Millisecond},
	} {
		s := openScenario(t, "gc-pause", c.overrides...)
		turn, err := whatif.FindNearestTurn(s, scenarios.RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if turn == nil || turn.Path != c.path {
			t.Errorf("%v: the nearest turn is %+v, want one of %s", c.overrides, turn, c.path)
			continue
		}
		value, err := time.ParseDuration(turn.Value)
		if err != nil {
			t.Fatal(err)
		}
		if off, on, _ := verdictsWith(t, s, []string{turn.Override()}); off != turn.Outcome.Off || on != turn.Outcome.On || off != checks.Unsafe {
			t.Errorf("%v: %s gives %s and %s, and the turn says %s and %s", c.overrides, turn.Override(), off, on, turn.Outcome.Off, turn.Outcome.On)
		}
		if off, on, _ := verdictsWith(t, s, []string{c.path + "=" + (value + c.closer).String()}); off != checks.Safe || on != checks.Safe {
			t.Errorf("%v: %v is said to be the nearest value, but %v gives %s and %s, too", c.overrides, value, value+c.closer, off, on)
		}
	}
}

// If only a few values turn a verdict in the same way as the nearest one, the turn says from
// which value on the verdicts are others.
func TestFindNearestTurnAtANarrowBand(t *testing.T) {
	s := openScenario(t, "gc-pause", "faults[1].for=20s")
	turn, err := whatif.FindNearestTurn(s, scenarios.RunOptions{Seed: 1})
	if err != nil || turn == nil || turn.Beyond == nil {
		t.Fatalf("the nearest turn is %+v; error %v", turn, err)
	}
	beyond := turn.Beyond
	if off, on, _ := verdictsWith(t, s, []string{beyond.Override()}); off != beyond.Outcome.Off || on != beyond.Outcome.On || on == turn.Outcome.On {
		t.Errorf("%s gives %s and %s, the turn %+v, and what is beyond %+v", beyond.Override(), off, on, turn, beyond)
	}
	s = openScenario(t, "gc-pause", "lock.ttl=70s")
	if turn, err := whatif.FindNearestTurn(s, scenarios.RunOptions{Seed: 1}); err != nil || turn != nil && turn.Beyond != nil {
		t.Errorf("a wide band has something beyond: %+v; error %v", turn, err)
	}
}

// Without a quantity, or without a value that turns anything, there is no turn.
func TestFindNearestTurnFindsNone(t *testing.T) {
	for _, overrides := range [][]string{nil, {"faults=[]"}, {"faults=[]", "clients.client-2.starts=null", "lock.nodes=3"}} {
		turn, err := whatif.FindNearestTurn(openScenario(t, "gc-pause", overrides...), scenarios.RunOptions{Seed: 1})
		if err != nil || turn != nil {
			t.Errorf("%v: the nearest turn is %+v, want none; error %v", overrides, turn, err)
		}
	}
}
