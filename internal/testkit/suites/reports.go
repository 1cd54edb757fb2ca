package suites

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// mustResult returns the result of a scenario on seed 1.
func mustResult(t *testing.T, s *scenarios.Scenario) *scenarios.Result {
	t.Helper()
	result, err := ResultOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// sample returns every eighth scenario if the tests are run with -short, and otherwise all
// scenarios.
func sample(all []*scenarios.Scenario) []*scenarios.Scenario {
	if !testing.Short() {
		return all
	}
	var some []*scenarios.Scenario
	for i := 0; i < len(all); i += 8 {
		some = append(some, all[i])
	}
	return some
}

// renderReport returns a report of the results in a format.
func renderReport(t *testing.T, format string, o reports.Options, results ...*scenarios.Result) string {
	t.Helper()
	f, ok := reports.Runs.Lookup(format)
	if !ok {
		t.Fatalf("there is no format %s", format)
	}
	var b strings.Builder
	if err := f.Write(&b, results, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// CheckGolden compares each scenario's report with the file of its name in testdata. People can
// read that file to see what happens in the scenario. After the report, the file has the hashes of
// the traces, because they change even if only a message changes that the report leaves out.
func CheckGolden(t *testing.T, stories []*scenarios.Scenario, update bool) {
	for _, s := range stories {
		t.Run(s.Name, func(t *testing.T) {
			result := mustResult(t, s)
			got := renderReport(t, "text", reports.Options{}, result) + "\n"
			for _, run := range result.Runs {
				got += fmt.Sprintf("%s fencing %-3s  %3d events  %s\n", run.Variant.Name, run.Fencing, len(run.History.Trace.Events), run.History.Trace.Hash())
			}
			file := filepath.Join("testdata", s.Name+".txt")
			if update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (go test -run TestGolden -update writes it)", err)
			}
			if got != string(want) {
				t.Errorf("the report is not %s any more; if it should not be, go test -run TestGolden -update, and read the difference\n%s", file, got)
			}
		})
	}
}

// CheckExplanations tests the explanation of every scenario: it has all headings, and as
// text no line is too wide for a page.
func CheckExplanations(t *testing.T, stories []*scenarios.Scenario) {
	for _, s := range stories {
		result := mustResult(t, s)
		for _, format := range reports.Explanations.Formats() {
			var story strings.Builder
			if err := format.Write(&story, []*scenarios.Result{result}, reports.Options{}); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(strings.Fields(story.String()), " ")
			for _, heading := range []string{"The setting", "The question", "What happened", "What broke", "What would have prevented it", "What each side says", "The lesson", "Source"} {
				if !strings.Contains(got, heading) && !(heading == "What broke" && strings.Contains(got, "What held")) {
					t.Errorf("%s as %s has no heading %q", s.Name, format.Name, heading)
				}
			}
			for line := range strings.Lines(story.String()) {
				address := strings.Contains(line, "://") && len(strings.Fields(line)) == 1 // an address, which cannot be wrapped
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 && format.Name == "text" && !address {
					t.Errorf("%s: a line is %d columns wide: %s", s.Name, n, line)
				}
			}
		}
	}
}

// CheckSavedTraces tests that the report of a run is the same, byte for byte, after the
// trace has been saved and read again.
func CheckSavedTraces(t *testing.T, stories []*scenarios.Scenario) {
	for _, s := range sample(stories) {
		result := mustResult(t, s)
		o := reports.Options{Arguments: map[*scenarios.Scenario]string{s: s.Name}}
		saved, err := reports.ReadTraces([]byte(renderReport(t, "trace", o, result)), "trace.json")
		if err != nil {
			t.Fatal(err)
		}
		if len(saved.Notes) > 0 {
			t.Errorf("%s: the checks were to find the same, yet: %q", s.Name, saved.Notes)
		}
		for _, format := range []string{"text", "json", "trace"} {
			if renderReport(t, format, o, result) != renderReport(t, format, reports.Options{Arguments: saved.Arguments}, saved.Results...) {
				t.Errorf("%s as %s is another report once it was saved", s.Name, format)
			}
		}
	}
}

var (
	idPattern       = regexp.MustCompile(` id="([^"]*)"`)
	linkPattern     = regexp.MustCompile(` href="#([^"]*)"`)
	negativePattern = regexp.MustCompile(` (?:x|width|y|height)="(-[0-9]+)"`)
)

// CheckDrawings tests that every scenario can be drawn on one page of less than 600 KB. For each
// moment at which a property was violated, there must be a link to its mark in the picture. No
// element is outside the picture, and no line crosses an element that it does not connect. Drawing
// the scenario again gives the same page.
func CheckDrawings(t *testing.T, stories []*scenarios.Scenario) {
	for _, s := range sample(stories) {
		t.Run(s.Name, func(t *testing.T) {
			r := mustResult(t, s)
			page := []byte(renderReport(t, "html", reports.Options{}, r))
			if len(page) >= 600_000 {
				t.Errorf("the page has %d bytes", len(page))
			}
			if again := []byte(renderReport(t, "html", reports.Options{}, r)); !bytes.Equal(page, again) {
				t.Error("drawn again, the page is another")
			}
			ids := map[string]bool{}
			for _, m := range idPattern.FindAllSubmatch(page, -1) {
				if ids[string(m[1])] {
					t.Errorf("two things have the ID %s", m[1])
				}
				ids[string(m[1])] = true
			}
			for _, m := range linkPattern.FindAllSubmatch(page, -1) {
				if !ids[string(m[1])] {
					t.Errorf("a link leads to %s, which is not there", m[1])
				}
			}
			if bad := negativePattern.FindSubmatch(page); bad != nil {
				t.Errorf("something is at or has the size %s", bad[1])
			}
			for _, run := range r.Runs {
				figure := run.Fencing
				if run.Variant.Name != "" {
					figure = "v-" + run.Variant.Name + "." + run.Fencing
				}
				for _, f := range run.Verdict.Findings {
					if id := diagram.BrokenAnchor(figure, f.Property); f.Outcome == checks.Violated && !ids[id] {
						t.Errorf("nothing shows the moment %s", id)
					}
				}
			}
			checkUncrossed(t, r)
			svg, _ := reports.Runs.Lookup("svg")
			pictures := svg.Pages([]*scenarios.Result{r}, reports.Options{})
			pictures = append(pictures, svg.Pages([]*scenarios.Result{r}, reports.Options{Style: storyboard.FullStyle})...)
			if len(pictures) == 0 {
				t.Error("there is no picture")
			}
			for _, picture := range pictures {
				if err := checkPicture(picture.Data); err != nil {
					t.Errorf("%s: %v", picture.Name, err)
				}
			}
		})
	}
}

// checkPicture returns an error if data is not XML, or if a text is cut off because it is below the
// end of its picture; otherwise nil. A picture can be a part of another one.
func checkPicture(data []byte) error {
	attribute := func(e xml.StartElement, name string) int {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				n, _ := strconv.Atoi(a.Value) // another value, such as 100%, limits nothing
				return n
			}
		}
		return 0
	}
	var heights []int // of the svg elements that enclose the current one, outermost first
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "svg" {
				heights = append(heights, attribute(e, "height"))
			}
			if y := attribute(e, "y"); e.Name.Local == "text" && y+4 > heights[len(heights)-1] {
				return fmt.Errorf("a text at %d is cut off: the picture ends at %d", y, heights[len(heights)-1])
			}
		case xml.EndElement:
			if e.Name.Local == "svg" {
				heights = heights[:len(heights)-1]
			}
		}
	}
}
