package main

import (
	"github.com/spf13/cobra"

	"github.com/locksim/locksim/scenarios"
)

// complete lets the shell complete a flag by the words that it knows.
func complete(cmd *cobra.Command, flag string, words []string) {
	f := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag was defined just before
	}
}

// completeScenarios completes the names of built-in scenarios, besides files.
func completeScenarios(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var words []cobra.Completion
	for _, s := range scenarios.Embedded() {
		words = append(words, cobra.CompletionWithDesc(s.Name, s.Title))
	}
	return words, cobra.ShellCompDirectiveDefault
}
