package diagram

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/catalogue"
	"github.com/locksim/locksim/internal/tracetest"
	"github.com/locksim/locksim/scenarios"
)

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

// A line through a decision of the storage looks as if it had been refused: that of
// what is broken goes through none, in any picture of the catalogue.
func TestNoLineCrossesOutADecision(t *testing.T) {
	all, decisions := 0, 0
	for _, s := range catalogue.Playable() {
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range s.Variants {
			var runs []Run
			for _, run := range r.Runs {
				if run.Variant == v {
					runs = append(runs, Run{History: run.History, Verdict: run.Verdict, ID: v.Name + run.Fencing})
				}
			}
			for i, f := range Draw(runs, everything) {
				bad, lines, pills := crossed(t, string(f.SVG()))
				for _, complaint := range bad {
					t.Errorf("%s, %s: %s", s.Name, f.ID, complaint)
				}
				all, decisions = all+len(lines), decisions+len(pills)
				for _, p := range f.Pennants {
					if leads := func(l drawnLine) bool { return l.x == p.X && l.from <= p.Y }; p.Class == "broken" && !slices.ContainsFunc(lines, leads) {
						t.Errorf("%s, %s: no line leads from the flag %q to its moment", s.Name, f.ID, p.Text)
					}
				}
				if decided := len(runs[i].History.Decisions()); len(pills) != decided {
					t.Errorf("%s, %s: %d pills of %d decisions", s.Name, f.ID, len(pills), decided)
				}
			}
		}
	}
	if all < 100 || decisions < 100 {
		t.Errorf("there are only %d lines and %d decisions", all, decisions)
	}
}

// A line ends above what the storage did wrong, and goes on below what merely stands
// in its way.
func TestPolesEndAtTheirOwnDecision(t *testing.T) {
	d := diagramOf(tracetest.Overslept("none"))
	lay := func(seq int) []figurePole {
		own := d.decisions[len(d.decisions)-1]
		d.pennants = []pennant{{at: own.at, seq: seq, class: "broken", text: "✗"}}
		return lay(d, newAxis(laneLabel, []*diagram{d})).Poles
	}
	own := d.decisions[len(d.decisions)-1].seq
	if got := lay(own); len(got) != 1 {
		t.Errorf("to its own decision: %+v; want one piece", got)
	}
	if got := lay(own - 1); len(got) != 2 || got[1].From <= got[0].To {
		t.Errorf("behind the decision: %+v; want two pieces with a gap", got)
	}
}

// What was refused and what was applied differ in more than colour, and the key shows
// both as they are drawn.
func TestAppliedAndRefused(t *testing.T) {
	looks := func(fencing string) figurePill {
		d := diagramOf(tracetest.Overslept(fencing))
		pills := lay(d, newAxis(laneLabel, []*diagram{d})).Decisions
		return pills[len(pills)-1]
	}
	applied, refused := looks("none"), looks("writes")
	if !applied.Filled || applied.Struck || refused.Filled || !refused.Struck || applied.Corner == refused.Corner {
		t.Errorf("applied: %+v\nrefused: %+v", applied, refused)
	}
	var key bytes.Buffer
	for _, s := range Signs() {
		fmt.Fprintf(&key, "%s: filled %v, struck %v\n", s.Text, s.Pill.Filled, s.Pill.Struck)
	}
	const want = `a read with token 1, of version 0: filled false, struck false
filled: a write that was applied: filled true, struck false
empty, crossed out: one that was refused: filled false, struck true
`
	if key.String() != want {
		t.Errorf("the key says\n%s", &key)
	}
}
