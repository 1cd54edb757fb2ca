// Package reports tells people and programs what happened in the runs of a
// scenario: as text, as a page with a space-time diagram to step through, as pictures,
// and in the formats that CI and other checkers read.
//
// To add a format, write one file that registers a [Format]. Nothing that a
// format writes depends on anything but the results and the [Options]; no sentence
// or number about a particular scenario stands here.
//
// The story of a run ([Timeline] and what is in story*.go) and its diagram
// (diagram*.go) are read from the trace alone, so [ReadTraces] can tell a run again
// that was saved.
package reports

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/explore"
	"github.com/locksim/locksim/scenarios"
)

// A Format is one way of writing results.
type Format struct {
	// Name is what the command line calls it.
	Name string
	// Title is one line for people.
	Title string
	// Write writes one document for all results. It returns the writer's errors
	// and no others.
	Write func(w io.Writer, results []*scenarios.Result, o Options) error
	// Most is how many results one document has room for; 0 is any number.
	Most int
	// Pages writes results as files of one folder that belong together; nil for a
	// format that is always one document.
	Pages func(results []*scenarios.Result, o Options) []Page
}

// A Page is one file of a folder of reports.
type Page struct {
	// Name is the file's name, without any folder.
	Name string
	Data []byte
}

// Options are the reader's wishes. A format ignores those that mean nothing to
// it.
type Options struct {
	// Palette colours what is meant for people; the zero Palette is plain.
	Palette Palette
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

var formats = map[string]Format{}

// Register adds a format. It is for package initialisation; registering one
// name twice panics, because one of the two could never be asked for.
func Register(f Format) {
	if _, dup := formats[f.Name]; dup {
		panic("reports: two formats are called " + f.Name)
	}
	formats[f.Name] = f
}

// Lookup finds a format by name.
func Lookup(name string) (Format, bool) {
	f, ok := formats[name]
	return f, ok
}

// Formats lists the registered formats in alphabetical order.
func Formats() []Format {
	list := make([]Format, 0, len(formats))
	for _, f := range formats {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Format) int { return strings.Compare(a.Name, b.Name) })
	return list
}
