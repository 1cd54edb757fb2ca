package reports

import (
	"fmt"
	"io"

	"github.com/locksim/locksim/internal/bandchart"
	"github.com/locksim/locksim/internal/setting"
	"github.com/locksim/locksim/internal/slide"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/scenarios"
)

func init() {
	Sweeps.Register(Format[*whatif.Sweep]{Name: "svg", Title: "slides and papers: the bands of both runs as a picture", Write: writeSweepSVG})
}

func writeSweepSVG(w io.Writer, s *whatif.Sweep, o Options) error {
	board := sweepReport{s, o.forPublication()}.chart().Draw()
	_, err := w.Write(slide.Picture(board.Title, []*storyboard.Board{board}, webpage.Style()))
	return err
}

// chart returns the bands of both runs as a chart.
func (s sweepReport) chart() bandchart.Chart {
	name := Row{Scenario: s.Scenario, Variant: s.Scenario.Variants[0]}.name()
	c := bandchart.Chart{
		Title:    fmt.Sprintf("%s: %s from %s to %s", name, story.Visible(s.Path), s.Format(s.From), s.Format(s.To)),
		Subtitle: "lock " + story.Visible(s.Lock) + fmt.Sprintf(", seed %d", s.Seed),
		From:     s.From, To: s.To, Format: s.Format,
	}
	for _, row := range setting.DescribeChanges(s.Scenario.Overrides) {
		c.Subtitle += ", " + row.Text.String()
	}
	isStuck := false
	for _, fencing := range []string{scenarios.Off, scenarios.On} {
		bar := bandchart.Bar{Name: fencingNames[fencing]}
		for _, b := range s.Bands {
			isStuck = isStuck || b.Outcome.IsStuck
			band := bandchart.Band{From: b.From, To: b.To, Class: "impossible", Text: "n/a"}
			if !b.Outcome.IsImpossible {
				band.Class = b.Outcome.Off
				if fencing == scenarios.On {
					band.Class = b.Outcome.On
				}
				band.Text = verdictBadges[band.Class].Text()
				if b.Outcome.IsStuck {
					band.Text += stuckMark
				}
			}
			if last := len(bar.Bands) - 1; last >= 0 && bar.Bands[last].Text == band.Text {
				bar.Bands[last].To = band.To
				continue
			}
			bar.Bands = append(bar.Bands, band)
		}
		c.Bars = append(c.Bars, bar)
	}
	if isStuck {
		c.Notes = append(c.Notes, stuckLegend)
	}
	c.Notes = append(c.Notes, "A number below a bar is the first value of the part to its right. Parts that are too narrow for the scale are drawn wider.")
	return c
}
