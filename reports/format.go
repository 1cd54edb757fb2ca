// Package reports describes runs of scenarios for people and programs: as text, as a page
// with a space-time diagram to step through, as pictures, and in the formats that CI and
// other checkers read.
//
// To add a format, write one file that registers a [Format] with each [Subject] that it can
// write; every list of formats then includes it. The output of a format depends only on the
// subject and the [Options]. This package contains no sentence or number about a particular
// scenario.
//
// Package story describes what happened in a run, and package diagram draws it, both from
// the trace alone. So [ReadTraces] can report a saved run again.
package reports

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/scenarios"
)

// A Format is one way of writing a kind of subject, such as the results of runs or a
// matrix.
type Format[S any] struct {
	// Name is the name of the format on the command line.
	Name string
	// Title says for whom or what the format is, as an entry of a list.
	Title string
	// Write writes one document. It returns the writer's errors and no others.
	Write func(w io.Writer, subject S, o Options) error
	// Most is the maximum number of scenarios in one document; 0 is any number.
	Most int
	// Pages writes the subject and its details as the files of one folder; nil for a format
	// that is always one document.
	Pages func(subject S, o Options) []Page
	// Names returns the names of all files that Pages may write, and perhaps some others.
	// They depend only on the scenarios, variants, locks and kinds of runs, so they are
	// known before anything is run.
	Names func(subject S, o Options) []string
}

// A Page is one file of a folder of reports.
type Page struct {
	// Name is the file's name, without any folder.
	Name string
	Data []byte
}

// A planned page has a name; its data is written after all runs.
type planned struct {
	name string
	data func() []byte
}

// pagesOf writes the pages of a plan, for [Format.Pages].
func pagesOf[S any](plan func(S, Options) []planned) func(S, Options) []Page {
	return func(subject S, o Options) []Page {
		var pages []Page
		for _, p := range plan(subject, o) {
			pages = append(pages, Page{p.name, p.data()})
		}
		return pages
	}
}

// fileNamesOf returns the file names of a plan, for [Format.Names].
func fileNamesOf[S any](plan func(S, Options) []planned) func(S, Options) []string {
	return func(subject S, o Options) []string {
		var names []string
		for _, p := range plan(subject, o) {
			names = append(names, p.name)
		}
		return names
	}
}

// Options are the reader's preferences. A format ignores those that do not apply to it.
type Options struct {
	// Palette colours text for people; the zero Palette uses no colours.
	Palette Palette
	// Columns lays out the cells of a table in columns, with a line under the heads if
	// there are rows. A cell may have several lines, and colours. Without it, every
	// character counts as one column wide.
	Columns func(heads []string, rows [][]string) string
	// Messages adds every message to the timeline, except those that only set up a
	// connection.
	Messages bool
	// Arguments are the names that the command line used for scenarios, if not their files.
	Arguments map[*scenarios.Scenario]string
	// Traces are the files of saved traces whose scenario is unknown and so cannot be run.
	Traces map[*scenarios.Scenario]string
	// Took is how long all runs took in real time. It differs each time, so a report that
	// must be reproducible leaves it 0; then the report does not mention it.
	Took time.Duration
	// Since compares a search with an earlier one; nil is no comparison.
	Since *Comparison
	// Explored are the results of searches, for a site that has a page for each.
	Explored []*explore.Result

	// published is set for reports that people publish for others.
	published bool
}

// A Subject is a kind of thing that reports are about, with its formats.
type Subject[S any] struct{ formats []Format[S] }

// Results are the results of some scenarios.
type Results = []*scenarios.Result

// The subjects. An explanation describes each result in full: the setting, the question to
// think about, what happened with the important moments, what broke, and the lesson. A
// result may have one run of each variant or both.
var (
	Runs         = &Subject[Results]{}
	Explanations = &Subject[Results]{}
	Matrices     = &Subject[*Matrix]{}
	Searches     = &Subject[*explore.Result]{}
	Tallies      = &Subject[*Tally]{}
)

// Register adds a format. It is for package initialisation. It panics if the name is
// registered already, because one of the two formats could never be chosen.
func (s *Subject[S]) Register(f Format[S]) {
	if _, dup := s.Lookup(f.Name); dup {
		panic("reports: two formats are called " + f.Name)
	}
	s.formats = append(s.formats, f)
	slices.SortFunc(s.formats, func(a, b Format[S]) int { return strings.Compare(a.Name, b.Name) })
}

// Lookup finds a format by name.
func (s *Subject[S]) Lookup(name string) (Format[S], bool) {
	i := slices.IndexFunc(s.formats, func(f Format[S]) bool { return f.Name == name })
	if i < 0 {
		return Format[S]{}, false
	}
	return s.formats[i], true
}

// Formats lists the formats in alphabetical order.
func (s *Subject[S]) Formats() []Format[S] { return slices.Clone(s.formats) }
