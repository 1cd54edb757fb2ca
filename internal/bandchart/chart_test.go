package bandchart_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/bandchart"
	"github.com/locksim/locksim/internal/storyboard"
)

// chartOf makes a chart of the values 0 to 1000 with one bar. Each band is "FROM CLASS".
func chartOf(bands ...string) bandchart.Chart {
	bar := bandchart.Bar{Name: "without fencing"}
	for i, text := range bands {
		var b bandchart.Band
		if _, err := fmt.Sscan(text, &b.From, &b.Class); err != nil {
			panic(err) // a mistake in the test
		}
		b.To, b.Text = 1000, b.Class
		bar.Bands = append(bar.Bands, b)
		if i > 0 {
			bar.Bands[i-1].To = b.From - 1
		}
	}
	return bandchart.Chart{Title: "t", Subtitle: "s", To: 1000, Format: func(v int64) string { return fmt.Sprint(v, "ms") }, Bars: []bandchart.Bar{bar, bar}}
}

// textsOf returns the texts of a board.
func textsOf(b *storyboard.Board) string {
	var all []string
	for _, t := range b.Texts {
		all = append(all, t.Line.String())
	}
	return strings.Join(all, "\n")
}

// Each band has its outcome, and each border its value. A band without room for its outcome has the
// outcome above it, with its values, and is wide enough to be seen.
func TestDraw(t *testing.T) {
	board := chartOf("0 safe", "500 unsafe", "501 unknown").Draw()
	texts := textsOf(board)
	for _, want := range []string{"\nsafe\n", "\nunsafe: 500ms\n", "\nunknown\n", "\n500ms\n", "\n501ms\n", "\n0ms\n", "\n1000ms\n"} {
		if strings.Count(texts+"\n", want) != 2 {
			t.Errorf("the chart has the texts\n%s\nwant %q in both bars", texts, want)
		}
	}
	last := map[string]storyboard.Shape{} // the last shape of a class is above the others
	for i, s := range board.Shapes {
		if s.Class == "band unsafe" && s.W < 4 {
			t.Errorf("the narrow band is %d pixels wide", s.W)
		}
		if s.Class == "band safe" {
			for _, before := range board.Shapes[:i] {
				if before.Class == "band unsafe" && before.Y == s.Y {
					t.Error("the narrow band is drawn before a wide one, which can cover it")
				}
			}
		}
		last[s.Class] = s
	}
	if x := last["band unsafe"].X; x < 600 || x > 680 {
		t.Errorf("the band in the middle of the range is at %d", x)
	}
	if desc := board.Desc(); !strings.Contains(desc, "without fencing: 0ms to 499ms safe, 500ms unsafe, 501ms to 1000ms unknown.") {
		t.Errorf("the description is %q", desc)
	}
}

// Texts are at least 16 pixels high, inside the picture, and cover no other text. If there
// are too many, a note says so.
func TestTextsCanBeRead(t *testing.T) {
	for name, chart := range map[string]bandchart.Chart{
		"one band":            chartOf("0 safe"),
		"a band at each end":  chartOf("0 unsafe", "1 safe", "1000 unsafe"),
		"many narrow bands":   chartOf("0 safe", "500 unsafe", "501 safe", "502 unsafe", "503 safe", "504 unsafe", "505 safe", "506 unsafe", "507 safe"),
		"bands of some width": chartOf("0 impossible", "40 unknown", "90 safe", "150 unsafe", "260 safe", "900 unsafe"),
	} {
		board := chart.Draw()
		for i, text := range board.Texts {
			box := text.Box()
			if text.Size < 16 || box.X < 0 || box.X+box.W > storyboard.Width || box.Y < 0 || box.Y+box.H > storyboard.Height {
				t.Errorf("%s: %q has size %d and the box %+v", name, text.Line, text.Size, box)
			}
			for _, other := range board.Texts[:i] {
				o := other.Box()
				if box.X < o.X+o.W && o.X < box.X+box.W && box.Y < o.Y+o.H*9/10 && o.Y < box.Y+box.H*9/10 {
					t.Errorf("%s: %q covers %q", name, text.Line, other.Line)
				}
			}
		}
		if clipped := strings.Contains(textsOf(board), "Some narrow parts have no label"); clipped != (name == "many narrow bands") {
			t.Errorf("%s: a note says that labels are left out: %v", name, clipped)
		}
	}
}
