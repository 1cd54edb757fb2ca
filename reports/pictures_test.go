package reports

import (
	"bytes"
	"os"
	"testing"

	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
)

// The picture of one run has another file name than the picture of both runs.
func TestNamesOfPictures(t *testing.T) {
	name := func(runs ...scenarios.RunResult) string {
		r := &scenarios.Result{Scenario: &scenarios.Scenario{Name: "by-hand"}, Runs: runs}
		return pagesOf(svgPages)([]*scenarios.Result{r}, Options{})[0].Name
	}
	off := resultOf(simtest.PausedHolderTrace("none")).Runs[0]
	on := off
	on.Fencing = scenarios.On
	if got := name(off, on); got != "by-hand.svg" {
		t.Errorf("the picture of both runs has the name %s", got)
	}
	if got := name(on); got != "by-hand-fencing-on.svg" {
		t.Errorf("the picture of one run has the name %s", got)
	}
}

// The pictures in the repository are those that the command draws. One is in the README.
func TestGoldenPictures(t *testing.T) {
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for file, style := range map[string]string{"testdata/formats/gc-pause.svg": storyboard.FullStyle, "testdata/formats/gc-pause-storyboard.svg": storyboard.StoryboardStyle} {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := writeSVG(&got, []*scenarios.Result{r}, Options{Style: style}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("the picture has changed; if it should have changed, write it with: go run ./cmd/locksim run gc-pause --format svg --style %s -o reports/%s", style, file)
		}
	}
}
