package command

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/whatif"
)

// overrideFlags are the flags that give values of a scenario other values for one run.
type overrideFlags struct {
	sets              []string
	ttl, nodes, pause string
}

// define adds the flags to a command.
func (f *overrideFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.sets, "set", nil, "replace one value of the scenario, `path=value`, such as lock.ttl=10s or 'faults[1].for=20s'; null removes the value (can be repeated)")
	flags.StringVar(&f.ttl, "ttl", "", "the same as --set lock.ttl=`duration`")
	flags.StringVar(&f.nodes, "nodes", "", "the same as --set lock.nodes=`number`")
	flags.StringVar(&f.pause, "pause", "", "let the scenario's pause last for this `duration`")
	completeWith(cmd, "set", completeOverrides)
}

// applyAll returns the scenarios with the values that the flags give. If there are several
// scenarios, it leaves out those that cannot have these values, and prints a note for each.
// It fails if none remain; a problem that all of them share appears once.
func (f *overrideFlags) applyAll(stderr io.Writer, found []input) ([]input, error) {
	var kept []input
	var errs []error
	reasons := map[string]bool{}
	for _, in := range found {
		changed, err := f.apply(in)
		if err != nil {
			reasons[err.Error()] = true
			errs = append(errs, fmt.Errorf("%s: %w", in.Name, err))
			continue
		}
		kept = append(kept, changed)
	}
	if len(kept) == 0 && len(errs) > 1 && len(reasons) == 1 {
		return nil, fmt.Errorf("locksim: %w", errors.Unwrap(errs[0]))
	}
	if len(kept) == 0 && len(errs) > 0 {
		return nil, fmt.Errorf("locksim: %w", errors.Join(errs...))
	}
	for _, err := range errs {
		printLine(stderr, "left out: %s", err)
	}
	return kept, nil
}

// apply returns the scenario with the values that the flags give.
func (f *overrideFlags) apply(in input) (input, error) {
	overrides, err := f.overridesOf(in)
	if err != nil {
		return input{}, err
	}
	for _, o := range overrides {
		_, value := cutOverride(o)
		if _, isRange, _ := whatif.ParseRange(value); isRange {
			return input{}, fmt.Errorf("--set %s: this command takes one value; `locksim sweep` takes a range", o)
		}
	}
	changed, err := in.With(overrides...)
	if err != nil {
		return input{}, err
	}
	return input{changed, in.argument, in.file}, nil
}

// cutOverride splits an override into its path and its value.
func cutOverride(o string) (path, value string) {
	path, value, _ = strings.Cut(o, "=")
	return strings.TrimSpace(path), strings.TrimSpace(value)
}

// shortNames maps names that people expect for settings to what they have to write instead. No
// field of a scenario has such a name and takes a value.
var shortNames = map[string]string{
	"ttl": "lock.ttl, or the flag --ttl", "pause": "faults[1].for, or the flag --pause",
}

// overridesOf returns what the flags change in a scenario.
func (f *overrideFlags) overridesOf(in input) ([]string, error) {
	overrides := slices.Clone(f.sets)
	for _, o := range overrides {
		path, value := cutOverride(o)
		if meant := shortNames[path]; meant != "" && value != "" {
			return nil, fmt.Errorf("--set %s: there is no such field; did you mean %s?", o, meant)
		}
	}
	if f.ttl != "" {
		overrides = append(overrides, "lock.ttl="+f.ttl)
	}
	if f.nodes != "" {
		overrides = append(overrides, "lock.nodes="+f.nodes)
	}
	if f.pause != "" {
		// --set is applied first, because it may add or remove the pause that --pause changes. A
		// value of --set can be a range, with which the scenario cannot be changed yet. Then the
		// unchanged scenario decides which pause that is.
		base := in.Scenario
		if changed, err := in.With(overrides...); err == nil {
			base = changed
		}
		pause, err := whatif.PauseIn(base)
		if err != nil {
			return nil, fmt.Errorf("--pause: %w", err)
		}
		overrides = append(overrides, pause+".for="+f.pause)
	}
	return overrides, nil
}
