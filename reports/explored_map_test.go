package reports

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
)

// onlyChart returns the chart of some danger maps, and fails the test if they do not make
// exactly one.
func onlyChart(t *testing.T, maps ...explore.DangerMap) chart {
	t.Helper()
	all := charts(maps)
	if len(all) != 1 {
		t.Fatalf("%d maps make %d charts, want 1", len(maps), len(all))
	}
	return all[0]
}

// A chart combines both runs. Each of its cells shows the worse result.
func TestDangerMaps(t *testing.T) {
	off := explore.DangerMap{
		Fencing: runs.FencingOff,
		Lengths: []time.Duration{s, 29870 * ms, 90 * s},
		Starts:  []string{"before client-10 write", "before client-10 read", "at first"},
		Cells: [][]explore.Danger{
			{explore.Harmless, explore.TwoHolders, explore.Corrupted},
			{explore.TwoHolders, explore.Corrupted, explore.Corrupted},
			{explore.Harmless, explore.Undecided, "what nobody knows"},
		},
	}
	on := off
	on.Fencing = runs.FencingOn
	on.Cells = [][]explore.Danger{
		{explore.Harmless, explore.Harmless, explore.TwoHolders},
		{explore.Undecided, explore.Harmless, explore.Corrupted},
		{explore.Undecided, explore.TwoHolders, explore.Harmless},
	}
	const both = `
  the pause begins        1s      29.87s  1m30s
  before client-10 write  ·       2       x
  before client-10 read   2       x       X
  at first                ?       2       ?
`
	c := onlyChart(t, off, on)
	wantText(t, both, c.draw(Palette{}, exploredWidth))
	wantText(t, both, onlyChart(t, on, off).draw(Palette{}, exploredWidth))
	if got := c.draw(Colour, exploredWidth); stripColours(got) != c.draw(Palette{}, exploredWidth) || !strings.Contains(got, Colour.bad("X")) {
		t.Errorf("the chart in colour is not the plain chart with a coloured X:\n%s", got)
	}
	wantText(t, `
  the pause begins        1s      29.87s  1m30s
  before client-10 write  ·       2       x
  before client-10 read   2       x       x
  at first                ·       ?       ?
`, onlyChart(t, off).draw(Palette{}, exploredWidth))
}

// Maps with different clients, workloads or pauses become separate charts. A map without
// cells becomes none.
func TestMapsOfSeparateCharts(t *testing.T) {
	m := explore.DangerMap{
		Base: "contend", Client: "client-1", Fencing: runs.FencingOff,
		Lengths: []time.Duration{s}, Starts: []string{"a"}, Cells: [][]explore.Danger{{explore.Harmless}},
	}
	other := func(change func(*explore.DangerMap)) explore.DangerMap {
		o := m
		o.Fencing = runs.FencingOn
		change(&o)
		return o
	}
	all := charts([]explore.DangerMap{
		m,
		other(func(o *explore.DangerMap) { o.Base = "queue" }),
		other(func(o *explore.DangerMap) { o.Client = "client-2" }),
		other(func(o *explore.DangerMap) { o.Starts = []string{"b"} }),
		other(func(o *explore.DangerMap) { o.Lengths = []time.Duration{2 * s} }),
		other(func(o *explore.DangerMap) { o.Starts, o.Cells = nil, nil }),
		other(func(o *explore.DangerMap) { o.Lengths, o.Cells = nil, [][]explore.Danger{nil} }),
		other(func(*explore.DangerMap) {}),
	})
	if len(all) != 5 {
		t.Errorf("there are %d charts, want 5: %+v", len(all), all)
	}
}

// Of equal lines in a row only the first and the last are drawn, if that saves lines.
func TestRepetitiveDangerMap(t *testing.T) {
	safe, two := []explore.Danger{explore.Harmless}, []explore.Danger{explore.TwoHolders}
	m := explore.DangerMap{Lengths: []time.Duration{s}}
	for i, cells := range [][]explore.Danger{safe, safe, safe, safe, two, two, two, safe, safe, safe, safe, safe} {
		m.Starts, m.Cells = append(m.Starts, string(rune('a'+i))), append(m.Cells, cells)
	}
	m.Starts[1] = "a line that is folded"
	wantText(t, `
  the pause begins      1s
  a                     ·
    ⋮ 2 more, the same
  d                     ·
  e                     2
  f                     2
  g                     2
  h                     ·
    ⋮ 3 more, the same
  l                     ·
`, onlyChart(t, m).draw(Palette{}, exploredWidth))
}

// If there is no room for a length above every column, all lengths are listed.
func TestWideDangerMap(t *testing.T) {
	m := explore.DangerMap{Starts: []string{"before client-1 write"}, Cells: [][]explore.Danger{nil}}
	for i := range 20 {
		m.Lengths = append(m.Lengths, time.Duration(i+1)*3*s)
		m.Cells[0] = append(m.Cells[0], []explore.Danger{explore.Harmless, explore.TwoHolders}[i/10])
	}
	wantText(t, `
  the pause begins       3s    9s    15s   21s   27s   33s   39s   45s   51s   57s
  before client-1 write  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  2  2  2  2  2  2  2  2  2  2

  columns: 3s to 1m in steps of 3s
`, onlyChart(t, m).draw(Palette{}, exploredWidth))

	m.Lengths[0] = s // now the steps between the lengths are not equal
	wantInOrder(t, onlyChart(t, m).draw(Palette{}, exploredWidth), `
  columns: 1s, 6s, 9s, 12s, 15s, 18s, 21s, 24s, 27s, 30s, 33s, 36s, 39s, 42s, 45s, 48s, 51s, 54s,
    57s, 1m
`)

	m.Lengths, m.Cells[0] = m.Lengths[10:], m.Cells[0][10:]
	for range 60 {
		m.Lengths, m.Cells[0] = append(m.Lengths, time.Hour), append(m.Cells[0], explore.Corrupted)
	}
	got := onlyChart(t, m).draw(Palette{}, exploredWidth)
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(line) - 1; n > exploredWidth {
			t.Errorf("a line is %d columns wide: %s", n, line)
		}
	}
	wantInOrder(t, got, "begins       33s  48s  1h   1h", "\n  before client-1 write  "+strings.Repeat("2", 10)+strings.Repeat("x", 60)+"\n")
}
