package command

import (
	"github.com/spf13/cobra"
)

func validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE|DIR|NAME...",
		Short: "Check scenario files without running them",
		Long: `Check scenario files without running them. It prints "FILE: ok" for each good file, and
one line on standard error for each mistake: the file, the line, the field, and what to do.

Exit status:
  0  all files are good
  2  some file has a mistake, or cannot be read`,
		Example: `  locksim validate my-scenario.yaml
  locksim validate scenarios/`,
		Args: requireScenarios,
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
