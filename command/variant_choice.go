package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// A variantChoice has the flags of a command about one variant of one scenario: which
// variant, and with which lock.
type variantChoice struct{ variant, lock string }

// define adds the flags to a command.
func (c *variantChoice) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.variant, "variant", "", "use the variant of this `name`")
	flags.StringVar(&c.lock, "lock", "", "use this `kind` of lock instead of the scenario's own")
	complete(cmd, "lock", locks.Names())
	completeWith(cmd, "variant", completeVariants)
}

// check checks the values of the flags, before any file is read.
func (c *variantChoice) check() error {
	if c.lock == "" {
		return nil
	}
	return checkLock(c.lock)
}

// load reads the scenario that the argument of a command names, and selects the variant. It fails
// if the scenario has several variants and --variant names none.
func (c *variantChoice) load(command, arg string) (input, error) {
	found, err := loadSingle(command, arg)
	if err != nil {
		return input{}, err
	}
	if c.lock == "" && !slices.ContainsFunc(found.Variants, func(v *scenarios.Variant) bool { return isLinked(v.Lock) }) {
		return input{}, checkLinked([]input{found}) // no variant can be run, so none needs to be chosen
	}
	return c.selectOne(arg, found)
}

// selectOne selects the variant of the scenario that an argument names. It fails if there are
// several and --variant names none.
func (c *variantChoice) selectOne(arg string, found input) (input, error) {
	in, err := (&runChoice{variant: c.variant}).selectVariant(found)
	if err != nil || len(in.Variants) == 1 {
		return in, err
	}
	return input{}, severalVariantsError(arg, in.Scenario)
}

// severalVariantsError returns the error of a command that needs one variant.
func severalVariantsError(arg string, s *scenarios.Scenario) error {
	var names []string
	for _, v := range s.Variants {
		names = append(names, v.Name)
	}
	return fmt.Errorf("locksim: %s has several variants; choose one with --variant: %s", arg, strings.Join(names, ", "))
}
