package command

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// A runChoice selects runs of a scenario by flags: one variant, and the run without fencing
// or with it. The zero choice selects all runs.
type runChoice struct{ variant, fencing string }

var fencings = []string{scenarios.Off, scenarios.On}

// define adds the flags to a command. variants completes the name of a variant.
func (c *runChoice) define(cmd *cobra.Command, variants cobra.CompletionFunc) {
	flags := cmd.Flags()
	flags.StringVar(&c.variant, "variant", "", "show only the variant of this `name`")
	flags.StringVar(&c.fencing, "fencing", "", "show only the run without fencing tokens (off) or with them (on)")
	complete(cmd, "fencing", fencings)
	completeWith(cmd, "variant", variants)
}

// check checks the values of the flags, before any file is read.
func (c *runChoice) check() error {
	if c.fencing != "" && !slices.Contains(fencings, c.fencing) {
		return fmt.Errorf("locksim: --fencing is %q; %s", c.fencing, oneOf(c.fencing, fencings))
	}
	return nil
}

// load reads the scenarios that arguments name, with only the variant that the flags name.
func (c *runChoice) load(args []string) ([]input, error) {
	found, err := load(args)
	for i := 0; err == nil && i < len(found); i++ {
		found[i], err = c.selectVariant(found[i])
	}
	return found, err
}

// selectVariant returns the scenario with only the variant that the flags name.
func (c *runChoice) selectVariant(in input) (input, error) {
	if c.variant == "" {
		return in, nil
	}
	selected, err := in.SelectVariant(c.variant)
	if err != nil {
		return input{}, fmt.Errorf("locksim: %w", err)
	}
	return input{selected, in.argument, in.file}, nil
}

// selectRuns returns the results with only the runs that the flags select. The selected
// results have new scenarios; selectRuns adds those to the maps of o.
func (c *runChoice) selectRuns(results []*scenarios.Result, o *reports.Options) ([]*scenarios.Result, error) {
	var chosen []*scenarios.Result
	for _, r := range results {
		selected, err := r.SelectRuns(c.variant, c.fencing)
		if err != nil {
			return nil, fmt.Errorf("locksim: %w", err)
		}
		for _, known := range []map[*scenarios.Scenario]string{o.Arguments, o.Traces} {
			if value, ok := known[r.Scenario]; ok {
				known[selected.Scenario] = value
			}
		}
		chosen = append(chosen, selected)
	}
	return chosen, nil
}
