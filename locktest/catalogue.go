package locktest

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// catalogueCases returns a test case for each variant of the built-in scenarios.
func catalogueCases() []testCase {
	var all []testCase
	for _, shelf := range scenarios.Catalogue() {
		for _, scenario := range shelf.Scenarios {
			for _, v := range scenario.Variants {
				all = append(all, catalogueCase(v, shelf))
			}
		}
	}
	return all
}

// catalogueCase returns the test case that runs a variant in two worlds: without fencing tokens
// and with them. The scenarios of a group about one system do not apply to locks on another
// system, because they would show nothing there that other scenarios do not show.
func catalogueCase(v *scenarios.Variant, shelf scenarios.CatalogueGroup) testCase {
	name := "catalogue/" + v.Scenario
	if v.Name != "" {
		name += "/" + v.Name
	}
	return testCase{name: name, title: v.Title, worlds: func(s *subject, seed uint64) ([]world, string, error) {
		if shelf.Name != s.kind.System && isSystemOfLocks(shelf.Name) {
			return nil, fmt.Sprintf("it is about a lock on %s, and this lock is on %s", shelf.Name, s.kind.System), nil
		}
		var worlds []world
		for _, fencing := range []string{scenarios.Off, scenarios.On} {
			config, err := v.Config(scenarios.Options{Seed: seed, Kind: s.kind, Fencing: fencing})
			if err != nil {
				return nil, err.Error(), nil
			}
			if len(config.Doubts) > 0 {
				return nil, config.Doubts[0], nil
			}
			worlds = append(worlds, world{
				name: "fencing-" + fencing, config: config, witnesses: v.WitnessesIn, fenced: fencing == scenarios.On,
			})
		}
		return worlds, "", nil
	}}
}

// isSystemOfLocks reports whether there is a kind of lock on a system with this name,
// whether or not this program contains it.
func isSystemOfLocks(name string) bool {
	return slices.ContainsFunc(locks.Names(), func(kind string) bool {
		k, _ := locks.Lookup(kind)
		return k.System == name
	})
}
