package locktest

import (
	"github.com/locksim/locksim/scenarios"
)

// catalogueCases returns a test case for each variant of the built-in scenarios.
func catalogueCases() []testCase {
	var all []testCase
	for _, shelf := range scenarios.Catalogue() {
		for _, scenario := range shelf.Scenarios {
			for _, v := range scenario.Variants {
				all = append(all, catalogueCase(v))
			}
		}
	}
	return all
}

// catalogueCase returns the test case that runs a variant in two worlds: without fencing
// tokens and with them.
func catalogueCase(v *scenarios.Variant) testCase {
	name := "catalogue/" + v.Scenario
	if v.Name != "" {
		name += "/" + v.Name
	}
	return testCase{name: name, title: v.Title, worlds: func(s *subject, seed uint64) ([]world, string, error) {
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
