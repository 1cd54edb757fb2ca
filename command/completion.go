package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/scenarios"
)

// complete makes the shell complete the value of a flag that has a fixed list of values.
func complete(cmd *cobra.Command, flag string, words []string) {
	completeWith(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completeWith makes the shell complete the value of a flag with a function.
func completeWith(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // impossible: the flag was defined just before
	}
}

// completeList is complete for a flag whose value is a list separated by commas. It
// completes the last word of the list.
func completeList(cmd *cobra.Command, flag string, words []string) {
	completeWith(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var lists []cobra.Completion
		for _, w := range words {
			if !slices.Contains(strings.Split(before, ","), w) {
				lists = append(lists, before+w)
			}
		}
		return lists, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// requireShell makes the command completion, which is part of cobra, refuse a shell that it
// does not know.
func requireShell(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err) // impossible: the command was added just before
	}
	var shells []string
	for _, shell := range cmd.Commands() {
		shells = append(shells, shell.Name())
	}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("locksim completion: name a shell: %s", strings.Join(shells, ", "))
		}
		return fmt.Errorf("locksim completion: there is no shell %q; %s", args[0], oneOf(args[0], shells))
	}
	cmd.RunE = func(*cobra.Command, []string) error { return nil } // never called, because Args always fails
}

// completeScenarios completes the names of built-in scenarios that are not on the command
// line yet. The shell itself adds the names of files.
func completeScenarios(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var words []cobra.Completion
	for _, s := range scenarios.Embedded() {
		if !slices.Contains(args, s.Name) {
			words = append(words, cobra.CompletionWithDesc(s.Name, s.Title))
		}
	}
	return words, cobra.ShellCompDirectiveDefault
}

// completeScenario is completeScenarios for a command that takes only one scenario.
func completeScenario(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeScenarios(cmd, args, typed)
}

// completeExplained completes what explain explains: scenarios, locks, properties, kinds of
// faults and the words of the glossary.
func completeExplained(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words, directive := completeScenarios(nil, nil, "")
	offered := scenarios.Names()
	for _, name := range termNames() {
		name = strings.ReplaceAll(name, " ", "-") // a space would have to be quoted
		if t, ok := findTerm(name); ok && !slices.Contains(offered, name) {
			words, offered = append(words, cobra.CompletionWithDesc(name, "a "+t.kind)), append(offered, name)
		}
	}
	return words, directive
}

// completeVariants completes the variants of the scenarios on the command line.
func completeVariants(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var words []cobra.Completion
	if found, err := load(args); err == nil {
		for _, in := range found {
			words = append(words, variantsOf(in.Scenario)...)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeOverrides completes the path of a value that can be set in the scenarios on the
// command line, and after the equals sign the values that it can have.
func completeOverrides(_ *cobra.Command, args []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
	path, _, hasPath := strings.Cut(text, "=")
	var words []cobra.Completion
	add := func(word string) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	found, err := load(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, in := range found {
		for _, v := range in.Variants {
			for _, setting := range v.Settings() {
				switch {
				case !hasPath:
					add(setting.Path + "=")
				case setting.Path == path:
					for _, word := range setting.Words {
						add(path + "=" + word)
					}
				}
			}
		}
	}
	if hasPath {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// variantsOf returns the names of a scenario's variants in the form in which the shell gets
// them.
func variantsOf(s *scenarios.Scenario) []cobra.Completion {
	var words []cobra.Completion
	for _, v := range s.Variants {
		if v.Name != "" {
			words = append(words, cobra.CompletionWithDesc(v.Name, v.Title))
		}
	}
	return words
}
