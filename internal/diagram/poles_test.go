package diagram

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
)

// A pole, which is the line from a label down to its moment, ends above the decision to
// which it belongs. At any other decision it has a gap.
func TestPolesEndAtTheirOwnDecision(t *testing.T) {
	d := diagramOf(simtest.PausedHolderTrace("none"))
	// lay returns the pieces of the pole of a label that belongs to event number seq, at the moment
	// of the last decision.
	lay := func(seq int) []figurePole {
		own := d.decisions[len(d.decisions)-1]
		d.pennants = []pennant{{at: own.at, seq: seq, class: "broken", text: "✗"}}
		return newFigure(d, newAxis(laneLabelWidth, []*diagram{d})).Poles
	}
	own := d.decisions[len(d.decisions)-1].seq
	if got := lay(own); len(got) != 1 {
		t.Errorf("the pole of a label of the decision has the pieces %+v; want one", got)
	}
	if got := lay(own - 1); len(got) != 2 || got[1].From <= got[0].To {
		t.Errorf("the pole of a label of another event at that moment has the pieces %+v; want two, with a gap", got)
	}
}

// Refused and applied requests differ not only in colour, and the key explains both.
func TestAppliedAndRefusedDecisionsLookDifferent(t *testing.T) {
	looks := func(fencing string) figurePill {
		d := diagramOf(simtest.PausedHolderTrace(fencing))
		pills := newFigure(d, newAxis(laneLabelWidth, []*diagram{d})).Decisions
		return pills[len(pills)-1]
	}
	applied, refused := looks("none"), looks("writes")
	if !applied.Filled || applied.Struck || refused.Filled || !refused.Struck || applied.Corner == refused.Corner {
		t.Errorf("an applied and a refused write differ too little:\napplied: %+v\nrefused: %+v", applied, refused)
	}
	var key bytes.Buffer
	for _, s := range Signs() {
		fmt.Fprintf(&key, "%s: filled %v, struck %v\n", s.Text, s.Pill.Filled, s.Pill.Struck)
	}
	const want = `a read with token 1, of version 0: filled false, struck false
filled: an applied write: filled true, struck false
empty, crossed out: a refused write: filled false, struck true
`
	if key.String() != want {
		t.Errorf("the key says\n%s\nwant\n%s", &key, want)
	}
}
