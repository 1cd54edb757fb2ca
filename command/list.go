package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// listFlags are the flags of the list command. All but format are filters: they select
// scenarios, and "" selects all.
type listFlags struct {
	group    string
	lock     string
	fault    string
	violates string
	format   string
}

func listCommand() *cobra.Command {
	f := &listFlags{}
	cmd := &cobra.Command{
		Use:   "list [WORD...]",
		Short: "List the built-in scenarios, or those that match some words",
		Long: `List the built-in scenarios, in the order in which people should read them. With
words, list those that contain all of them in their names and titles, in the lines
that say why the data breaks, or in the names of their faults and locks.

A scenario must also fit all filters; all filters except the group must fit the same
variant.`,
		Example: `  locksim list pause
  locksim list --group fencing
  locksim list --fault crash --violates lease-exclusion
  locksim list --lock redsync --format json`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, words []string) error {
			return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr(), words)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.group, "group", "", "only scenarios of this `group`")
	flags.StringVar(&f.lock, "lock", "", "only scenarios that use this `kind` of lock, or expect something of it")
	flags.StringVar(&f.fault, "fault", "", "only scenarios that contain this `kind` of fault")
	flags.StringVar(&f.violates, "violates", "", "only scenarios that violate this `property`, with fencing tokens or without")
	flags.StringVar(&f.format, "format", "text", "text or json")
	for _, filter := range f.filters() {
		complete(cmd, filter.flag, filter.known)
	}
	complete(cmd, "format", listFormats)
	return cmd
}

var listFormats = []string{"json", "text"}

// A filter is a flag with a fixed list of values. noun names such a value in an error.
type filter struct {
	flag, noun string
	value      string
	known      []string
}

func (f *listFlags) filters() []filter {
	return []filter{
		{"group", "group", f.group, scenarios.Groups()},
		{"lock", "lock", f.lock, locks.Names()},
		{"fault", "kind of fault", f.fault, faultKinds()},
		{"violates", "property", f.violates, propertyNames()},
	}
}

func (f *listFlags) run(stdout, stderr io.Writer, words []string) error {
	for _, filter := range append(f.filters(), filter{"format", "format", f.format, listFormats}) {
		if filter.value != "" && !slices.Contains(filter.known, filter.value) {
			return fmt.Errorf("locksim: there is no %s %q; %s", filter.noun, filter.value, oneOf(filter.value, filter.known))
		}
	}
	var shelves []scenarios.CatalogueGroup
	for _, shelf := range scenarios.Catalogue() {
		shelf.Scenarios = slices.DeleteFunc(shelf.Scenarios, func(s *scenarios.Scenario) bool { return !f.matches(s) || !containsAll(s, words) })
		if len(shelf.Scenarios) > 0 {
			shelves = append(shelves, shelf)
		}
	}
	var nothing error
	if len(shelves) == 0 && len(words) > 0 {
		which := "scenario"
		if *f != (listFlags{format: f.format}) {
			which = "scenario that fits all filters"
		}
		nothing = failure{unexpected, fmt.Errorf("locksim: no built-in %s contains %s; %s", which, strings.Join(words, " and "), hintOfWords(words))}
	}
	switch {
	case f.format == "json":
		return cmp.Or(outputError(listJSON(stdout, shelves)), nothing)
	case nothing != nil:
		return nothing
	case len(shelves) == 0:
		return outputError(printLine(stderr, "locksim: no built-in scenario fits all filters"))
	}
	isWhole := len(words) == 0 && *f == (listFlags{format: f.format})
	return outputError(listText(stdout, shelves, chooseWidth(stdout), isWhole))
}

// hintOfWords says what was probably meant by words that no scenario contains.
func hintOfWords(words []string) string {
	known := slices.Concat(scenarios.Names(), locks.Names(), faultKinds())
	isKnown := func(word string) bool {
		return slices.ContainsFunc(scenarios.Embedded(), func(s *scenarios.Scenario) bool { return containsAll(s, []string{word}) })
	}
	for _, word := range words {
		if isKnown(word) {
			continue
		}
		if slices.Contains(scenarios.Groups(), word) {
			return fmt.Sprintf("%s is a group; `locksim list --group %s` lists it", word, word)
		}
		if hint := cmp.Or(hintOfTerm(word), scenarios.DidYouMean(word, known)); hint != "" {
			return hint
		}
	}
	return "`locksim list` shows all"
}

// containsAll reports whether a scenario contains each of the words in what a reader would
// look for: names, titles, the reasons why it breaks, its faults and its own locks. Upper
// and lower case are the same.
func containsAll(s *scenarios.Scenario, words []string) bool {
	texts := []string{s.Name, s.Title}
	for _, v := range s.Variants {
		texts = append(append(texts, v.Name, v.Title, v.Why, v.Lock), v.FaultKinds()...)
	}
	all := strings.ToLower(textwrap.OneLine(strings.Join(texts, "\n")))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(all, strings.ToLower(word)) })
}

// matches reports whether a scenario has a variant that fits all filters.
func (f *listFlags) matches(s *scenarios.Scenario) bool {
	return (f.group == "" || s.Group == f.group) && slices.ContainsFunc(s.Variants, func(v *scenarios.Variant) bool {
		return (f.lock == "" || slices.Contains(v.Locks(), f.lock)) &&
			(f.fault == "" || slices.Contains(v.FaultKinds(), f.fault)) &&
			(f.violates == "" || slices.Contains(v.Violates(), checks.Property(f.violates)))
	})
}

// listText writes the groups, with a line for each scenario: its name and title. If isWhole is
// true, the list has all scenarios, and begins with advice on which to read first. Titles are
// broken into lines if a width is known; 0 means that it is not, as in a pipe.
func listText(w io.Writer, shelves []scenarios.CatalogueGroup, width int, isWhole bool) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	wrap := textwrap.Wrap
	if width == 0 {
		wrap = func(text string, _, _ int) string { return text }
	}
	if isWhole {
		fmt.Fprintln(columns, wrap("Start here: locksim explain gc-pause, then delayed-write and clock-jump.", width, 2))
		fmt.Fprintln(columns, wrap("locksim list WORD finds scenarios about a word, such as pause or etcd.", width, 2))
		fmt.Fprintln(columns)
	}
	for i, shelf := range shelves {
		if i > 0 {
			fmt.Fprintln(columns)
		}
		fmt.Fprintln(columns, wrap(fmt.Sprintf("%s (--group %s)", shelf.Title, shelf.Name), width, 2))
		longest := 0
		for _, s := range shelf.Scenarios {
			longest = max(longest, len(s.Name))
		}
		for _, s := range shelf.Scenarios {
			title := wrap(s.Title, width-longest-4, 0)
			fmt.Fprintf(columns, "  %s\t%s\n", s.Name, strings.ReplaceAll(title, "\n", "\n  \t"))
		}
	}
	return columns.Flush()
}

// A listedScenario is a scenario in the JSON list. Its locks, faults and violations are the
// locks, faults and violations of all its variants.
type listedScenario struct {
	Name       string            `json:"name"`
	Group      string            `json:"group"`
	Title      string            `json:"title"`
	Assumption string            `json:"assumption"`
	Locks      []string          `json:"locks"`
	Faults     []string          `json:"faults"`
	Violates   []checks.Property `json:"violates"`
	Variants   []listedVariant   `json:"variants"`
}

// A listedVariant is a variant in the JSON list.
type listedVariant struct {
	Name       string            `json:"name"`
	Title      string            `json:"title"`
	Assumption string            `json:"assumption"`
	Locks      []string          `json:"locks"`
	Faults     []string          `json:"faults"`
	Violates   []checks.Property `json:"violates"`
}

// listJSON writes the scenarios as JSON.
func listJSON(w io.Writer, shelves []scenarios.CatalogueGroup) error {
	list := []listedScenario{}
	for _, shelf := range shelves {
		for _, s := range shelf.Scenarios {
			list = append(list, describeScenario(s))
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Schema    string           `json:"schema"`
		Scenarios []listedScenario `json:"scenarios"`
	}{"locksim/list/v1", list})
}

// describeScenario returns what is known about a scenario without running it, for each
// variant and for all of them together.
func describeScenario(s *scenarios.Scenario) listedScenario {
	out := listedScenario{
		Name: s.Name, Group: s.Group, Title: s.Title, Assumption: s.Assumption,
		Locks: []string{}, Faults: []string{}, Violates: []checks.Property{},
	}
	for _, v := range s.Variants {
		variant := listedVariant{v.Name, v.Title, v.Assumption, v.Locks(), append([]string{}, v.FaultKinds()...), append([]checks.Property{}, v.Violates()...)}
		out.Variants = append(out.Variants, variant)
		out.Locks = union(out.Locks, variant.Locks)
		out.Faults = union(out.Faults, variant.Faults)
		out.Violates = union(out.Violates, variant.Violates)
	}
	return out
}

// union returns the elements of both lists, each once: first all of a, then the elements of b
// that are not in a.
func union[E comparable](a, b []E) []E {
	for _, e := range b {
		if !slices.Contains(a, e) {
			a = append(a, e)
		}
	}
	return a
}

func faultKinds() []string {
	var names []string
	for _, k := range sim.FaultKinds() {
		names = append(names, k.Name)
	}
	return names
}

func propertyNames() []string {
	var names []string
	for _, p := range checks.Properties() {
		names = append(names, string(p))
	}
	return names
}
