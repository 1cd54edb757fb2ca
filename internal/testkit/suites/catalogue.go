// Package suites has tests that several modules share, because not every module has the locks
// of libraries: each module runs them with the locks that it has. They run the built-in
// scenarios and check the results and reports, test locks call by call on nodes without a
// network, and run the suite of package locktest. Package simtest has the helpers that they
// are built on; unlike this package, it does not need the packages scenarios and reports.
package suites

import (
	"slices"
	"sync"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// LockFilter selects locks for a test: it reports whether the test covers a lock of this
// kind.
type LockFilter func(locks.Kind) bool

// Provided selects the locks that this program can make, because it imports their adapters.
func Provided(k locks.Kind) bool { return k.CheckProvided() == nil }

// OfLibraries selects the locks of libraries. A test with this selection fails for a lock
// that this program cannot make, because no other test covers that lock.
func OfLibraries(k locks.Kind) bool { return k.Adapter != "" }

// matchesName reports whether the lock of this name exists and is selected.
func (has LockFilter) matchesName(lock string) bool {
	k, ok := locks.Lookup(lock)
	return ok && has(k)
}

// RunnableScenarios returns the built-in scenarios that this program can run with their own
// locks, in alphabetical order.
func RunnableScenarios() []*scenarios.Scenario {
	return slices.DeleteFunc(scenarios.Embedded(), func(s *scenarios.Scenario) bool {
		return slices.ContainsFunc(s.Variants, func(v *scenarios.Variant) bool { return !LockFilter(Provided).matchesName(v.Lock) })
	})
}

// LibraryScenarios returns the built-in scenarios of which at least one variant has the
// lock of a library as its own lock.
func LibraryScenarios() []*scenarios.Scenario {
	return slices.DeleteFunc(scenarios.Embedded(), func(s *scenarios.Scenario) bool {
		return !slices.ContainsFunc(s.Variants, func(v *scenarios.Variant) bool { return LockFilter(OfLibraries).matchesName(v.Lock) })
	})
}

// Results returns the results of the runnable scenarios on seed 1.
func Results() ([]*scenarios.Result, error) {
	var results []*scenarios.Result
	for _, s := range RunnableScenarios() {
		result, err := ResultOf(s)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// ResultOf returns the result of a scenario on seed 1. A built-in scenario is run once for
// all tests of a process, so callers must not change the result.
func ResultOf(s *scenarios.Scenario) (*scenarios.Result, error) {
	if !s.BuiltIn() {
		return scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	}
	once, _ := resultFuncs.LoadOrStore(s.Name, sync.OnceValues(func() (*scenarios.Result, error) {
		return scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	}))
	return once.(func() (*scenarios.Result, error))()
}

// resultFuncs maps the name of a built-in scenario to a function that runs the scenario at the
// first call and remembers the result.
var resultFuncs sync.Map
