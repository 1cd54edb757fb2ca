package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/bands"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/rundiff"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/scenarios"
)

// A published report names no folder of its author's machine. A report for a terminal or a
// program names the file as it was given, because its readers open the file.
func TestPublishedReportsNameNoFolder(t *testing.T) {
	builtIn, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	own := strings.Replace(builtIn.Text, "title: ", "title: Mine. ", 1)
	for _, c := range []struct {
		name, file, text string
		others           string // the beginning of the replay line in a published report
		here             string // the beginning of the replay line on a terminal
	}{
		{"a built-in scenario in another folder", "/home/me/gc-pause.yaml", builtIn.Text, "locksim run gc-pause --seed", "locksim run /home/me/gc-pause.yaml --seed"},
		{"a built-in scenario in this folder", "scenarios/gc-pause.yaml", builtIn.Text, "locksim run gc-pause --seed", "locksim run scenarios/gc-pause.yaml --seed"},
		{"a scenario of the user in another folder", "/home/me/gc-pause.yaml", own, "locksim run gc-pause.yaml --seed", "locksim run /home/me/gc-pause.yaml --seed"},
		{"a scenario of the user in a folder beside this one", "../mine/gc-pause.yaml", own, "locksim run ../mine/gc-pause.yaml --seed", "locksim run ../mine/gc-pause.yaml --seed"},
		{"a scenario of the user in this folder", "mine/gc-pause.yaml", own, "locksim run mine/gc-pause.yaml --seed", "locksim run mine/gc-pause.yaml --seed"},
		{"a scenario of the user on Windows", `C:\home\me\gc-pause.yaml`, own, "locksim run gc-pause.yaml --seed", `locksim run 'C:\home\me\gc-pause.yaml' --seed`},
	} {
		s, err := scenarios.Parse(c.file, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		s.Name = "gc-pause" // paths as they are given on different systems
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Arguments: map[*scenarios.Scenario]string{s: c.file}}
		if got := replay(r, o); !strings.HasPrefix(got, c.here) {
			t.Errorf("%s: on a terminal the replay line is %q, want %q", c.name, got, c.here)
		}
		documents := map[string]string{}
		for _, name := range []string{"html", "markdown", "svg", "mermaid"} {
			documents[name] = written(t, name, o, r)
			if f, _ := Runs.Lookup(name); f.Pages != nil {
				for _, p := range f.Pages([]*scenarios.Result{r}, o) {
					documents[name+" "+p.Name] = string(p.Data)
				}
			}
		}
		m, _ := matrixOf([]*scenarios.Result{r})
		for _, f := range Matrices.Formats() {
			if f.Name == "html" || f.Name == "markdown" {
				var b bytes.Buffer
				if err := f.Write(&b, m, o); err != nil {
					t.Fatal(err)
				}
				documents["matrix as "+f.Name] = b.String()
			}
		}
		tally := NewTally([]*scenarios.Scenario{s}, []string{"redlock"}, 1)
		tally.Seeds = 1
		tally.Add(0, 0, 1, r.Runs[:2], "")
		for _, f := range Tallies.Formats() {
			if f.Name == "html" || f.Name == "markdown" {
				var b bytes.Buffer
				if err := f.Write(&b, tally, o); err != nil {
					t.Fatal(err)
				}
				documents["tally as "+f.Name] = b.String()
			}
		}
		sweep := &whatif.Sweep{
			Scenario: s, Path: "lock.ttl", Range: whatif.Range{From: 1, To: 9, Resolution: 1}, Lock: "redlock", Steps: 8, Tried: 9,
			Bands: []whatif.SweepBand{{Band: bands.Band[whatif.Outcome]{From: 1, To: 9, Outcome: whatif.Outcome{Off: "unsafe", On: "safe"}}, Runs: r.Runs[:2]}},
		}
		if f, ok := Sweeps.Lookup("markdown"); ok {
			var b bytes.Buffer
			if err := f.Write(&b, sweep, o); err != nil {
				t.Fatal(err)
			}
			documents["sweep as markdown"] = b.String()
		}
		why := &whatif.Why{Given: s, Scenario: s, Lock: "redlock", Turns: []whatif.Turn{{Path: "lock.ttl", Value: "9s"}}}
		if f, ok := Whys.Lookup("markdown"); ok {
			var b bytes.Buffer
			if err := f.Write(&b, why, o); err != nil {
				t.Fatal(err)
			}
			documents["why as markdown"] = b.String()
		}
		side := func(i int) rundiff.Side {
			return rundiff.Side{Result: scenarios.NewResult(s, "redlock", 1, r.Runs[i:i+1]), File: s.File + ".json"}
		}
		if f, ok := Diffs.Lookup("markdown"); ok {
			var b bytes.Buffer
			if err := f.Write(&b, &rundiff.Diff{Left: side(0), Right: side(1)}, o); err != nil {
				t.Fatal(err)
			}
			documents["diff as markdown"] = b.String()
		}
		for _, f := range Explanations.Formats() {
			if f.Name == "markdown" {
				var b bytes.Buffer
				if err := f.Write(&b, []*scenarios.Result{r}, o); err != nil {
					t.Fatal(err)
				}
				documents["explanation"] = b.String()
			}
		}
		for name, document := range documents {
			if i := strings.Index(strings.ReplaceAll(document, `\`, "/"), "home/me"); i >= 0 {
				t.Errorf("%s: the document %s names the folder in which it was made: %q", c.name, name, document[max(0, i-80):min(len(document), i+40)])
			}
		}
		for _, name := range []string{"html", "html index.html", "markdown"} {
			if !strings.Contains(documents[name], c.others) {
				t.Errorf("%s: the document %s does not contain %q", c.name, name, c.others)
			}
		}
	}
}

// The same holds for reports on searches.
func TestPublishedSearchesNameNoFolder(t *testing.T) {
	found := &explore.Result{Lock: "single", Ways: []explore.Way{{
		ID: "late-client", File: "/home/me/ways/late-client.yaml", Example: runs.WorldSpec{}, Off: []string{"write-order"},
	}}}
	o := Options{Since: Compare(found, &explore.Result{}, "/home/me/known.json")}
	for _, f := range Searches.Formats() {
		var b bytes.Buffer
		if err := f.Write(&b, found, o); err != nil {
			t.Fatal(err)
		}
		isNamed := strings.Contains(b.String(), "/home/me/ways/late-client.yaml")
		if others := f.Name == "html" || f.Name == "markdown"; isNamed == others || !strings.Contains(b.String(), "late-client.yaml") || others && strings.Contains(b.String(), "/home/me") {
			t.Errorf("the report in the format %s names the folder of the file: %v", f.Name, isNamed)
		}
	}
}
