// Package commandline writes the commands that run scenarios again.
package commandline

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// Repeat returns the command that runs some variants of a scenario. operand is the scenario as the
// command line names it, quoted for the shell. fencing is "on" or "off", which selects the run with
// or without fencing tokens; "" means both runs.
func Repeat(command, operand string, s *scenarios.Scenario, variants []*scenarios.Variant, fencing string, o scenarios.RunOptions) string {
	line := fmt.Sprintf("locksim %s %s --seed %d", command, operand, o.Seed)
	overrides := func(v *scenarios.Variant) bool { return v.Lock != o.Lock }
	if o.Lock != "" && slices.ContainsFunc(variants, overrides) {
		line += " --lock " + story.ShellWord(o.Lock)
	}
	for _, override := range s.Overrides {
		line += " --set " + story.ShellWord(override)
	}
	if len(variants) == 1 && variants[0].Name != "" {
		line += " --variant " + story.ShellWord(variants[0].Name)
	}
	if fencing != "" {
		line += " --fencing " + fencing
	}
	return line
}
