package roof

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/scenarios"
)

// uncrossed tries that no line of what is broken goes through a decision of the storage,
// which would look as if it had been refused, and that a line leads from each flag.
func uncrossed(t *testing.T, r *scenarios.Result) {
	t.Helper()
	for _, v := range r.Scenario.Variants {
		var runs []diagram.Run
		for _, run := range r.Runs {
			if run.Variant == v {
				runs = append(runs, diagram.Run{History: run.History, Verdict: run.Verdict, ID: v.Name + run.Fencing})
			}
		}
		for i, f := range diagram.Draw(runs, diagram.RoomFor(runs)) {
			bad, lines, pills := crossed(t, string(f.SVG()))
			for _, complaint := range bad {
				t.Errorf("%s: %s", f.ID, complaint)
			}
			for _, p := range f.Pennants {
				if leads := func(l drawnLine) bool { return l.x == p.X && l.from <= p.Y }; p.Class == "broken" && !slices.ContainsFunc(lines, leads) {
					t.Errorf("%s: no line leads from the flag %q to its moment", f.ID, p.Text)
				}
			}
			if decided := len(runs[i].History.Decisions()); len(pills) != decided && f.LeftOut == "" {
				t.Errorf("%s: %d pills of %d decisions, and none is said to be left out", f.ID, len(pills), decided)
			}
		}
	}
}

// A drawnLine is an upright line of what is broken, and a drawnPill a decision with
// what stands below it, as a program that draws the picture reads them.
type (
	drawnLine struct{ x, from, to int }
	drawnPill struct{ left, right, top, bottom int }
)

// crossed are the pills through which a line of what is broken is drawn in a figure,
// and how many lines and pills there are.
func crossed(t *testing.T, figure string) (bad []string, lines []drawnLine, pills []drawnPill) {
	t.Helper()
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("%q is no place: %v", s, err)
		}
		return n
	}
	inPill := 0
	decoder := xml.NewDecoder(strings.NewReader(figure))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, ends := token.(xml.EndElement); ends {
			inPill = max(0, inPill-1)
			continue
		}
		e, begins := token.(xml.StartElement)
		if !begins {
			continue
		}
		at := map[string]string{}
		for _, a := range e.Attr {
			at[a.Name.Local] = a.Value
		}
		class := strings.Fields(at["class"])
		switch {
		case inPill > 0:
			inPill++
			last := &pills[len(pills)-1]
			switch {
			case e.Name.Local == "rect":
				*last = drawnPill{number(at["x"]), number(at["x"]) + number(at["width"]), number(at["y"]), number(at["y"]) + number(at["height"])}
			case slices.Contains(class, "below"):
				last.bottom = number(at["y"]) // the line on which it is written
			}
		case slices.Contains(class, "decision"):
			inPill = 1
			pills = append(pills, drawnPill{})
		case slices.Contains(class, "pole") && slices.Contains(class, "broken"):
			var l drawnLine
			if _, err := fmt.Sscanf(at["d"], "M%d %dV%d", &l.x, &l.from, &l.to); err != nil {
				t.Fatalf("the line %q: %v", at["d"], err)
			}
			lines = append(lines, l)
		}
	}
	for _, l := range lines {
		for _, p := range pills {
			if p.left <= l.x && l.x <= p.right && l.from <= p.bottom && p.top <= l.to {
				bad = append(bad, fmt.Sprintf("the line at %d from %d to %d goes through the pill %+v", l.x, l.from, l.to, p))
			}
		}
	}
	return bad, lines, pills
}
