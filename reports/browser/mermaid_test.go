package browser_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// mermaidPages returns the diagrams of a result, one for each run.
func mermaidPages(t *testing.T, r *scenarios.Result) []reports.Page {
	t.Helper()
	mermaid, ok := reports.Runs.Lookup("mermaid")
	if !ok {
		t.Fatal("there is no format mermaid")
	}
	return mermaid.Pages([]*scenarios.Result{r}, reports.Options{})
}

// Mermaid itself parses every diagram of the catalogue. It also draws three results: an
// ordinary one, one with many clients, and one whose names contain an attacker's markup,
// which must be shown as text. Mermaid is read from the file that LOCKSIM_MERMAID names,
// which is mermaid.min.js of its npm package.
func TestMermaidReadsEveryDiagram(t *testing.T) {
	file := os.Getenv("LOCKSIM_MERMAID")
	if file == "" {
		t.Skip("no Mermaid: let LOCKSIM_MERMAID name its mermaid.min.js")
	}
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := show(t, []byte(`<!doctype html><meta charset="utf-8"><title>Mermaid</title>`), desktop)
	eval[bool](p, string(script)+"\n;mermaid.initialize({startOnLoad: false}), true")
	// call calls a JavaScript function with a diagram. It returns the function's result, or
	// its error as text.
	call := func(function string, diagram []byte) string {
		text, err := json.Marshal(string(diagram))
		if err != nil {
			t.Fatal(err)
		}
		return eval[string](p, "("+function+")("+string(text)+").catch(String)")
	}

	results, err := suites.Results()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		for _, page := range mermaidPages(t, r) {
			if complaint := call(`async text => (await mermaid.parse(text), "")`, page.Data); complaint != "" {
				t.Errorf("%s: Mermaid refuses the diagram: %s\n%s", page.Name, complaint, page.Data)
			}
		}
	}
	for _, r := range []*scenarios.Result{runScenario(t, "gc-pause"), suites.TaintedResult(t), suites.CrowdedResult(t)} {
		for _, page := range mermaidPages(t, r) {
			drawn := call(`async text => {
				document.body.innerHTML = (await mermaid.render("drawn", text)).svg
				if (document.querySelector("img, svg script, foreignObject, .error-icon")) return "instead of text, the drawing has an image, a script, a foreign object or an error icon"
				return document.body.innerText
			}`, page.Data)
			if !strings.Contains(drawn, "client-1") || !strings.Contains(drawn, "asks for the lock") {
				t.Errorf("%s: got %q, want a drawing with client-1 and its request for the lock", page.Name, drawn)
			}
			if r.Scenario.Name != "gc-pause" && r.Scenario.Name != "crowd" && !strings.Contains(drawn, "<script>alert(1)</script>") {
				t.Errorf("%s: the drawn diagram does not show the markup as text: %s", page.Name, drawn)
			}
		}
	}
}
