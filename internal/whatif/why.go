package whatif

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
)

// ErrInconclusive is the error of a search for the changes that turn a verdict, if a run of
// the scenario itself has none.
var ErrInconclusive = errors.New("a run of the scenario is inconclusive, so no change can turn its verdict")

// A Why holds the smallest changes of a scenario, each alone, that turn a verdict or
// lease-exclusion.
type Why struct {
	// Given is the scenario, which has one variant. Scenario is what was changed: it has a
	// time in place of each event at which something ends, if the outcome is then
	// the same. Otherwise a change of one time would move all others. Observed lists the
	// overrides that set these times.
	Given, Scenario *scenarios.Scenario
	Observed        []string
	// Lock is the kind of lock of the runs, and Seed their seed.
	Lock string
	Seed uint64
	// Now is the outcome of the scenario as it is.
	Now Outcome
	// Turns are the changes. Those of a quantity come first, the smallest first.
	Turns []Turn
	// Steady are the paths of the quantities and words of which no value that was tried
	// turns anything.
	Steady []string
	// Tried is the number of changed scenarios. NewFaults is the number of pauses and late
	// messages among the changes, and Untried is how many more there could be.
	Tried, NewFaults, Untried int
}

// Overrides returns the overrides with which the scenario file becomes the changed scenario.
// An observed time is left out if the change replaces it.
func (w *Why) Overrides(t Turn) []string {
	all := slices.Clone(w.Given.Overrides)
	for _, o := range w.Observed {
		path, _, _ := strings.Cut(o, "=")
		if path != t.Path && !strings.HasPrefix(path, t.Path+".") {
			all = append(all, o)
		}
	}
	return append(all, t.Override())
}

// A Turn is a change of one value that turns a verdict.
type Turn struct {
	// Path is the place of the value; see [scenarios.Scenario.With]. Value is the new value;
	// the word null removes what is there.
	Path, Value string
	// From is the value that the scenario has; "" if it has none.
	From string
	// NewFault describes the fault that the change adds, without its duration, which is
	// Size. They are "" if it adds none.
	NewFault, Size string
	Outcome        Outcome

	// distance is by how much a quantity differs, as a share of it. It is +Inf for a change
	// that has no size.
	distance float64
}

// Override returns the override that makes the change.
func (t Turn) Override() string { return t.Path + "=" + t.Value }

// FindWhy finds the smallest changes of a scenario, which must have one variant. It calls
// onValue, if it is not nil, after each changed scenario. It fails with [ErrInconclusive],
// or if a world does not end.
func FindWhy(s *scenarios.Scenario, o scenarios.RunOptions, onValue func()) (*Why, error) {
	now, runs, notApplicable, err := runBoth(s, o)
	switch {
	case err != nil:
		return nil, err
	case notApplicable != "":
		return nil, errors.New(notApplicable)
	case now.Off == checks.Undecided || now.On == checks.Undecided:
		return nil, ErrInconclusive
	}
	f := &finder{Why: &Why{Given: s, Scenario: s, Lock: runs[0].Lock, Seed: o.Seed, Now: now}, options: o, onValue: onValue, history: runs[0].History}
	if err := f.fixTimes(); err != nil {
		return nil, err
	}
	for _, setting := range f.Scenario.Variants[0].Settings() {
		if err := f.trySetting(setting); err != nil {
			return nil, err
		}
	}
	if err := f.tryNewFaults(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(f.Turns, func(a, b Turn) int { return cmp.Compare(a.distance, b.distance) })
	return f.Why, nil
}

// A finder finds the changes of a Why.
type finder struct {
	*Why
	options scenarios.RunOptions
	onValue func()
	// history is that of the run without fencing tokens.
	history *history.History
	// faults is the number of faults of the scenario.
	faults int
}

// A change of the outcome is what differs from the scenario as it is; what does not differ,
// or is unknown, is "".
type change struct{ leases, off, on string }

// changeOf returns how an outcome differs from that of the scenario as it is.
func (f *finder) changeOf(o Outcome) change {
	differs := func(now, then string) string {
		if o.IsImpossible || then == now || then == checks.Undecided {
			return ""
		}
		return then
	}
	return change{differs(string(f.Now.Leases), string(o.Leases)), differs(f.Now.Off, o.Off), differs(f.Now.On, o.On)}
}

// turns reports whether an outcome differs from that of the scenario as it is.
func (f *finder) turns(o Outcome) bool { return f.changeOf(o) != change{} }

// try returns the outcome with one value changed.
func (f *finder) try(path, value string) (Outcome, error) {
	outcome, _, _, err := runWith(f.Scenario, path+"="+value, f.options)
	if !outcome.IsImpossible {
		f.Tried++
		if f.onValue != nil {
			f.onValue()
		}
	}
	return outcome, err
}

// tryValues tries values of a range at a path. It returns the bands of values that change
// the outcome in the same way, what outcome the values at the ends of the bands have, and
// whether any value is possible.
func (f *finder) tryValues(r Range, values []int64, override func(value int64) (path, text string)) (bands []Band[change], outcomes map[int64]Outcome, possible bool, err error) {
	outcomes = map[int64]Outcome{}
	bands, _, err = FindBands(r, values, func(value int64) (change, error) {
		o, err := f.try(override(value))
		outcomes[value] = o
		possible = possible || !o.IsImpossible
		return f.changeOf(o), err
	})
	return bands, outcomes, possible, err
}

// trySetting tries other values of a setting, or removes a fault.
func (f *finder) trySetting(s scenarios.Setting) error {
	if fault, field, ok := cutFault(s.Path); ok && field == "" {
		f.faults = fault
		_, err := f.tryAlone(Turn{Path: s.Path, Value: removal})
		return err
	}
	if value, u, ok := parseValue(s.Value); ok && value != 0 {
		return f.tryQuantity(Turn{Path: s.Path, From: s.Value}, value, u)
	}
	return f.tryWords(s)
}

// removal is the value of an override that removes what is there.
const removal = "null"

// cutFault splits the path of a fault, or of one of its fields.
func cutFault(path string) (fault int, field string, ok bool) {
	rest, ok := strings.CutPrefix(path, "faults[")
	if !ok {
		return 0, "", false
	}
	number, field, _ := strings.Cut(rest, "]")
	fault, err := strconv.Atoi(number)
	return fault, strings.TrimPrefix(field, "."), err == nil
}

// tryAlone tries a change that has no size, and reports whether the scenario can have it.
func (f *finder) tryAlone(t Turn) (possible bool, err error) {
	t.distance = math.Inf(1)
	if t.Outcome, err = f.try(t.Path, t.Value); err == nil && f.turns(t.Outcome) {
		f.Turns = append(f.Turns, t)
	}
	return !t.Outcome.IsImpossible, err
}

// tryWords tries the other words that a setting can have. Other locks are compared by
// locksim compare, not here.
func (f *finder) tryWords(s scenarios.Setting) error {
	if s.Path == "lock.kind" {
		return nil
	}
	before, tried := len(f.Turns), false
	for _, word := range s.Words {
		if word == s.Value {
			continue
		}
		possible, err := f.tryAlone(Turn{Path: s.Path, Value: word, From: s.Value})
		if err != nil {
			return err
		}
		tried = tried || possible
	}
	if tried && len(f.Turns) == before {
		f.Steady = append(f.Steady, s.Path)
	}
	return nil
}

// tryQuantity tries other values of a quantity. Of each change of the outcome that smaller
// or larger values make, it adds the nearest value.
func (f *finder) tryQuantity(t Turn, value int64, u unit) error {
	values, r := around(value, u)
	bands, outcomes, possible, err := f.tryValues(r, values, func(value int64) (path, text string) { return t.Path, r.Format(value) })
	if err != nil {
		return err
	}
	before := len(f.Turns)
	add := func(nearest int64, c change, seen *[]change) {
		if c != (change{}) && !slices.Contains(*seen, c) {
			t.Value, t.Outcome = r.Format(nearest), outcomes[nearest]
			t.distance = math.Abs(float64(nearest-value)) / math.Abs(float64(value))
			f.Turns = append(f.Turns, t)
		}
		*seen = append(*seen, c)
	}
	var smaller, larger []change
	for _, b := range slices.Backward(bands) {
		if b.To < value {
			add(b.To, b.Outcome, &smaller)
		}
	}
	for _, b := range bands {
		if b.From > value {
			add(b.From, b.Outcome, &larger)
		}
	}
	if possible && len(f.Turns) == before {
		f.Steady = append(f.Steady, t.Path)
	}
	return nil
}
