package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locksim/locksim/internal/chapters"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

// learnFormats are the formats of learn.
var learnFormats = []string{"markdown", "text"}

// learnCommand returns the command learn, which shows chapters. Its subcommands are about
// exercises.
func learnCommand() *cobra.Command {
	format := ""
	cmd := &cobra.Command{
		Use:   "learn [NUMBER|NAME]",
		Short: "Read about distributed locks, in chapters with runs",
		Long: `Show a chapter about distributed locks. A chapter asks for a forecast, shows a run,
and says why it came out so. It has wrong and right code beside each other, and ends
with the questions of locksim ask that belong to it.

Without an argument, list the chapters in reading order.`,
		Example: `  locksim learn
  locksim learn 1
  locksim learn fencing-tokens --format markdown`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%s: name one chapter, not %d", cmd.CommandPath(), len(args))
			}
			if len(args) == 0 {
				return nil
			}
			if _, ok := chapters.Find(args[0]); !ok {
				return unknownChapter(args[0], cmd)
			}
			return nil
		},
		ValidArgsFunction: completeChapters,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(learnFormats, format) {
				return fmt.Errorf("locksim learn: there is no format %q; %s", format, oneOf(format, learnFormats))
			}
			stdout := cmd.OutOrStdout()
			if len(args) == 0 {
				return outputError(listChapters(stdout, format))
			}
			c, _ := chapters.Find(args[0])
			if format == "markdown" {
				_, err := io.WriteString(stdout, c.Markdown)
				return outputError(err)
			}
			return outputError(c.Write(stdout, chooseWidth(stdout), choosePalette(stdout)))
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, or markdown for the source")
	complete(cmd, "format", learnFormats)
	cmd.AddCommand(learnExercises()...)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			if _, notNumber := strconv.Atoi(unknown.GetSpecifiedShortnames()); notNumber == nil {
				return unknownChapter("-"+unknown.GetSpecifiedShortnames(), cmd)
			}
		}
		return explainFlagError(cmd, err)
	})
	return cmd
}

// unknownChapter returns the error for a chapter that does not exist.
func unknownChapter(name string, cmd *cobra.Command) error {
	known := chapters.Names()
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	hint := cmp.Or(hintOfTerm(name), scenarios.DidYouMean(name, known))
	_, err := strconv.Atoi(name)
	begins := func(k string) bool { return name != "" && strings.HasPrefix(k, strings.ToLower(name)) }
	switch {
	case slices.ContainsFunc(known, begins):
		hint = scenarios.DidYouMean(name, known)
	case err == nil:
		hint = fmt.Sprintf("they are numbered from 1 to %d, and `locksim learn` lists them", len(chapters.All()))
	case isBuiltIn(name):
		hint = fmt.Sprintf("it is a scenario; to see it: locksim explain %s", name)
	}
	return fmt.Errorf("locksim learn: there is no chapter %q; %s", name, hint)
}

// listChapters writes the chapters in reading order, each with one line.
func listChapters(w io.Writer, format string) error {
	width := cmp.Or(chooseWidth(w), usualWidth)
	all := chapters.All()
	var b strings.Builder
	if format == "markdown" {
		for _, c := range all {
			fmt.Fprintf(&b, "%d. [%s](docs/learn/%s): %s\n", c.Number, c.Title, c.File(), c.Summary)
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
	b.WriteString(textwrap.Wrap(fmt.Sprintf("%d chapters about distributed locks, to be read in this order. Begin with:", len(all)), width, 0) + "\n\n  locksim learn 1\n\n")
	for _, c := range all {
		fmt.Fprintf(&b, "%4d  %s\n", c.Number, c.Name)
		b.WriteString(wrapIndented(c.Summary, width, 6))
	}
	b.WriteString("\n" + textwrap.Wrap("locksim learn NUMBER or locksim learn NAME shows a chapter. After it, locksim ask asks you.", width, 0) + "\n")
	b.WriteString(textwrap.Wrap("locksim learn new DIR writes exercises, in which you write a lock yourself.", width, 0) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// wrapIndented fits a text into lines of at most width columns, all of them indented.
func wrapIndented(text string, width, indent int) string {
	spaces := strings.Repeat(" ", indent)
	return spaces + strings.ReplaceAll(textwrap.Wrap(text, width-indent, 0), "\n", "\n"+spaces) + "\n"
}

// completeChapters completes the names of chapters.
func completeChapters(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []cobra.Completion
	for _, c := range chapters.All() {
		words = append(words, cobra.CompletionWithDesc(c.Name, c.Title))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
