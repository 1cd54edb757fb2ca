package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/markdown"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

func init() {
	Runs.Register(Format[Results]{
		Name:  "mermaid",
		Title: "Markdown files: a Mermaid sequence diagram of one run by itself, or of several with a heading each",
		Write: writeMermaid,
		Pages: pagesOf(mermaidPages), Names: fileNamesOf(mermaidPages),
	})
}

// writeMermaid writes the sequence diagram of a single run as the content of an .mmd file.
// Such a file can contain only one diagram, so writeMermaid writes several runs as a
// Markdown document.
func writeMermaid(w io.Writer, results []*scenarios.Result, _ Options) error {
	if len(results) == 1 && len(results[0].Runs) == 1 {
		_, err := io.WriteString(w, sequence(results[0], results[0].Runs[0]))
		return err
	}
	var b strings.Builder
	for i, r := range results {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "# %s\n", markdown.Escape(r.Scenario.Name+": "+r.Scenario.Title))
		for _, run := range r.Runs {
			fmt.Fprintf(&b, "\n## %s\n\n", markdown.Escape(runTitle(run)))
			fmt.Fprintf(&b, "%s\n\n", markdown.Escape(string(story.VerdictAndData(run.History, run.Verdict))))
			fmt.Fprintf(&b, "```mermaid\n%s```\n", sequence(r, run))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mermaidPages returns a file for each run, with its diagram.
func mermaidPages(results []*scenarios.Result, _ Options) []plannedPage {
	var pages []plannedPage
	names := pageNames{}
	for _, r := range results {
		for _, run := range r.Runs {
			pages = append(pages, plannedPage{names.name(runWords(r, run)...) + ".mmd", func() []byte {
				return []byte("%% " + pageMark + "\n" + sequence(r, run))
			}})
		}
	}
	return pages
}

// sequence returns the sequence diagram of a run in the language of Mermaid.
func sequence(r *scenarios.Result, run scenarios.RunResult) string {
	title := Row{Scenario: r.Scenario, Variant: run.Variant}.name() + ", " + fencingNames[run.Fencing]
	return diagram.Sequence(diagramRuns([]scenarios.RunResult{run})[0], title, run.Variant.Title)
}
