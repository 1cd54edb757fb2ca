package reports

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
)

// One run becomes a diagram for an .mmd file. Several runs become a Markdown document.
func TestMermaidOfOneRunAndOfSeveral(t *testing.T) {
	off, on := simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes")
	if got := written(t, "mermaid", Options{}, resultOf(off)); !strings.HasPrefix(got, "sequenceDiagram\n") || strings.Contains(got, "```") {
		t.Errorf("the document for one run is not only a diagram:\n%s", got)
	}
	wantInOrder(t, written(t, "mermaid", Options{}, resultOf(off, on)),
		"# by-hand: A story\n\n## without fencing\n\nunsafe. ", "\n\n```mermaid\nsequenceDiagram\n", "\n```\n",
		"\n## with fencing\n\nsafe. ", "\n\n```mermaid\nsequenceDiagram\n", "\n```\n")

	format, _ := Runs.Lookup("mermaid")
	pages := format.Pages([]*scenarios.Result{resultOf(off, on)}, Options{})
	if len(pages) != 2 || pages[0].Name != "by-hand-fencing-off.mmd" || pages[1].Name != "by-hand-fencing-on.mmd" {
		t.Fatalf("the pages are %+v, want one for each run", pages)
	}
	if got, want := string(pages[0].Data), "%% "+pageMark+"\n"+written(t, "mermaid", Options{}, resultOf(off)); got != want {
		t.Errorf("the page of the first run is\n%swant\n%s", got, want)
	}
}
