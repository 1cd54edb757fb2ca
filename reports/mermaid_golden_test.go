package reports_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// The diagram of gc-pause is a golden file. To look at it, open it in a viewer for Mermaid.
func TestMermaidGolden(t *testing.T) {
	file := filepath.Join("testdata", "formats", "gc-pause.mmd")
	mermaid, ok := reports.Runs.Lookup("mermaid")
	if !ok {
		t.Fatal("there is no format mermaid")
	}
	got := mermaid.Pages([]*scenarios.Result{runScenario(t, "gc-pause")}, reports.Options{})[0].Data
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test ./reports -run TestMermaidGolden -update writes it)", err)
	}
	if string(got) != string(want) {
		t.Errorf("the diagram differs from %s; if it should, run go test ./reports -run TestMermaidGolden -update, and read the difference\n%s", file, got)
	}
}

// runScenario returns the result of one scenario of the catalogue.
func runScenario(t *testing.T, name string) *scenarios.Result {
	t.Helper()
	s, err := scenarios.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return runOnce(t, s)
}
