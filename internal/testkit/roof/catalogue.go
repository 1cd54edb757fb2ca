// Package roof is the upper test kit, for the tests of what plays the built-in scenarios and
// puts locks through suites. The packages of several modules share it, each with the locks
// that it has: not every program has those of libraries. It plays the catalogue, tries the
// reports of scenarios, and tries locks call by call, on nodes without a network, and in worlds.
package roof

import (
	"slices"
	"sync"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Has says that a program has a lock, and that it is to be tested with it.
type Has func(locks.Kind) bool

// Provided is every lock that this program has.
func Provided(k locks.Kind) bool { return k.Provided() == nil }

// OfLibraries is every lock of a library. There may be no other test of it: one that this
// program lacks fails.
func OfLibraries(k locks.Kind) bool { return k.Adapter != "" }

func (has Has) named(lock string) bool {
	k, ok := locks.Lookup(lock)
	return ok && has(k)
}

// Playable are the built-in scenarios whose own locks this program all has, in
// alphabetical order.
func Playable() []*scenarios.Scenario {
	return slices.DeleteFunc(scenarios.Embedded(), func(s *scenarios.Scenario) bool {
		return slices.ContainsFunc(s.Variants, func(v *scenarios.Variant) bool { return !Has(Provided).named(v.Lock) })
	})
}

// AboutLibraries are those in which a lock of a library is the scenario's own.
func AboutLibraries() []*scenarios.Scenario {
	return slices.DeleteFunc(scenarios.Embedded(), func(s *scenarios.Scenario) bool {
		return !slices.ContainsFunc(s.Variants, func(v *scenarios.Variant) bool { return Has(OfLibraries).named(v.Lock) })
	})
}

// Results are the results of the playable scenarios on one seed.
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
