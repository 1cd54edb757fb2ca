package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/scenarios"
)

func listCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the scenarios that are built in",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			type line struct {
				Name  string `json:"name"`
				Title string `json:"title"`
			}
			var lines []line
			for _, s := range scenarios.Embedded() {
				lines = append(lines, line{s.Name, s.Title})
			}
			switch format {
			case "text":
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				for _, l := range lines {
					fmt.Fprintf(w, "%s\t%s\n", l.Name, l.Title)
				}
				return unwritten(w.Flush())
			case "json":
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return unwritten(enc.Encode(struct {
					Schema    string `json:"schema"`
					Scenarios []line `json:"scenarios"`
				}{"locksim/list/v1", lines}))
			}
			return fmt.Errorf("locksim: there is no format %q; %s", format, scenarios.DidYouMean(format, listFormats))
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	complete(cmd, "format", listFormats)
	return cmd
}

var listFormats = []string{"json", "text"}
