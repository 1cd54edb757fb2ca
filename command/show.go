package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/story"
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
expectations nor witnesses, because those of the file are about the file. It is
unscripted, so its run has the same verdict as a run of the original with these flags.`,
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
		text = append([]byte(changedHeader(changed)), changed.Variants[0].Document().Bytes()...)
	}
	_, err = cmd.OutOrStdout().Write(text)
	return outputError(err)
}

// changedHeader returns the comment at the beginning of a changed scenario; "" if no override
// has changed it.
func changedHeader(in input) string {
	if len(in.Overrides) == 0 {
		return ""
	}
	var flags []string
	for _, o := range in.Overrides {
		flags = append(flags, "--set "+story.ShellWord(o))
	}
	return fmt.Sprintf("# The scenario %s, changed with %s.\n# The witnesses, the expectations and the narrative are left out, because they belong to the original.\n# The run need not follow the story of the original: see the field unscripted.\n",
		story.Visible(in.Name), story.Visible(strings.Join(flags, " ")))
}
