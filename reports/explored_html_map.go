package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A heatmap is a danger map on a page: a table whose cells have a colour and a sign, and a
// text for readers who point at them or use a screen reader.
type heatmap struct {
	ID, Title string
	Lengths   []string
	Rows      []heatRow
	Legend    []heatSign
	// Note explains the mark between two columns; "" if there is none.
	Note string
}

// A heatRow is a line of a heatmap. A row without cells represents several equal rows.
type heatRow struct {
	Label string
	Cells []heatCell
}

// A heatCell shows what a pause of one length does. PastTTL marks the first cell in its row
// whose pause is longer than a grant lasts.
type heatCell struct {
	Sign, Level, Says string
	PastTTL           bool
}

// A heatSign is one entry of the legend.
type heatSign struct{ Sign, Level, Means string }

// perilLevels are the names of perils in the style sheet, and perilMeanings those for
// people.
var (
	perilLevels   = []string{unharmed: "unharmed", unclear: "unclear", misbehaved: "misbehaved", twoHolders: "two-holders", corruptedWithout: "corrupted", corruptedWith: "corrupted-fenced"}
	perilMeanings = []string{
		unharmed: "safe", unclear: "unknown", misbehaved: "misconduct: the lock does something that no caller can tolerate", twoHolders: "two holders at the same time",
		corruptedWithout: "data corrupted without fencing", corruptedWith: "data corrupted even with fencing",
	}
)

// heatmaps lays out the danger maps of a search.
func heatmaps(r *explore.Result) []heatmap {
	var all []heatmap
	for i, c := range charts(r.Maps) {
		all = append(all, c.heatmap(r, fmt.Sprintf("map-%d", i+1)))
	}
	return all
}

func (c chart) heatmap(r *explore.Result, id string) heatmap {
	h := heatmap{ID: id, Title: c.title()}
	past := slices.IndexFunc(c.Lengths, func(d time.Duration) bool { return d > r.TTL })
	if r.TTL == 0 {
		past = -1
	}
	if past >= 0 {
		h.Note = "The vertical line is the TTL, " + trace.ShortDuration(r.TTL) + ": all pauses to the right of it are longer than a grant lasts."
	}
	for _, d := range c.Lengths {
		h.Lengths = append(h.Lengths, trace.ShortDuration(d))
	}
	off, on := c.dangers(r.Maps, runs.FencingOff), c.dangers(r.Maps, runs.FencingOn)
	seen := map[peril]bool{}
	for _, row := range c.rows() {
		out := heatRow{Label: strings.TrimSpace(row.label)}
		for k, p := range row.perils {
			seen[p] = true
			says := append(dangerWords("without fencing", off, row.start, k), dangerWords("with fencing", on, row.start, k)...)
			out.Cells = append(out.Cells, heatCell{perilSigns[p], perilLevels[p], strings.Join(says, ", "), k == past})
		}
		h.Rows = append(h.Rows, out)
	}
	for p := range perilLevels {
		if seen[peril(p)] {
			h.Legend = append(h.Legend, heatSign{perilSigns[p], perilLevels[p], perilMeanings[p]})
		}
	}
	return h
}

// dangers returns the cells of the chart's map for one run; nil if there is none.
func (c chart) dangers(maps []explore.DangerMap, fencing string) [][]explore.Danger {
	i := slices.IndexFunc(maps, func(m explore.DangerMap) bool {
		return m.Fencing == fencing && m.Base == c.Base && m.Client == c.Client && slices.Equal(m.Starts, c.Starts) && slices.Equal(m.Lengths, c.Lengths)
	})
	if i < 0 {
		return nil
	}
	return maps[i].Cells
}

// dangerWords says what happened to the lock in a run, if that is known.
func dangerWords(run string, cells [][]explore.Danger, i, k int) []string {
	if i >= len(cells) || k >= len(cells[i]) {
		return nil
	}
	return []string{run + ": " + story.Visible(string(cells[i][k]))}
}
