package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

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
	chart
	// off and on are the cells of the danger maps of the run without fencing and of that with
	// fencing; nil if there is no such map.
	off, on [][]explore.Danger
	ttl     time.Duration
	// pastTTL is the index of the first length that exceeds the TTL; -1 if there is none.
	pastTTL int
}

// heatmaps returns the danger maps of a search for a page.
func heatmaps(r *explore.Result) []heatmap {
	var all []heatmap
	for _, c := range charts(r.Maps) {
		m := heatmap{c, c.dangers(r.Maps, runs.FencingOff), c.dangers(r.Maps, runs.FencingOn), r.TTL, -1}
		if r.TTL > 0 {
			m.pastTTL = slices.IndexFunc(c.Lengths, func(d time.Duration) bool { return d > r.TTL })
		}
		all = append(all, m)
	}
	return all
}

// dangerMaps returns the chapter with the danger maps of a search; nil if it has none.
func dangerMaps(r *explore.Result) g.Node {
	maps, title := heatmaps(r), "Danger maps"
	if len(maps) == 1 {
		title = "Danger map"
	}
	chapter := g.Group{heading("maps", title)}
	for i, m := range maps {
		chapter = append(chapter, m.html(fmt.Sprintf("map-%d", i+1)))
	}
	return g.If(len(maps) > 0, onLines(chapter...))
}

// html returns the map with its legend. id is its HTML ID.
func (m heatmap) html(id string) g.Node {
	return h.Figure(h.Class("danger"), h.ID(id), onLines(
		h.FigCaption(g.Text(m.title())),
		scrollable("scroll", m.title(), h.Table(h.Class("heat"),
			h.THead(h.Tr(
				h.Th(h.Scope("col"), h.Class("corner"), g.Text("the pause begins")),
				g.Map(m.Lengths, func(d time.Duration) g.Node { return columnHead(h.Span(g.Text(trace.ShortDuration(d)))) }),
			)),
			h.TBody(onLines(g.Map(m.rows(), m.row)...)),
		)),
		h.P(h.Class("readout screen"), g.Attr("hidden"), g.Text("Point at a cell, or move between cells with Tab and the arrow keys.")),
		h.Ul(h.Class("levels"), g.Map(peril.All(), m.meaning)),
		m.note(),
	))
}

// row returns a row of the map. A row without cells stands in for several rows that are equal to
// the one above.
func (m heatmap) row(row chartRow) g.Node {
	label := rowHead(g.Text(strings.TrimSpace(row.label)))
	if len(row.perils) == 0 {
		return h.Tr(label, h.Td(h.ColSpan(strconv.Itoa(len(m.Lengths))), h.Class("folded")))
	}
	cells := g.Group{label}
	for column, p := range row.perils {
		level := p.Level()
		if column == m.pastTTL {
			level += " past"
		}
		text := strings.Join(append(dangerWords("without fencing", m.off, row.start, column), dangerWords("with fencing", m.on, row.start, column)...), ", ")
		cells = append(cells, h.Td(h.Class(level), h.Title(text), hidden(p.Sign()), unseen(text)))
	}
	return h.Tr(cells)
}

// meaning returns the entry of the legend about a colour and a sign; nil if the map does not have
// them.
func (m heatmap) meaning(p peril.Peril) g.Node {
	if !slices.ContainsFunc(m.perils, func(row []peril.Peril) bool { return slices.Contains(row, p) }) {
		return nil
	}
	return h.Li(h.Span(h.Class(p.Level()), h.Aria("hidden", "true"), g.Text(p.Sign())), g.Text(" "+p.Meaning()))
}

// note explains the vertical line between two columns; nil if there is no line.
func (m heatmap) note() g.Node {
	text := "The vertical line is the TTL, " + trace.ShortDuration(m.ttl) + ": all pauses to the right of it are longer than a grant lasts."
	return g.If(m.pastTTL >= 0, h.P(h.Class("soft"), g.Text(text)))
}

// thumbnail returns the colours and signs of the map as a small picture, without words.
func (m heatmap) thumbnail() g.Node {
	return h.Table(h.Class("heat small"), h.Aria("hidden", "true"), g.Map(m.rows(), func(row chartRow) g.Node {
		return g.If(len(row.perils) > 0, h.Tr(g.Map(row.perils, func(p peril.Peril) g.Node {
			return h.Td(h.Class(p.Level()), g.Text(p.Sign()))
		})))
	}))
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
