package reports

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/reports/diagram"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace/tracetest"
)

var (
	anID   = regexp.MustCompile(` id="([^"]*)"`)
	aLink  = regexp.MustCompile(` href="#([^"]*)"`)
	aPlace = regexp.MustCompile(` (?:x|width|y|height)="(-[0-9]+)"`)
)

// Every scenario of the catalogue can be drawn: on one page of less than 500 KB, with
// a flag at the moment at which each property broke and a link that leads there, and
// with nothing outside the picture. Drawing it again gives the same.
func TestEveryScenarioIsDrawn(t *testing.T) {
	for _, s := range scenarios.Embedded() {
		t.Run(s.Name, func(t *testing.T) {
			r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			page := scenarioPage(r, Options{}, nil).html()
			if len(page) >= 500_000 {
				t.Errorf("the page has %d bytes", len(page))
			}
			if again := scenarioPage(r, Options{}, nil).html(); !bytes.Equal(page, again) {
				t.Error("drawn again, the page is another")
			}
			ids := map[string]bool{}
			for _, m := range anID.FindAllSubmatch(page, -1) {
				if ids[string(m[1])] {
					t.Errorf("two things have the ID %s", m[1])
				}
				ids[string(m[1])] = true
			}
			for _, m := range aLink.FindAllSubmatch(page, -1) {
				if !ids[string(m[1])] {
					t.Errorf("a link leads to %s, which is not there", m[1])
				}
			}
			if bad := aPlace.FindSubmatch(page); bad != nil {
				t.Errorf("something is at or has the size %s", bad[1])
			}
			for _, run := range r.Runs {
				for _, p := range violated(run, checks.Properties()) {
					if id := diagram.BrokenAnchor(runAnchor(run.Variant, run.Fencing), p); !ids[id] {
						t.Errorf("nothing shows the moment %s", id)
					}
				}
			}
			for _, picture := range svgPages([]*scenarios.Result{r}, Options{}) {
				if err := wellFormed(picture.Data); err != nil {
					t.Errorf("%s: %v", picture.Name, err)
				}
			}
		})
	}
}

func wellFormed(data []byte) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// A picture of one run does not take the name of the picture of both.
func TestNamesOfPictures(t *testing.T) {
	name := func(runs ...scenarios.Outcome) string {
		r := &scenarios.Result{Scenario: &scenarios.Scenario{Name: "by-hand"}, Runs: runs}
		return svgPages([]*scenarios.Result{r}, Options{})[0].Name
	}
	off := result(tracetest.Overslept("none")).Runs[0]
	on := off
	on.Fencing = scenarios.On
	if got := name(off, on); got != "by-hand.svg" {
		t.Errorf("the picture of both runs is %s", got)
	}
	if got := name(on); got != "by-hand-fencing-on.svg" {
		t.Errorf("the picture of one run is %s", got)
	}
}

// The picture in the README is what the command draws.
func TestPictureInTheReadme(t *testing.T) {
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/formats/gc-pause.svg"
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := svg(r, stories(r)); !bytes.Equal(got, want) {
		t.Errorf("the picture is another now; if it should be, write it with: go run ./cmd/locksim run gc-pause --format svg -o reports/%s", file)
	}
}
