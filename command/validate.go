package command

import (
	"github.com/spf13/cobra"
)

func validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE|DIR|NAME...",
		Short: "Check scenario files without running them",
		Args:  requireScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := load(args)
			if err != nil {
				return err
			}
			for _, s := range found {
				if err := printLine(cmd.OutOrStdout(), "%s: ok", s.File); err != nil {
					return outputError(err)
				}
			}
			return nil
		},
		ValidArgsFunction: completeScenarios,
	}
}
