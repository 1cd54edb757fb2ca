package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// explainFlagError returns an error that says what is wrong with a flag, and what was
// probably meant.
func explainFlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1:
		return fmt.Errorf("%s: there is no flag %q; %s", cmd.CommandPath(), "--"+unknown.GetSpecifiedName(), scenarios.DidYouMean("--"+unknown.GetSpecifiedName(), flagNames(cmd)))
	case errors.As(err, &invalid):
		return fmt.Errorf("%s: --%s is %q; it must be %s", cmd.CommandPath(), invalid.GetFlag().Name, invalid.GetValue(), valueKinds[invalid.GetFlag().Value.Type()])
	}
	return fmt.Errorf("%s: %w; `%s --help` shows the flags", cmd.CommandPath(), err, cmd.CommandPath())
}

// valueKinds describes the values of flags, by the name that pflag gives to their type.
var valueKinds = map[string]string{
	"bool":     "true or false",
	"duration": "a number and a unit, such as 500ms or 30s",
	"int":      "a whole number",
	"file":     "the name of a file, or - for standard output",
	"uint64":   "a whole number from 0 to 18446744073709551615",
}

// oneOf returns the advice for a value that is not possible: a list of the possible ones, and the
// one that was probably meant. It leaves out a long list if it has a suggestion.
func oneOf(given string, possible []string) string {
	const mostListed = 20
	hint := scenarios.DidYouMean(given, possible)
	list := "ame one of " + strings.Join(possible, ", ")
	switch isSuggestion := hint != scenarios.DidYouMean("", possible); {
	case !isSuggestion:
		return "n" + list
	case len(possible) > mostListed:
		return hint
	}
	return hint + " N" + list
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}

// checkLock returns an error if a kind of lock does not exist.
func checkLock(kind string) error {
	if _, known := locks.Lookup(kind); known {
		return nil
	}
	return fmt.Errorf("locksim: there is no lock %q; %s", kind, oneOf(kind, locks.Names()))
}

// checkLocks returns an error if one of the kinds of locks does not exist, or is named
// twice.
func checkLocks(kinds []string) error {
	for i, lock := range kinds {
		if slices.Contains(kinds[:i], lock) {
			return fmt.Errorf("locksim: --lock names %s twice; leave one out", lock)
		}
		if err := checkLock(lock); err != nil {
			return err
		}
	}
	return nil
}
