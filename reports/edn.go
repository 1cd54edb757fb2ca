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
		Write: writeHistories, Pages: historyPages,
	})
}

// writeHistories writes a stream of histories, each after a comment that says what it
// is.
func writeHistories(w io.Writer, results []*scenarios.Result, o Options) error {
	var documents []string
	for _, r := range results {
		for _, run := range r.Runs {
			for _, h := range edn.Of(run.History) {
				documents = append(documents, ednDocument(h, r, run, o))
			}
		}
	}
	_, err := io.WriteString(w, strings.Join(documents, "\n"))
	return err
}

// historyPages has a file for each history.
func historyPages(results []*scenarios.Result, o Options) []Page {
	var pages []Page
	names := pageNames{}
	for _, r := range results {
		for _, run := range r.Runs {
			for _, h := range edn.Of(run.History) {
				name := names.name(append(runWords(r, run), h.Name)...)
				pages = append(pages, Page{name + ".edn", []byte(ednDocument(h, r, run, o))})
			}
		}
	}
	return pages
}

// ednDocument is a history after comments that say what it is.
func ednDocument(h edn.History, r *scenarios.Result, run scenarios.Outcome, o Options) string {
	return fmt.Sprintf("; %s, %s: the verdict is %s\n; %s\n; replay: %s\n%s",
		story.Visible(r.Scenario.Name), runTitle(run), run.Verdict.Verdict, h.Model, replay(r, o), h)
}
