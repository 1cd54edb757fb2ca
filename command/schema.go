package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/scenarios"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of scenario files, for editors",
		Long: `Print the JSON Schema of scenario files. An editor that has it completes and explains
every field of a file whose first line names it.`,
		Example: "  locksim schema > schema.json\n  # yaml-language-server: $schema=schema.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("locksim schema: it takes no arguments, and there is %q; to write a file, use locksim schema > FILE", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), scenarios.Schema())
			return outputError(err)
		},
	}
}
