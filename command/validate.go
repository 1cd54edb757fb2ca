package command

import (
	"github.com/spf13/cobra"
)

func validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE|DIR|NAME...",
		Short: "Check scenario files without running them",
		Args:  needsScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := load(args)
			if err != nil {
				return err
			}
			for _, s := range found {
				if err := say(cmd.OutOrStdout(), "%s: ok", s.File); err != nil {
					return unwritten(err)
				}
			}
			return nil
		},
		ValidArgsFunction: completeScenarios,
	}
}
