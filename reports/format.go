// Package reports describes runs of scenarios, for people and for programs. It writes text,
// pages with a space-time diagram through which readers can step, pictures, and the formats
// that CI systems and other checkers read.
//
// To add a format, write one file that registers a [Format] with each [Subject] that the
// format can write. Every list of formats then includes it. The output of a format depends
// only on the subject and the [Options]. This package contains no sentence and no number
// about a particular scenario.
//
// Package story describes what happened in a run, and package diagram draws it. Both use
// only the trace, so a saved run can be reported again: see [ReadTraces].
package reports

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/rundiff"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/scenarios"
)

// A Format is one way of writing a subject, such as the results of runs or a matrix.
type Format[S any] struct {
	// Name is the name of the format on the command line.
	Name string
	// Title says for whom or for what the format is, as an entry in a list.
	Title string
	// Write writes the subject as one document. It returns only errors of the writer.
	Write func(w io.Writer, subject S, o Options) error
	// Most is the maximum number of scenarios in one document; 0 means no limit.
	Most int
	// Pages returns the subject and its details as the files of one folder. It is nil for a
	// format that is always one document.
	Pages func(subject S, o Options) []Page
	// Names returns the names of all files that Pages may return, and possibly more. They
	// depend only on the scenarios, variants, locks and kinds of runs, so they are known
	// before any run.
	Names func(subject S, o Options) []string
}

// A Page is one file of a report that consists of several files.
type Page struct {
	// Name is the file's name, without a folder.
	Name string
	Data []byte
}

// A plannedPage is a file whose name is known before the runs. data returns its content
// after them.
type plannedPage struct {
	name string
	data func() []byte
}

// pagesOf returns a func for [Format.Pages] that returns the pages of a plan.
func pagesOf[S any](plan func(S, Options) []plannedPage) func(S, Options) []Page {
	return func(subject S, o Options) []Page {
		var pages []Page
		for _, p := range plan(subject, o) {
			pages = append(pages, Page{p.name, p.data()})
		}
		return pages
	}
}

// fileNamesOf returns a func for [Format.Names] that returns the file names of a plan.
func fileNamesOf[S any](plan func(S, Options) []plannedPage) func(S, Options) []string {
	return func(subject S, o Options) []string {
		var names []string
		for _, p := range plan(subject, o) {
			names = append(names, p.name)
		}
		return names
	}
}

// Options are the reader's preferences for a report. Formats ignore options that do not
// apply to them.
type Options struct {
	// Palette colours text for people. The zero Palette uses no colours.
	Palette Palette
	// Columns arranges the cells of a table in columns, and draws a line under the heads if
	// there are rows. A cell may have several lines and colours. If Columns is nil, every
	// character counts as one column wide.
	Columns func(heads []string, rows [][]string) string
	// Width is the maximum number of columns in a line of a text report; 0 means 80.
	Width int
	// Style is the style of a picture: "full" shows everything, and "storyboard" what matters,
	// as a slide. If it is "", a picture is full, and a page has both.
	Style string
	// Messages adds all messages to timelines, except those that only set up a connection.
	Messages bool
	// Lists adds the long lists under a matrix, which a text report otherwise leaves out.
	Lists bool
	// Arguments are the names that the command line used for scenarios, if they differ from
	// the scenarios' files.
	Arguments map[*scenarios.Scenario]string
	// Traces maps scenarios without a known text to the files of their saved traces. Such a
	// scenario cannot be run again.
	Traces map[*scenarios.Scenario]string
	// NearestTurns are the nearest changes that turn the verdicts of safe runs, by the runs'
	// histories. A run without an entry is reported without such a change.
	NearestTurns map[*history.History]*whatif.Turn
	// Whys are the smallest changes that turn the verdicts of runs, by the runs' histories. A
	// run without an entry is reported without them.
	Whys map[*history.History]*whatif.Why
	// Took is how long all runs took in real time; 0 if the report must not mention it. It
	// differs each time, so a report that must be reproducible leaves it 0.
	Took time.Duration
	// Since is the comparison of a search with an earlier one; nil if there is none.
	Since *Comparison
	// Explored are results of searches. A site has a page for each.
	Explored []*explore.Result
	// SiteLinks lead from the folder of a report to the parts of the site that it belongs to. Each
	// page of the folder has them before its own links.
	SiteLinks []webpage.Link

	// published reports whether people will publish the report for others.
	published bool
}

// lineWidth returns the maximum number of columns in a line of a text report.
func (o Options) lineWidth() int { return cmp.Or(o.Width, pageWidth) }

// A Subject is a kind of thing that can be reported, with its formats.
type Subject[S any] struct{ formats []Format[S] }

// Results are the results of some scenarios.
type Results = []*scenarios.Result

// The subjects. Explanations report the same results as Runs, but describe each in full:
// the setting, the question to think about, what happened, what broke, and the lesson. The
// results may contain both runs of each variant or only one.
var (
	Runs         = &Subject[Results]{}
	Explanations = &Subject[Results]{}
	Matrices     = &Subject[*Matrix]{}
	Searches     = &Subject[*explore.Result]{}
	Tallies      = &Subject[*Tally]{}
	Sweeps       = &Subject[*whatif.Sweep]{}
	Whys         = &Subject[*whatif.Why]{}
	Diffs        = &Subject[*rundiff.Diff]{}
)

// Register adds a format, during the initialisation of a package. It panics if there is a
// format with the same name, because one of the two could never be chosen.
func (s *Subject[S]) Register(f Format[S]) {
	if _, dup := s.Lookup(f.Name); dup {
		panic("reports: two formats are called " + f.Name)
	}
	s.formats = append(s.formats, f)
	slices.SortFunc(s.formats, func(a, b Format[S]) int { return strings.Compare(a.Name, b.Name) })
}

// Lookup returns the format called name, and whether there is one.
func (s *Subject[S]) Lookup(name string) (Format[S], bool) {
	i := slices.IndexFunc(s.formats, func(f Format[S]) bool { return f.Name == name })
	if i < 0 {
		return Format[S]{}, false
	}
	return s.formats[i], true
}

// Formats returns all formats of the subject in alphabetical order.
func (s *Subject[S]) Formats() []Format[S] { return slices.Clone(s.formats) }
