package whatif

import (
	"slices"
	"strconv"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/bands"
	"github.com/locksim/locksim/scenarios"
)

// The nearest value that turns a verdict may lie beyond values with which a run is
// inconclusive. The turn then says which these are. Those at the other side do not
// matter for it.
func TestNearestTurnsBeyondUnknownValues(t *testing.T) {
	both := func(verdict string) Outcome { return Outcome{Off: verdict, On: verdict} }
	f := &finder{Why: &Why{Now: both(checks.Unsafe)}}
	verdict := func(value int64) Outcome {
		switch {
		case value < 10:
			return both(checks.Safe)
		case value < 20, value > 30:
			return both(checks.Undecided)
		}
		return both(checks.Unsafe)
	}
	tried := &values{Range: Range{From: 1, To: 40, Resolution: 1}, outcomes: map[int64]Outcome{}}
	tried.bands, _, _ = bands.Find([]int64{1, 5, 15, 25, 35}, tried.split, func(value int64) (change, error) {
		tried.outcomes[value] = verdict(value)
		return f.changeOf(verdict(value)), nil
	})
	turns := f.nearestTurns(Turn{Path: "lock.nodes", From: "25"}, 25, tried)
	if len(turns) != 1 || turns[0].Value != "9" || turns[0].UnknownFrom != "10" || turns[0].UnknownTo != "15" {
		t.Errorf("the turns are %+v, want 9, beyond the unknown values 10 to 15", turns)
	}
	if from, to, ok := tried.unknown(25, 40); !ok || from != "35" || to != "35" {
		t.Errorf("the unknown values above 25 are %s to %s, want 35", from, to)
	}
}

// If only multiples of a unit are possible, the borders are found among these.
func TestOnlyMultiplesPossible(t *testing.T) {
	possible, impossible := Outcome{}, Outcome{IsImpossible: true}
	for _, c := range []struct {
		outcomes map[int64]Outcome
		want     bool
	}{
		{map[int64]Outcome{10: possible, 15: impossible, 20: possible}, true},
		{map[int64]Outcome{10: possible, 15: possible, 21: impossible}, false},
		{map[int64]Outcome{10: possible, 20: possible}, false},
	} {
		if got := (&values{outcomes: c.outcomes}).onlyMultiplesPossible(10); got != c.want {
			t.Errorf("%v: only multiples of 10 are possible: %v, want %v", c.outcomes, got, c.want)
		}
	}
	if got, want := (Range{Resolution: 10}).multiples([]int64{0, 3, 12, 19, 30}), []int64{10, 30}; !slices.Equal(got, want) {
		t.Errorf("the multiples are %v, want %v", got, want)
	}
}

// A path with values of which nothing is known is not steady.
func TestUnknownPathIsNotSteady(t *testing.T) {
	unknown, same := Outcome{Off: checks.Undecided, On: checks.Undecided}, Outcome{Off: checks.Safe, On: checks.Safe}
	f := &finder{Why: &Why{Now: same}, outcomes: map[string]Outcome{"tokens=a": unknown, "tokens=b": same}}
	if err := f.tryWords(scenarios.Setting{Path: "tokens", Value: "now", Words: []string{"now", "a", "b"}}); err != nil {
		t.Fatal(err)
	}
	for n := range 1000 {
		f.outcomes["lock.nodes="+strconv.Itoa(n)] = same
	}
	f.outcomes["lock.nodes=1"] = unknown
	if err := f.trySetting(scenarios.Setting{Path: "lock.nodes", Value: "3"}); err != nil {
		t.Fatal(err)
	}
	if len(f.Steady) > 0 || len(f.Unknown) != 2 {
		t.Errorf("steady are %q, and unknown are %v; want none, and two", f.Steady, f.Unknown)
	}
}
