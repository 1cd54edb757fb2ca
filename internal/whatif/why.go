package whatif

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/bands"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// ErrInconclusive is the error of a search for the changes that turn a verdict, if a run of the
// unchanged scenario is inconclusive.
var ErrInconclusive = errors.New("a run of the scenario is inconclusive, so no change can turn its verdict")

// Inconclusive is an [ErrInconclusive] with the runs of the scenario.
type Inconclusive struct {
	Results []scenarios.RunResult
	// IsChanged reports that the runs had the override unscripted=true, and that without this
	// override the scenario is conclusive.
	IsChanged bool
}

// Unwrap returns ErrInconclusive.
func (e *Inconclusive) Unwrap() error { return ErrInconclusive }

func (e *Inconclusive) Error() string { return ErrInconclusive.Error() }

// Reason returns why the first inconclusive run is inconclusive.
func (e *Inconclusive) Reason() checks.Reason {
	for _, r := range e.Results {
		if v := r.Verdict; v.Verdict == checks.Undecided {
			if len(v.Reasons) > 0 {
				return v.Reasons[0]
			}
			for _, f := range v.Findings {
				if f.Property.IsData() && f.Outcome == checks.Unknown {
					return f.Reason
				}
			}
		}
	}
	return checks.Reason{}
}

// A Why holds the smallest changes of a scenario, each alone, that turn a verdict or
// lease-exclusion, the property that no two leases overlap. To turn a verdict is to change it.
type Why struct {
	// Given is the scenario, which has one variant. Scenario is the version of it to which the
	// changes are made. In this version a time replaces each event at which something ends, if the
	// outcome stays the same. With the events, a change of one time would move all later times.
	// Observed lists the overrides that set these times.
	Given, Scenario *scenarios.Scenario
	Observed        []string
	// Lock is the kind of lock of the runs, and Seed their seed.
	Lock string
	Seed uint64
	// Now is the outcome of the scenario as it is.
	Now Outcome
	// Turns are the changes. Those of a quantity come first, the smallest first.
	Turns []Turn
	// Steady are the paths of quantities and words that turn nothing: whatever value was tried, the
	// outcome stayed the same, and no run was inconclusive.
	Steady []string
	// Unknown are the values with which a run was inconclusive.
	Unknown []UnknownValues
	// Tried is the number of changed scenarios that were run.
	Tried int
	// MaxEvents is how many events a run could have before it was cut off. Such a run counts as
	// inconclusive.
	MaxEvents int
	// NewFaults are the faults that were added, by kind, each alone.
	NewFaults []NewFaults
}

// UnknownValues are the values of one path, from the smallest to the largest, with which a run
// was inconclusive.
type UnknownValues struct{ Path, From, To string }

// NewFaults counts the places where faults of one kind were tried.
type NewFaults struct {
	Effect trace.Effect
	// Tried are the places that were tried, and Of are all places. Unknown are those where a
	// run was inconclusive.
	Tried, Of, Unknown int
}

// Untried returns how many places of new faults were not tried.
func (w *Why) Untried() (n int) {
	for _, f := range w.NewFaults {
		n += f.Of - f.Tried
	}
	return n
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
	// From is the value that the scenario has; "" if it has none. For network.latency it is then
	// the default.
	From string
	// NewFault is the fault that the change adds; nil if it adds none.
	NewFault *runs.Fault
	// UnknownFrom and UnknownTo are the smallest and the largest of the values between From
	// and Value with which a run was inconclusive; "" if there are none. A nearer value may
	// turn a verdict.
	UnknownFrom, UnknownTo string
	Outcome                Outcome
	// Beyond is the nearest value with other verdicts on the far side of Value, if there are few
	// values between the two; nil otherwise. Only [FindNearestTurn] looks for it.
	Beyond *Turn

	// distance is by how much a quantity changes, as a share of its present value. It is +Inf for a
	// change that has no size.
	distance float64
}

// Override returns the override that makes the change.
func (t Turn) Override() string { return t.Path + "=" + t.Value }

// FindWhy finds the smallest changes of a scenario, which must have one variant. It calls
// onValue, if it is not nil, after each changed scenario. It fails with [ErrInconclusive],
// or if a world does not end.
func FindWhy(s *scenarios.Scenario, o scenarios.RunOptions, onValue func()) (*Why, error) {
	f, err := newFinder(s, o, onValue)
	if err != nil {
		return nil, err
	}
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
	// outcomes has the outcome of each override that was tried.
	outcomes map[string]Outcome
	// faults is the number of faults of the scenario.
	faults int
}

// newFinder makes a finder for a scenario, which must have one variant. It runs the unchanged
// scenario, and returns an [Inconclusive] if a run is inconclusive.
func newFinder(s *scenarios.Scenario, o scenarios.RunOptions, onValue func()) (*finder, error) {
	now, results, notApplicable, err := runWith(s, o)
	switch {
	case err != nil:
		return nil, err
	case notApplicable != "":
		return nil, errors.New(notApplicable)
	case now.isUnknown():
		return nil, &Inconclusive{results, false}
	}
	// A changed scenario has no witnesses, and need not follow the story. The unchanged scenario
	// must be conclusive under these conditions, too.
	unbound, unboundResults, _, err := runWith(s, o, "unscripted=true")
	switch {
	case err != nil:
		return nil, err
	case unbound.isUnknown() && !areIdle(unboundResults):
		return nil, &Inconclusive{unboundResults, true}
	}
	if o.MaxEvents == 0 {
		o.MaxEvents = max(maxGrowth*results[0].History.EventCount(), leastEvents)
	}
	w := &Why{Given: s, Scenario: s, Lock: results[0].Lock, Seed: o.Seed, Now: now, MaxEvents: o.MaxEvents}
	return &finder{Why: w, options: o, onValue: onValue, history: results[0].History, outcomes: map[string]Outcome{}}, nil
}

// A run of a changed scenario that has more than leastEvents events, and more than maxGrowth times
// as many as the scenario as it is, is cut off. Otherwise a few such runs take most of the time of
// a search: those in which nobody gets the lock, and everybody asks again until the horizon cuts
// the run off.
const (
	leastEvents = 20_000
	maxGrowth   = 4
)

// config returns the configuration of the run without fencing tokens.
func (f *finder) config() (sim.Config, error) {
	return f.Scenario.Variants[0].Config(scenarios.Options{Seed: f.Seed, Lock: f.options.Lock, Kind: f.options.Kind, Fencing: scenarios.Off})
}

// areIdle reports whether runs are inconclusive only because no client acquired the lock, or
// none wrote. The author of a scenario may have wanted that; then the scenario is compared as
// it is.
func areIdle(results []scenarios.RunResult) bool {
	return !slices.ContainsFunc(results, func(r scenarios.RunResult) bool {
		return r.Verdict.Verdict == checks.Undecided && !r.Verdict.IsIdle()
	})
}

// A change says which verdicts and outcomes a changed scenario has that the scenario as it is
// does not have. A field is "" if it does not differ, or is unknown.
type change struct{ leases, off, on string }

// changeOf returns how an outcome differs from that of the scenario as it is.
func (f *finder) changeOf(o Outcome) change {
	differs := func(now, changed string) string {
		if o.IsImpossible || changed == now || changed == checks.Undecided {
			return ""
		}
		return changed
	}
	return change{differs(string(f.Now.Leases), string(o.Leases)), differs(f.Now.Off, o.Off), differs(f.Now.On, o.On)}
}

// turns reports whether an outcome differs from that of the scenario as it is.
func (f *finder) turns(o Outcome) bool { return f.changeOf(o) != change{} }

// try returns the outcome with one value changed.
func (f *finder) try(path, value string) (Outcome, error) {
	override := path + "=" + value
	if o, ok := f.outcomes[override]; ok {
		return o, nil
	}
	outcome, err := outcomeWith(f.Scenario, f.options, override)
	f.outcomes[override] = outcome
	if !outcome.IsImpossible || outcome.IsTooMuch {
		f.Tried++
		if f.onValue != nil {
			f.onValue()
		}
	}
	return outcome, err
}

// values are the values of a range that a finder has tried at one path.
type values struct {
	Range
	// bands group neighbouring values that change the outcome in the same way.
	bands    []bands.Band[change]
	outcomes map[int64]Outcome
}

// tryValues tries the values in from, which are in ascending order, and looks for the borders
// between them.
func (f *finder) tryValues(r Range, from []int64, override func(value int64) (path, text string)) (*values, error) {
	v := &values{Range: r, outcomes: map[int64]Outcome{}}
	var err error
	v.bands, _, err = bands.Find(from, r.split, func(value int64) (change, error) {
		o, err := f.try(override(value))
		v.outcomes[value] = o
		return f.changeOf(o), err
	})
	return v, err
}

// unknown returns the smallest and the largest value, strictly between two others, with which
// a run was inconclusive; ok is false if there is none.
func (v *values) unknown(low, high int64) (from, to string, ok bool) {
	var all []int64
	for value, o := range v.outcomes {
		if o.isUnknown() && low < value && value < high {
			all = append(all, value)
		}
	}
	if len(all) == 0 {
		return "", "", false
	}
	return v.Format(slices.Min(all)), v.Format(slices.Max(all)), true
}
