package whatif

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// FindNearestTurn finds the nearest value of one override of a scenario, which must have one
// variant, that turns a verdict: of the last override that sets a quantity. It tries twice,
// four times and eight times the value, and the same parts of it, and then looks for the
// border. So it runs about twenty worlds, where [FindWhy] runs hundreds. It returns nil if
// no override sets a quantity, or no value that was tried turns a verdict.
func FindNearestTurn(s *scenarios.Scenario, o scenarios.RunOptions) (*Turn, error) {
	n := &nearest{scenario: s, options: o, outcomes: map[int64]Outcome{}}
	for _, override := range slices.Backward(s.Overrides) {
		path, text, _ := strings.Cut(override, "=")
		if value, u, ok := parseValue(strings.TrimSpace(text)); ok && value != 0 {
			n.turn, n.value = Turn{Path: strings.TrimSpace(path), From: strings.TrimSpace(text)}, value
			n.Range = newRange(min(8*value, 0), max(8*value, 0), u)
			return n.find()
		}
	}
	return nil, nil
}

// A nearest is the search for the nearest value that turns a verdict.
type nearest struct {
	Range
	turn     Turn
	scenario *scenarios.Scenario
	options  scenarios.RunOptions
	value    int64
	now      Outcome
	outcomes map[int64]Outcome
}

// try reports whether a value turns a verdict.
func (n *nearest) try(value int64) (turns bool, err error) {
	o, _, _, err := runWith(n.scenario, n.turn.Path+"="+n.Format(value), n.options)
	n.outcomes[value] = o
	isKnown := !o.IsImpossible && o.Off != checks.Undecided && o.On != checks.Undecided
	return isKnown && (o.Off != n.now.Off || o.On != n.now.On), err
}

// find finds the value. It tries larger and smaller values by turns.
func (n *nearest) find() (*Turn, error) {
	if _, err := n.try(n.value); err != nil {
		return nil, err
	}
	n.now = n.outcomes[n.value]
	larger, smaller := n.value, n.value
	for range 3 {
		for _, last := range []*int64{&larger, &smaller} {
			next := 2 * *last
			if last == &smaller {
				next = n.round(*last / 2)
			}
			turns, err := next != *last && next != 0, error(nil)
			if turns {
				turns, err = n.try(next)
			}
			if err != nil {
				return nil, err
			}
			if turns {
				return n.border(*last, next)
			}
			*last = next
		}
	}
	return nil, nil
}

// border returns the value nearest to same that turns a verdict, between same, which turns
// none, and other, which does.
func (n *nearest) border(same, other int64) (*Turn, error) {
	bands, _, err := FindBands(n.Range, []int64{min(same, other), max(same, other)}, n.try)
	if err != nil {
		return nil, err
	}
	t := n.turn
	at := int64(0)
	if same < other {
		at = bands[slices.IndexFunc(bands, func(b Band[bool]) bool { return b.Outcome })].From
	} else {
		for _, b := range bands {
			if b.Outcome {
				at = b.To
			}
		}
	}
	t.Value, t.Outcome = n.Format(at), n.outcomes[at]
	return &t, nil
}
