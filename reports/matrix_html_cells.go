package reports

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A matrixCell is one cell of a matrix on a page.
type matrixCell struct {
	// Column is the head of its column, for narrow pages without a head line.
	Column string
	// Of says what the cell is about, for screen readers.
	Of string
	// Sign and Word are its content, Also is a caveat, and Mood its colour.
	Sign, Word, Also, Mood string
	// To is the address that it links to; "" is none.
	To string
}

// A matrixEntry is a row with one lock, and the page with its details; "" if there is none.
type matrixEntry struct {
	Row
	Cell
	page string
	// several reports whether the matrix has columns for several locks.
	several bool
}

// cells returns the columns of the entry's lock.
func (e matrixEntry) cells() []matrixCell {
	without, with := e.verdict(scenarios.Off), e.verdict(scenarios.On)
	if e.several {
		return []matrixCell{without, with}
	}
	var cells []matrixCell
	for _, p := range checks.PropertiesOf(checks.SubjectExclusion) {
		cells = append(cells, e.exclusion(p))
	}
	return append(cells, without, with)
}

// of names the entry and one of its results.
func (e matrixEntry) of(what string) string {
	if e.several {
		return e.Row.name() + ", " + story.Visible(e.Lock) + ", " + what + ": "
	}
	return e.Row.name() + ", " + what + ": "
}

// to returns the address of a place on the entry's page.
func (e matrixEntry) to(anchor string) string {
	if e.page == "" {
		return ""
	}
	return e.page + "#" + anchor
}

// exclusion returns the cell with the outcomes of an exclusion in both runs.
func (e matrixEntry) exclusion(p checks.Property) matrixCell {
	out := matrixCell{Column: string(p), Mood: "soft"}
	var signs, words []string
	came := distinctOutcomes(e.Runs, p)
	for _, o := range came {
		signs, words = append(signs, outcomeBadges[o].Sign), append(words, outcomeClauses[o])
	}
	out.Sign = strings.Join(signs, "→")
	out.Of = e.of(string(p)) + strings.Join(words, " without fencing, then with fencing ")
	if e.hasRuns() {
		out.Mood = outcomeBadges[worst(came)].Class
		out.To = e.to(variantAnchor(e.Variant))
	}
	return out
}

// verdict returns the cell with the verdict of one run. If the exclusions have no columns
// of their own, the cell lists those that are violated.
func (e matrixEntry) verdict(fencing string) matrixCell {
	out := matrixCell{Column: runName[fencing], Of: e.of(runName[fencing]), Sign: "–", Mood: "soft"}
	if e.several {
		out.Column = story.Visible(e.Lock) + " " + out.Column
	}
	i := slices.IndexFunc(e.Runs, func(run scenarios.RunResult) bool { return run.Fencing == fencing })
	if i < 0 {
		out.Word = "not run"
		if !e.hasRuns() {
			out.Word = "n/a"
		}
		return out
	}
	run := e.Runs[i]
	out.To = e.to(runAnchor(e.Variant, fencing))
	b := runBadge(run)
	out.Sign, out.Word, out.Mood = b.Sign, b.Word, b.Class
	var also []string
	if broke := caveats(run); len(broke) > 0 {
		also = append(also, "but ✗ "+story.List(broke))
	}
	if broke := violated(run, checks.PropertiesOf(checks.SubjectExclusion)); e.several && len(broke) > 0 {
		also = append(also, "✗ "+story.List(broke))
	}
	out.Also = strings.Join(also, "; ")
	return out
}
