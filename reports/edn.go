package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/edn"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

func init() {
	Runs.Register(Format[Results]{
		Name: "edn", Title: "Jepsen's checkers, Knossos and Elle: each history as operations that are invoked and end",
		Write: writeHistories, Pages: historyPages, Names: historyNames,
	})
}

// writeHistories writes all histories into one stream. A comment before each history
// describes it.
func writeHistories(w io.Writer, results []*scenarios.Result, o Options) error {
	var documents []string
	for _, r := range results {
		for _, run := range r.Runs {
			for _, h := range edn.Histories(run.History) {
				documents = append(documents, ednDocument(h, r, run, o))
			}
		}
	}
	_, err := io.WriteString(w, strings.Join(documents, "\n"))
	return err
}

// historyPages returns a file for each history. The first line of a file contains
// [pageMark], by which locksim recognizes a file that it may overwrite.
func historyPages(results []*scenarios.Result, o Options) []Page {
	var pages []Page
	names := pageNames{}
	for _, r := range results {
		for _, run := range r.Runs {
			for _, h := range edn.Histories(run.History) {
				name := names.name(append(runWords(r, run), h.Name)...)
				text := "; " + pageMark + "\n" + ednDocument(h, r, run, o)
				pages = append(pages, Page{name + ".edn", []byte(text)})
			}
		}
	}
	return pages
}

// maxHistories is the maximum number of histories of one kind for which historyNames
// returns names. How many histories a run has is known only after the run.
const maxHistories = 20

// historyNames returns the names that the files of historyPages can have if no run has more than
// maxHistories histories of one kind.
func historyNames(results []*scenarios.Result, _ Options) []string {
	var files []string
	names := pageNames{}
	for _, r := range results {
		for _, run := range r.Runs {
			for _, kind := range edn.Kinds() {
				files = append(files, names.name(append(runWords(r, run), kind)...)+".edn")
				for i := range maxHistories {
					files = append(files, names.name(append(runWords(r, run), fmt.Sprintf("%s-%d", kind, i+1))...)+".edn")
				}
			}
		}
	}
	return files
}

// ednDocument returns a history, after comments that describe it.
func ednDocument(h edn.History, r *scenarios.Result, run scenarios.RunResult, o Options) string {
	return fmt.Sprintf("; %s, %s: the verdict is %s\n; %s\n; replay: %s\n%s",
		story.Visible(r.Scenario.Name), runTitle(run), run.Verdict.Verdict, h.Model, replay(r, o), h)
}
