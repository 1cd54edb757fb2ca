// Package reports tells people and programs what happened in the runs of a
// scenario: as text, as a page with a space-time diagram to step through, as pictures,
// and in the formats that CI and other checkers read.
//
// To add a format, write one file that registers a [Format] with each [Subject] that it
// can write; whatever lists formats then has it. Nothing that a format writes depends on
// anything but the subject and the [Options]; no sentence or number about a particular
// scenario stands here.
//
// What happened in a run is told by package story and drawn by package diagram, from the
// trace alone, so [ReadTraces] can tell a run again that was saved.
package reports

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/scenarios"
)

// A Format is one way of writing a kind of subject: what runs came to, a matrix.
type Format[S any] struct {
	// Name is what the command line calls it.
	Name string
	// Title says for whom or what it is, as an entry of a list.
	Title string
	// Write writes one document. It returns the writer's errors and no others.
	Write func(w io.Writer, subject S, o Options) error
	// Most is how many scenarios one document has room for; 0 is any number.
	Most int
	// Pages writes the subject and all that is behind it as files of one folder that
	// belong together; nil for a format that is always one document.
	Pages func(subject S, o Options) []Page
	// Names are those of the files that Pages may write, and perhaps some others. They
	// depend only on which scenarios, variants, locks and kinds of runs there are, so they
	// can be known before anything is run.
	Names func(subject S, o Options) []string
}

// A Page is one file of a folder of reports.
type Page struct {
	// Name is the file's name, without any folder.
	Name string
	Data []byte
}

// A planned page has a name, and is written when all runs are over.
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

// fileNamesOf has their names, for [Format.Names].
func fileNamesOf[S any](plan func(S, Options) []planned) func(S, Options) []string {
	return func(subject S, o Options) []string {
		var names []string
		for _, p := range plan(subject, o) {
			names = append(names, p.name)
		}
		return names
	}
}

// Options are the reader's wishes. A format ignores those that mean nothing to
// it.
type Options struct {
	// Palette colours what is meant for people; the zero Palette is plain.
	Palette Palette
	// Columns lays the cells of a table out in columns, one row below the other, with a line
	// under the heads if there are rows. A cell may have several lines, and colours. Without
	// it every letter is taken to be one column wide.
	Columns func(heads []string, rows [][]string) string
	// Messages adds every message to the timeline, but for those that only set a
	// connection up.
	Messages bool
	// Arguments are how the command line names scenarios that it does not name
	// by their file.
	Arguments map[*scenarios.Scenario]string
	// Traces are the files of the saved traces of which the scenario is not known,
	// so that nobody can run it.
	Traces map[*scenarios.Scenario]string
	// Took is how long all runs took in real time. It is different each time, so
	// a report that must be reproducible leaves it 0, and then nothing is said of
	// it.
	Took time.Duration
	// Since compares what a search found with an earlier one; nil is no comparison.
	Since *Comparison
	// Explored is what searches found, for a site that has a page for each.
	Explored []*explore.Result

	// published is set for what people put where others read it.
	published bool
}

// A Subject is a kind of thing that reports are about, and knows the formats in which it
// can be written.
type Subject[S any] struct{ formats []Format[S] }

// Results are what some scenarios came to.
type Results = []*scenarios.Result

// The subjects. An explanation tells each of its results as a story: the setting, the
// question to think about, what happened with the moments that matter, what broke, and
// what there is to learn; a result may have one run of each variant or both.
var (
	Runs         = &Subject[Results]{}
	Explanations = &Subject[Results]{}
	Matrices     = &Subject[*Matrix]{}
	Searches     = &Subject[*explore.Result]{}
	Tallies      = &Subject[*Tally]{}
)

// Register adds a format. It is for package initialisation; registering one
// name twice panics, because one of the two could never be asked for.
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
