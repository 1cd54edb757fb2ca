package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/peril"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A heatmap is a danger map on a page: a table that shows what a pause of a client does, by
// the beginning of the pause (rows) and its length (columns). Each cell has a colour, a
// sign, and a text for readers who point at it or use a screen reader.
type heatmap struct {
	ID, Title string
	Lengths   []string
	Rows      []heatRow
	Legend    []heatSign
	// Note explains the vertical line between two columns; "" if there is no line.
	Note string
}

// A heatRow is a row of a heatmap. A row without cells stands in for several rows that are
// equal to the one above.
type heatRow struct {
	Label string
	Cells []heatCell
}

// A heatCell shows what a pause of one length does. PastTTL marks the first cell in its row
// whose pause is longer than the TTL. Says is the text for readers who point at it.
type heatCell struct {
	Sign, Level, Says string
	PastTTL           bool
}

// A heatSign is one entry of the legend.
type heatSign struct{ Sign, Level, Means string }

// heatmaps returns the danger maps of a search for a page.
func heatmaps(r *explore.Result) []heatmap {
	var all []heatmap
	for i, c := range charts(r.Maps) {
		all = append(all, c.heatmap(r, fmt.Sprintf("map-%d", i+1)))
	}
	return all
}

// heatmap returns a chart for a page, with the given HTML ID.
func (c chart) heatmap(r *explore.Result, id string) heatmap {
	h := heatmap{ID: id, Title: c.title()}
	firstPastTTL := slices.IndexFunc(c.Lengths, func(d time.Duration) bool { return d > r.TTL })
	if r.TTL == 0 {
		firstPastTTL = -1
	}
	if firstPastTTL >= 0 {
		h.Note = "The vertical line is the TTL, " + trace.ShortDuration(r.TTL) + ": all pauses to the right of it are longer than a grant lasts."
	}
	for _, d := range c.Lengths {
		h.Lengths = append(h.Lengths, trace.ShortDuration(d))
	}
	off, on := c.dangers(r.Maps, runs.FencingOff), c.dangers(r.Maps, runs.FencingOn)
	seen := map[peril.Peril]bool{}
	for _, row := range c.rows() {
		out := heatRow{Label: strings.TrimSpace(row.label)}
		for k, p := range row.perils {
			seen[p] = true
			texts := append(dangerWords("without fencing", off, row.start, k), dangerWords("with fencing", on, row.start, k)...)
			out.Cells = append(out.Cells, heatCell{p.Sign(), p.Level(), strings.Join(texts, ", "), k == firstPastTTL})
		}
		h.Rows = append(h.Rows, out)
	}
	for _, p := range peril.All() {
		if seen[p] {
			h.Legend = append(h.Legend, heatSign{p.Sign(), p.Level(), p.Meaning()})
		}
	}
	return h
}

// dangers returns the cells of the chart's danger map for the run with the given fencing;
// nil if there is none.
func (c chart) dangers(maps []explore.DangerMap, fencing string) [][]explore.Danger {
	i := slices.IndexFunc(maps, func(m explore.DangerMap) bool {
		return m.Fencing == fencing && m.Base == c.Base && m.Client == c.Client && slices.Equal(m.Starts, c.Starts) && slices.Equal(m.Lengths, c.Lengths)
	})
	if i < 0 {
		return nil
	}
	return maps[i].Cells
}

// dangerWords says what the pause in a cell of a danger map did in a run; nil if that is
// not known. i and k are the row and the column.
func dangerWords(run string, cells [][]explore.Danger, i, k int) []string {
	if i >= len(cells) || k >= len(cells[i]) {
		return nil
	}
	return []string{run + ": " + story.Visible(string(cells[i][k]))}
}
