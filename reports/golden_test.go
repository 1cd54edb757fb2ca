package reports_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Each scenario's report is a golden file: read it to see what the scenario
// tells. Under the report stand the hashes of the traces, which hold every
// message that the report leaves out.
func TestGolden(t *testing.T) {
	text, _ := reports.Runs.Lookup("text")
	for _, s := range scenarios.Embedded() {
		t.Run(s.Name, func(t *testing.T) {
			result, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			if err := text.Write(&got, []*scenarios.Result{result}, reports.Options{}); err != nil {
				t.Fatal(err)
			}
			got.WriteString("\n")
			for _, run := range result.Runs {
				fmt.Fprintf(&got, "%s fencing %-3s  %3d events  %s\n", run.Variant.Name, run.Fencing, len(run.History.Trace.Events), run.History.Trace.Hash())
			}
			file := filepath.Join("testdata", s.Name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (go test ./reports -run TestGolden -update writes it)", err)
			}
			if got.String() != string(want) {
				t.Errorf("the report is not %s any more; if it should not be, go test ./reports -run TestGolden -update, and read the difference\n%s", file, got.String())
			}
		})
	}
}

// Every scenario can be explained, on a page and with all that it says.
func TestEveryScenarioIsExplained(t *testing.T) {
	for _, s := range scenarios.Embedded() {
		result, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range reports.Explanations.Formats() {
			var story strings.Builder
			if err := format.Write(&story, []*scenarios.Result{result}, reports.Options{}); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(strings.Fields(story.String()), " ")
			for _, heading := range []string{"The setting", "The question", "What happened", "What broke", "What would have prevented it", "What each side says", "The lesson", "Source"} {
				if !strings.Contains(got, heading) && !(heading == "What broke" && strings.Contains(got, "What held")) {
					t.Errorf("%s as %s has no chapter %q", s.Name, format.Name, heading)
				}
			}
			for line := range strings.Lines(story.String()) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 && format.Name == "text" {
					t.Errorf("%s: a line is %d columns wide: %s", s.Name, n, line)
				}
			}
		}
	}
}
