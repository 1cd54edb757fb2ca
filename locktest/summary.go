package locktest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
)

// A summary collects the results of a lock's test cases for the log: first the test cases
// that failed, then the results of the catalogue's scenarios that did not fail.
type summary struct {
	*subject
	count, worlds int
	releases      releases
	// failed are the names of the test cases that failed the lock, of the catalogue or not.
	failed []string
	// byCategory has, for each category of results, the names of the catalogue's scenarios
	// with such a result.
	rows map[string][]string
	// excused has, for each blame other than the lock's, the scenarios with a violation
	// that has this blame.
	excused map[string][]string
}

// The categories of results that do not fail the lock. They are the headings of the
// summary.
const (
	categoryHolds         = "holds without fencing tokens"
	categoryBreaks        = "breaks without fencing tokens"
	categoryBreaksFenced  = "breaks even with fencing tokens"
	categoryUnknown       = "unknown"
	categoryNotApplicable = "not applicable to this lock"
)

// categories lists the categories in the order of the summary.
func categories() []string {
	return []string{categoryHolds, categoryBreaks, categoryBreaksFenced, categoryUnknown, categoryNotApplicable}
}

// add counts the result of a test case.
func (s *summary) add(st testCase, o testResult) {
	s.count++
	s.worlds += o.Worlds
	s.releases.add(o.Releases)
	if len(o.Problems) > 0 {
		// For a lock that fails, the verdict on the data means nothing any more.
		s.failed = append(s.failed, st.name)
		return
	}
	if s.rows == nil {
		s.rows, s.excused = map[string][]string{}, map[string][]string{}
	}
	name, ofCatalogue := strings.CutPrefix(st.name, "catalogue/")
	if !ofCatalogue {
		return
	}
	s.rows[categoryOf(o)] = append(s.rows[categoryOf(o)], name)
	for _, e := range o.Excused {
		fault := e.Fault.String()
		if !slices.Contains(s.excused[fault], name) {
			s.excused[fault] = append(s.excused[fault], name)
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

// String returns the summary as it is logged.
func (s *summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d test cases in %d worlds, %d failed\n", s.config.Name, s.count, s.worlds, len(s.failed))
	if s.releases.Failed > 0 {
		fmt.Fprintf(&b, "\n  %s\n", s.releases)
	}
	list := func(title string, names []string) {
		if len(names) > 0 {
			fmt.Fprintf(&b, "\n  %s (%d)\n%s", title, len(names), wrapNames(names))
		}
	}
	list("failed", s.failed)
	for _, sort := range categories() {
		list(sort, s.rows[sort])
	}
	var faults []string
	for fault := range s.excused {
		faults = append(faults, fault)
	}
	slices.Sort(faults)
	for _, fault := range faults {
		list("not the lock's fault, "+fault, s.excused[fault])
	}
	return strings.TrimRight(b.String(), "\n")
}

// wrapNames writes names, separated by commas, in lines of at most 76 columns.
func wrapNames(names []string) string {
	var b strings.Builder
	width := 0
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		if width > 0 && width+1+len(name) > 72 {
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
