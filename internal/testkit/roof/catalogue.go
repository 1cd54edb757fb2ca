// Package roof is the upper test kit, for tests that run the built-in scenarios and the
// suites for locks. The packages of several modules share it, each with the locks that it
// has: not every program has the locks of libraries. It runs the catalogue, checks the
// reports of scenarios, and tests locks call by call, both on nodes without a network and
// in worlds.
package roof

import (
	"slices"
	"sync"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Has selects locks: it reports whether a program has a lock, and tests it.
type Has func(locks.Kind) bool

// Provided reports whether this program has the lock.
func Provided(k locks.Kind) bool { return k.CheckProvided() == nil }

// OfLibraries reports whether the lock is from a library. No other test may cover these
// locks, so a lock that this program lacks fails the test.
func OfLibraries(k locks.Kind) bool { return k.Adapter != "" }

func (has Has) named(lock string) bool {
	k, ok := locks.Lookup(lock)
	return ok && has(k)
}

// Playable returns the built-in scenarios whose own locks are all in this program, in
// alphabetical order.
func Playable() []*scenarios.Scenario {
	return slices.DeleteFunc(scenarios.Embedded(), func(s *scenarios.Scenario) bool {
		return slices.ContainsFunc(s.Variants, func(v *scenarios.Variant) bool { return !Has(Provided).named(v.Lock) })
	})
}

// AboutLibraries returns the built-in scenarios with a lock of a library as an own lock.
func AboutLibraries() []*scenarios.Scenario {
	return slices.DeleteFunc(scenarios.Embedded(), func(s *scenarios.Scenario) bool {
		return !slices.ContainsFunc(s.Variants, func(v *scenarios.Variant) bool { return Has(OfLibraries).named(v.Lock) })
	})
}

// Results returns the results of the playable scenarios on one seed.
func Results() ([]*scenarios.Result, error) {
	var results []*scenarios.Result
	for _, s := range Playable() {
		result, err := Played(s)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// Played is the result of a scenario on seed 1. A built-in scenario is run once for all tests
// of a process, so nobody may change the result.
func Played(s *scenarios.Scenario) (*scenarios.Result, error) {
	if !s.BuiltIn() {
		return scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	}
	once, _ := played.LoadOrStore(s.Name, sync.OnceValues(func() (*scenarios.Result, error) {
		return scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	}))
	return once.(func() (*scenarios.Result, error))()
}

// played has a function for each built-in scenario that has been run, by name.
var played sync.Map
