package command

import (
	"fmt"

	"github.com/spf13/cobra"
)

// showFlags are the flags of the show command.
type showFlags struct {
	runChoice
	overrideFlags
}

func showCommand() *cobra.Command {
	f := &showFlags{}
	cmd := &cobra.Command{
		Use:   "show FILE|NAME",
		Short: "Print the file of a scenario, to read or to change",
		Long: `Print the file of a scenario. With --variant or --set, print it as a file of its own
without variants, with the values that the flags give. A changed scenario has neither
expectations nor witnesses, because those of the file are about the file.`,
		Example: `  locksim show gc-pause
  locksim show gc-pause --pause 40s > mine.yaml && locksim run mine.yaml`,
		Args:              requireOneScenario,
		ValidArgsFunction: completeScenario,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	cmd.Flags().StringVar(&f.variant, "variant", "", "print only the variant of this `name`, as a scenario of its own")
	completeWith(cmd, "variant", completeVariants)
	f.overrideFlags.define(cmd)
	return cmd
}

func (f *showFlags) run(cmd *cobra.Command, arg string) error {
	found, err := loadSingle("show", arg)
	if err != nil {
		return err
	}
	in, err := f.selectVariant(found)
	if err != nil {
		return err
	}
	changed, err := f.apply(in)
	if err != nil {
		return fmt.Errorf("locksim: %s: %w", arg, err)
	}
	text := []byte(in.Text)
	switch {
	case f.variant == "" && len(changed.Overrides) == 0:
	case len(changed.Variants) > 1:
		return fmt.Errorf("locksim: %s has several variants; choose one with --variant", arg)
	default:
		text = changed.Variants[0].Document().Bytes()
	}
	_, err = cmd.OutOrStdout().Write(text)
	return outputError(err)
}
