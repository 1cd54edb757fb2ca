package locktest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/repository"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/reports"
)

// A summary is the end of a report: what the lock does wrong, and the results of all test
// cases as numbers.
type summary struct {
	*subject
	// lists means that the summary has the names of all test cases, by their results.
	lists bool
	// selects means that the user has selected some of the test cases.
	selects       bool
	count, worlds int
	// stuck is how many worlds hung in real time.
	stuck int
	// leftOut is how many test cases were not run, because the lock hangs.
	leftOut  int
	releases releases
	// failed are the names of the test cases that failed the lock, of the catalogue or not.
	failed []string
	causes causes
	// known are the mistakes that the test expects; nil if it expects none.
	known *reports.Suite
	// cases are the results of all test cases, for a report in a file.
	cases []reports.SuiteCase
	// chance is the first difference that was seen between two runs of one world; nil if
	// none was.
	chance *chance
	// unknown counts, for each reason, the test cases whose result is unknown for this reason.
	unknown map[string]int
	// byCategory has the names of the test cases of each category. A scenario of the catalogue
	// has its own name, without the prefix of its test case.
	byCategory map[string][]string
	// excused has, for each thing to blame other than the lock, the names of the test cases with a
	// violation for which it is to blame.
	excused map[string][]string
	// remarks say which kinds of locks must be tested in another form, and which methods of
	// leases declare nothing because of their type.
	remarks []string
}

// The categories of results that fail nothing. Those about fencing tokens are the results
// of the catalogue's scenarios, in the words of the matrix.
const (
	categoryPasses        = "passes"
	categoryHolds         = "holds without fencing tokens"
	categoryBreaks        = "breaks without fencing tokens"
	categoryBreaksFenced  = "breaks even with fencing tokens"
	categoryUnknown       = "unknown"
	categoryNotApplicable = "not applicable to this lock"
)

// categories lists the categories in the order of the summary.
func categories() []string {
	return []string{categoryPasses, categoryHolds, categoryBreaks, categoryBreaksFenced, categoryUnknown, categoryNotApplicable}
}

// add counts the result of a test case.
func (s *summary) add(st testCase, o testResult) {
	s.count++
	s.remarks = append(s.remarks, kindRemarksOn(st, o)...)
	s.worlds += o.Worlds
	s.stuck += o.Stuck
	s.releases.add(o.Releases)
	s.chance = cmp.Or(s.chance, o.Chance)
	for _, method := range o.Mistyped {
		s.remarks = appendNew(s.remarks, "not judged: a lease's method "+method+"; see "+repository.Document("testing-your-lock.md")+", What a lease declares")
	}
	if len(o.Problems) > 0 {
		// If the lock fails the test case, the verdict on the data means nothing.
		s.failed = append(s.failed, st.name)
		s.cases = append(s.cases, reports.SuiteCase{Name: st.name})
		for _, c := range o.Causes {
			c.Cases = []string{st.name}
			s.causes.merge(c)
		}
		return
	}
	if s.byCategory == nil {
		s.byCategory, s.excused, s.unknown = map[string][]string{}, map[string][]string{}, map[string]int{}
	}
	name, isInCatalogue := strings.CutPrefix(st.name, "catalogue/")
	category := categoryOf(o)
	if !isInCatalogue && o.NotApplicable == "" && o.Unknown == "" {
		category = categoryPasses
	}
	s.byCategory[category] = append(s.byCategory[category], name)
	if category == categoryUnknown {
		s.unknown[cmp.Or(o.Unknown, "no world decides it")]++
	}
	s.cases = append(s.cases, reports.SuiteCase{Name: st.name, Result: category, Why: cmp.Or(o.NotApplicable, o.Unknown), NotApplicable: o.NotApplicable != ""})
	for _, e := range o.Excused {
		blame := e.Blame.String()
		if !slices.Contains(s.excused[blame], name) {
			s.excused[blame] = append(s.excused[blame], name)
		}
	}
}

// categoryOf returns the category of a result that does not fail the lock.
func categoryOf(o testResult) string {
	switch {
	case o.NotApplicable != "":
		return categoryNotApplicable
	case o.Off == checks.Undecided || o.On == checks.Undecided || o.Off == "" || o.On == "":
		return categoryUnknown
	case o.On == checks.Unsafe:
		return categoryBreaksFenced
	case o.Off == checks.Unsafe:
		return categoryBreaks
	}
	return categoryHolds
}

// String returns the summary as the test reports it.
func (s *summary) String() string {
	var b strings.Builder
	tried := fmt.Sprintf("%s in %s", voice.Count(s.count, "test case"), voice.Count(s.worlds, "world"))
	switch {
	case len(s.failed) == 0 && s.showsNothing():
		fmt.Fprintf(&b, "%s: nothing is known about this lock after %s\n%s", s.config.Name, tried, paragraph(s.describeUnknown()))
	case len(s.failed) == 0:
		fmt.Fprintf(&b, "%s: no failure in %s\n", s.config.Name, tried)
	default:
		fmt.Fprintf(&b, "%s: %s %s %d of %s fail (%s run)\n", s.config.Name, voice.Count(len(s.causes), "mistake"), makeVerb(len(s.causes)), len(s.failed), voice.Count(s.count, "test case"), worldsWere(s.worlds))
	}
	s.writeKnown(&b)
	if s.chance != nil {
		b.WriteString("\n" + s.chance.describe())
	}
	for i, c := range s.unknownCauses() {
		fmt.Fprintf(&b, "\n%s", c.describe(i+1, s.replayLine))
	}
	if len(s.causes) > 0 {
		b.WriteString("\n")
	}
	for _, r := range s.remarks {
		fmt.Fprintf(&b, "%s\n\n", textwrap.Wrap(r, pageWidth, 0))
	}
	s.writeNumbers(&b)
	if s.lists {
		s.writeNames(&b)
	}
	return strings.TrimRight(b.String(), "\n")
}

// showsNothing reports whether there are unknown results and no known ones. Test cases that failed
// the lock, and test cases that do not apply to it, do not count.
func (s *summary) showsNothing() bool {
	return len(s.byCategory[categoryUnknown]) > 0 && !slices.ContainsFunc(
		[]string{categoryPasses, categoryHolds, categoryBreaks, categoryBreaksFenced},
		func(category string) bool { return len(s.byCategory[category]) > 0 })
}

// describeUnknown says in how many test cases the result is unknown, and gives the most
// frequent reason.
func (s *summary) describeUnknown() string {
	reasons := slices.Sorted(maps.Keys(s.unknown))
	most := slices.MaxFunc(reasons, func(a, b string) int { return s.unknown[a] - s.unknown[b] })
	return fmt.Sprintf("unknown: %s, %d of them because %s", voice.Count(len(s.byCategory[categoryUnknown]), "test case"), s.unknown[most], most)
}

// unknownCauses returns the causes, which are the lock's mistakes with the worlds that show them,
// that the test does not expect. The worst comes first.
func (s *summary) unknownCauses() causes {
	return slices.DeleteFunc(s.causes.sorted(), s.isKnown)
}

// isKnown reports whether the test expects a cause.
func (s *summary) isKnown(c cause) bool {
	return s.known != nil && isKnown(s.known, s.test, s.suiteMistake(c))
}

// writeKnown writes which mistakes of the lock were expected, and which expected ones were
// not seen.
func (s *summary) writeKnown(b *strings.Builder) {
	if s.known == nil {
		return
	}
	seen := map[string]bool{}
	for _, c := range s.causes.sorted() {
		if s.isKnown(c) {
			fmt.Fprintf(b, "known: %s\n", c.title())
			seen[c.title()] = true
		}
	}
	for _, t := range s.known.Tests {
		for _, m := range t.Mistakes {
			if t.Test == s.test && !seen[m.Title] && !s.selects && s.leftOut == 0 {
				fmt.Fprintf(b, "no longer seen: %s; write %s again\n", m.Title, s.config.Known)
			}
		}
	}
}

// makeVerb returns the form of "make" for so many mistakes.
func makeVerb(mistakes int) string {
	if mistakes == 1 {
		return "makes"
	}
	return "make"
}

// worldsWere returns "1 world was" or the same for another number of worlds.
func worldsWere(worlds int) string {
	if worlds == 1 {
		return "1 world was"
	}
	return voice.Count(worlds, "world") + " were"
}

// writeNumbers writes how many test cases have each result, and what is to blame for the violations
// that do not fail the lock.
func (s *summary) writeNumbers(b *strings.Builder) {
	line := func(text string) { fmt.Fprintln(b, textwrap.Wrap(text, pageWidth, 2)) }
	numbers := func(names []string, of map[string][]string) string {
		var parts []string
		for _, name := range names {
			if n := len(of[name]); n > 0 {
				parts = append(parts, fmt.Sprintf("%s (%d)", name, n))
			}
		}
		return strings.Join(parts, ", ")
	}
	if results := numbers(categories(), s.byCategory); results != "" {
		if !s.lists {
			results += "; -v lists them"
		}
		line("other test cases: " + results)
	}
	if len(s.failed) > 0 && s.showsNothing() {
		line(s.describeUnknown())
	}
	if excused := numbers(slices.Sorted(maps.Keys(s.excused)), s.excused); excused != "" {
		line("not the lock's fault: " + excused)
	}
	if s.releases.Failed > 0 {
		line(s.releases.String())
	}
}

// writeNames lists the test cases that did not fail, by their results.
func (s *summary) writeNames(b *strings.Builder) {
	for _, category := range categories() {
		if names := s.byCategory[category]; len(names) > 0 {
			fmt.Fprintf(b, "\n  %s\n%s", category, wrapNames(names))
		}
	}
}

// wrapNames writes names in lines of a page's width.
func wrapNames(names []string) string {
	var b strings.Builder
	width := 0
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		if width > 0 && width+1+len(name) > pageWidth-4 {
			b.WriteString("\n")
			width = 0
		}
		if width == 0 {
			b.WriteString("    ")
		} else {
			b.WriteString(" ")
			width++
		}
		b.WriteString(name)
		width += len(name)
	}
	return b.String() + "\n"
}
