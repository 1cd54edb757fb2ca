package whatif

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/locksim/locksim/scenarios"
)

// FindNearestTurn takes the last of the scenario's overrides that sets a quantity, and finds the
// nearest other value that turns a verdict: the verdict changes with it. The scenario must have one
// variant. It tries up to eight times the value and down to an eighth of it, by factors of two, and
// then looks for the border. So it runs about twenty worlds, where [FindWhy] runs hundreds. It
// returns nil if no override sets a quantity other than 0, if the scenario is inconclusive, or if
// no value that was tried turns a verdict.
func FindNearestTurn(s *scenarios.Scenario, o scenarios.RunOptions) (*Turn, error) {
	for _, override := range slices.Backward(s.Overrides) {
		path, text, _ := strings.Cut(override, "=")
		value, u, ok := parseValue(strings.TrimSpace(text))
		if !ok || value == 0 {
			continue
		}
		f, err := newFinder(s, o, nil)
		if errors.Is(err, ErrInconclusive) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return f.findNearest(Turn{Path: strings.TrimSpace(path), From: strings.TrimSpace(text)}, value, newRange(min(8*value, 0), max(8*value, 0), u))
	}
	return nil, nil
}

// findNearest finds the value nearest to now that turns a verdict. It tries larger and smaller
// values by turns.
func (f *finder) findNearest(t Turn, now int64, r Range) (*Turn, error) {
	larger, smaller := now, now
	for range 3 {
		for _, last := range []*int64{&larger, &smaller} {
			next := 2 * *last
			if last == &smaller {
				next = r.round(*last / 2)
			}
			if next == *last || next == 0 {
				continue
			}
			tried, err := f.tryValues(r, []int64{min(*last, next), max(*last, next)}, func(value int64) (path, text string) { return t.Path, r.Format(value) })
			if err != nil {
				return nil, err
			}
			for _, turn := range f.nearestTurns(t, now, tried) {
				if o := turn.Outcome; !o.isUnknown() && (o.Off != f.Now.Off || o.On != f.Now.On) {
					turn.Beyond = findBeyond(turn, last == &larger, tried)
					return &turn, nil
				}
			}
			*last = next
		}
	}
	return nil, nil
}

// narrow is the largest width of a narrow band of values, as a share of the value.
const narrow = 1. / 100

// findBeyond returns the nearest value beyond a turn's value with which the verdicts differ from
// those of the turn. It returns nil if that value is farther away than the width of a narrow band,
// or if the next other outcome is unknown or impossible.
func findBeyond(t Turn, isLarger bool, tried *values) *Turn {
	value, _, _ := parseValue(t.Value)
	inOrder := slices.Clone(tried.bands)
	if !isLarger {
		slices.Reverse(inOrder)
	}
	for _, b := range inOrder {
		near := b.From
		if !isLarger {
			near = b.To
		}
		if isLarger && near <= value || !isLarger && near >= value {
			continue
		}
		o := tried.outcomes[near]
		switch {
		case o.Off == t.Outcome.Off && o.On == t.Outcome.On:
			continue
		case o.isUnknown(), o.IsImpossible, math.Abs(float64(near-value)) > narrow*math.Abs(float64(value)):
			return nil
		}
		t.Value, t.Outcome = tried.Format(near), o
		return &t
	}
	return nil
}
