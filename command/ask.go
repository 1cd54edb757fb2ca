package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/quiz"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// askFlags are the flags of the ask command.
type askFlags struct {
	runChoice
	overrideFlags
	topic, output  string
	number         int
	seed           uint64
	isShuffled     bool
	isLimited      bool
	list           bool
	sheet, answers bool
	instructor     bool
	destination    *destination // of the sheets of --sheet and --answers
	leftOut        int          // how many questions were left out, because their locks are not linked in
}

func askCommand() *cobra.Command {
	f := &askFlags{}
	cmd := &cobra.Command{
		Use:   "ask [TOPIC|QUESTION|FILE|NAME]",
		Short: "Ask what a run will show, grade your forecast, and say why",
		Long: `Ask what a run will show. You give a forecast and say how sure you are of it. Then
the command runs the scenario, and shows your forecast beside the result, the reason,
a variation to try, and what an interviewer wants to hear. At the end it shows your
score, and what to look at again.

Without an argument it asks all questions, in the order in which people should learn
them. A TOPIC has some of these questions, and a QUESTION is one of them (see
--list). For a scenario it asks every form of question that applies to its runs. All
answers are computed from the runs.

Answer with a letter, a time or a number, and then with 1 (a guess), 2 (fairly sure)
or 3 (certain), or with both in one line, as in: b 3. If several answers can be right,
give all letters, as in: ac 3, or none. An empty line means that you do not know, ?
explains the terms, and q ends the session.`,
		Example: `  locksim ask
  locksim ask redlock --number 5
  locksim ask gc-pause
  locksim ask my-scenario.yaml --pause 20s
  locksim ask myths --sheet -o sheet.md
  locksim ask --instructor --seed 7`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("locksim ask: name one topic, question or scenario, not %d", len(args))
			}
			if len(args) == 1 && args[0] == "" {
				return errors.New("locksim ask: the name is empty; name a topic, a question or a scenario, or leave it out to be asked everything")
			}
			return nil
		},
		ValidArgsFunction: completeAsked,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.isShuffled, f.isLimited = cmd.Flags().Changed("seed"), cmd.Flags().Changed("number")
			return f.run(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.topic, "topic", "", "ask only the questions of this `topic`, as the argument does")
	flags.IntVar(&f.number, "number", 0, "ask at most this `many` questions (default: all)")
	flags.Uint64Var(&f.seed, "seed", 0, "ask in a random order that this number decides (default: the order of reading)")
	flags.BoolVar(&f.list, "list", false, "list the topics, the questions and the forms of questions")
	flags.BoolVar(&f.sheet, "sheet", false, "print the questions in Markdown, without answers")
	flags.BoolVar(&f.answers, "answers", false, "print the questions in Markdown, with answers; with --sheet, after the sheet")
	flags.BoolVar(&f.instructor, "instructor", false, "lead a class: read the votes, let them discuss, read the votes again, and then show the run")
	flags.StringVar(&f.variant, "variant", "", "ask only about the variant of this `name`")
	flags.VarP((*outputName)(&f.output), "output", "o", "write the sheet to this `file`, as a whole or not at all; - is standard output")
	f.overrideFlags.define(cmd)
	completeWith(cmd, "topic", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return topicNames(), cobra.ShellCompDirectiveNoFileComp
	})
	completeWith(cmd, "variant", completeVariants)
	return cmd
}

func (f *askFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	if f.list {
		return outputError(listQuestions(cmd.OutOrStdout(), cmp.Or(f.topic, strings.Join(args, ""))))
	}
	exercises, sources, err := f.exercises(args)
	if err != nil {
		return err
	}
	if f.isShuffled {
		quiz.Shuffle(exercises, f.seed)
	}
	if f.leftOut > 0 {
		printLine(cmd.ErrOrStderr(), "left out: %s, because their locks are not linked into this program; locksim-all has all locks", story.Count(f.leftOut, "question"))
	}
	if f.sheet || f.answers {
		return f.writeSheets(cmd, exercises, strings.Join(args, ""), sources)
	}
	stdout := cmd.OutOrStdout()
	if len(args) == 0 && f.topic == "" {
		if err := writeWelcome(stdout, len(exercises)); err != nil {
			return outputError(err)
		}
	}
	in := newInterruptibleInput(cmd.InOrStdin())
	defer in.stop()
	err = quiz.Run(in, stdout, exercises, quiz.Options{
		Palette: choosePalette(stdout), Width: chooseWidth(stdout),
		Echo: !isTyped(cmd.InOrStdin()), Instructor: f.instructor, Number: f.number, IsInterrupted: in.isInterrupted,
	})
	if err != nil {
		return failure{unexpected, fmt.Errorf("locksim ask: %w", err)}
	}
	if in.isInterrupted() {
		return errInterrupted
	}
	return nil
}

// check checks the values of the flags, before any file is read.
func (f *askFlags) check(args []string) error {
	_, isTopic := quiz.FindTopic(f.topic)
	changes := f.variant != "" || len(f.sets) > 0 || f.ttl != "" || f.nodes != "" || f.pause != ""
	switch {
	case f.isLimited && f.number < 1:
		return fmt.Errorf("locksim ask: --number is %d; give the greatest number of questions, 1 or more", f.number)
	case f.topic != "" && !isTopic:
		return fmt.Errorf("locksim ask: there is no topic %q; %s", f.topic, oneOf(f.topic, topicNames()))
	case f.topic != "" && len(args) > 0:
		return fmt.Errorf("locksim ask: --topic %s and %q both say what to ask; leave one of them out", f.topic, args[0])
	case f.list && len(args) > 0 && !slices.Contains(topicNames(), args[0]):
		return fmt.Errorf("locksim ask: --list lists the questions of a topic; for %q, %s", args[0], oneOf(args[0], topicNames()))
	case f.list && (f.sheet || f.answers || f.instructor):
		return errors.New("locksim ask: --list asks nothing; leave out --list, or --sheet, --answers and --instructor")
	case f.instructor && (f.sheet || f.answers):
		return errors.New("locksim ask: --instructor asks a class, and a sheet asks nobody; leave out --instructor, or --sheet and --answers")
	case f.output != "" && !f.sheet && !f.answers:
		return errors.New("locksim ask: -o is for a sheet; add --sheet or --answers")
	case changes && (len(args) == 0 || !isPath(args[0]) && !isBuiltIn(args[0])):
		return errors.New("locksim ask: --variant, --set, --ttl, --nodes and --pause are for a scenario; name one")
	case f.output == "":
		f.destination = &destination{}
		return nil
	}
	if isFolder(f.output) {
		return fmt.Errorf("locksim ask: -o %s is a folder, and a sheet is one file; name a file in it", f.output)
	}
	if extension, formats := extensionOf(f.output); formats != nil && !slices.Contains(formats, "markdown") {
		return fmt.Errorf("locksim ask: -o %s ends in %s, and a sheet is Markdown; name a file that ends in .md", f.output, extension)
	}
	var err error
	f.destination, err = findDestination(f.output)
	return err
}

// exercises returns the exercises for the arguments of the command line, and the scenario files
// that were read.
func (f *askFlags) exercises(args []string) ([]*quiz.Exercise, []source, error) {
	name := cmp.Or(f.topic, strings.Join(args, ""))
	if name == "" {
		var all []*quiz.Exercise
		for _, t := range quiz.Topics() {
			all = append(all, quiz.OfTopic(t)...)
		}
		linked, err := f.linkedOf(all)
		return linked, nil, err
	}
	if t, ok := quiz.FindTopic(name); ok && !isPath(name) {
		linked, err := f.linkedOf(quiz.OfTopic(t))
		return linked, nil, err
	}
	if item, t, ok := quiz.FindItem(name); ok && !isPath(name) {
		linked, err := f.linkedOf([]*quiz.Exercise{quiz.OfItem(item, t)})
		return linked, nil, err
	}
	in, err := f.load(name)
	if err != nil {
		return nil, nil, err
	}
	all, err := quiz.OfScenario(in.Scenario, in.argument)
	return all, sourcesOf([]input{in}), err
}

// load reads the scenario that an argument names, and changes it as the flags say.
func (f *askFlags) load(name string) (input, error) {
	if !isPath(name) && !isBuiltIn(name) && !strings.ContainsAny(name, "*?[/.") {
		known := slices.Concat(topicNames(), questionNames(), scenarios.Names())
		hint := cmp.Or(hintOfTerm(name), scenarios.DidYouMean(name, known), "`locksim ask --list` shows the questions, and `locksim list` the scenarios")
		return input{}, fmt.Errorf("locksim ask: there is no topic, question, file or built-in scenario %q; %s", name, hint)
	}
	in, err := loadSingle("ask", name)
	if err == nil {
		in, err = f.selectVariant(in)
	}
	if err != nil {
		return input{}, err
	}
	if in, err = f.apply(in); err != nil {
		return input{}, fmt.Errorf("locksim: %s: %w", name, err)
	}
	return in, checkLinked([]input{in})
}

// linkedOf returns the exercises whose locks are all linked into this program, and counts the
// others. It fails if none remain.
func (f *askFlags) linkedOf(all []*quiz.Exercise) ([]*quiz.Exercise, error) {
	var linked []*quiz.Exercise
	var missing []string
	for _, e := range all {
		kinds, err := e.Locks()
		if err != nil {
			return nil, err
		}
		if kinds = slices.DeleteFunc(kinds, isLinked); len(kinds) == 0 {
			linked = append(linked, e)
			continue
		}
		missing = append(missing, kinds...)
		f.leftOut++
	}
	if len(linked) == 0 {
		return nil, newNotLinkedError("nothing was asked", missing)
	}
	return linked, nil
}

// writeWelcome writes how many questions there are, and how to choose among them.
func writeWelcome(w io.Writer, questions int) error {
	_, err := fmt.Fprintf(w, `%d questions: predict what a run shows, then see the run.
locksim ask TOPIC: %s.
locksim ask NAME: about a scenario, such as gc-pause. locksim ask --list: all.

`, questions, strings.Join(topicNames(), ", "))
	return err
}

// writeSheets writes the questions in Markdown: without answers, with answers, or both, one
// after the other.
func (f *askFlags) writeSheets(cmd *cobra.Command, exercises []*quiz.Exercise, name string, sources []source) error {
	if err := f.destination.refuseSources(cmd.OutOrStdout(), sources); err != nil {
		return err
	}
	if err := f.destination.prepare(cmd.OutOrStdout()); err != nil {
		return err
	}
	title := "Questions about distributed locks"
	if name = cmp.Or(f.topic, name); name != "" {
		title = "Questions about " + name
	}
	if t, ok := quiz.FindTopic(name); ok {
		title = t.Title
	}
	return outputError(f.destination.output(cmd.OutOrStdout(), reports.Options{}, func(w io.Writer, _ reports.Options) error {
		if f.sheet {
			if err := (quiz.Sheet{Title: title, Number: f.number}).Write(w, exercises); err != nil {
				return err
			}
		}
		if f.sheet && f.answers {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if f.answers {
			return quiz.Sheet{Title: title + ": answers", Number: f.number, Answers: true}.Write(w, exercises)
		}
		return nil
	}))
}

// listQuestions writes the questions of a topic. If topic is "", it writes all topics, and the forms
// of questions that can be asked of any scenario.
func listQuestions(w io.Writer, topic string) error {
	width := cmp.Or(chooseWidth(w), usualWidth)
	var b strings.Builder
	for i, t := range quiz.Topics() {
		if topic != "" && t.Name != topic {
			continue
		}
		if i > 0 && topic == "" {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s\n", t.Name, t.Title)
		for _, item := range t.Items {
			fmt.Fprintf(&b, "  %s\n", item.Name)
			b.WriteString(wrapIndented(item.Title, width, 6))
		}
	}
	if topic == "" {
		b.WriteString("\nOf any scenario (locksim ask NAME):\n")
		for _, form := range quiz.Forms() {
			fmt.Fprintf(&b, "  %-12s %s\n", form.Name, strings.ReplaceAll(textwrap.Wrap(form.Title, width-15, 0), "\n", "\n"+strings.Repeat(" ", 15)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// topicNames returns the names of all topics.
func topicNames() []string {
	var names []string
	for _, t := range quiz.Topics() {
		names = append(names, t.Name)
	}
	return names
}

// questionNames returns the names of all questions.
func questionNames() []string {
	var names []string
	for _, t := range quiz.Topics() {
		for _, item := range t.Items {
			names = append(names, item.Name)
		}
	}
	return names
}

// completeAsked completes topics, questions and built-in scenarios. The shell itself adds the
// names of files.
func completeAsked(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []cobra.Completion
	for _, t := range quiz.Topics() {
		words = append(words, cobra.CompletionWithDesc(t.Name, t.Title))
	}
	for _, t := range quiz.Topics() {
		for _, item := range t.Items {
			words = append(words, cobra.CompletionWithDesc(item.Name, item.Title))
		}
	}
	named, directive := completeScenarios(nil, nil, "")
	return append(words, named...), directive
}

// isTyped reports whether the input comes from a terminal. The terminal shows what the user
// types.
func isTyped(in io.Reader) bool {
	f, isFile := in.(*os.File)
	return isFile && isatty.IsTerminal(f.Fd())
}
