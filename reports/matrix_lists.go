package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/scenarios"
)

// A rowList is one of the lists under a matrix: what all its rows have in common, with a
// text for each.
type rowList struct {
	Sort  sort
	Title string
	Items entries
}

// A sort is a kind of result of a cell.
type sort int

const (
	unexpected sort = iota
	breaksWithout
	breaksAnyway
	holds
	undecided
	notApplicable
	notRun
	oneRunOnly
)

// sorts describes the lists in their order: the key and the label of the filter on a page,
// and the title of the list.
var sorts = [oneRunOnly]struct{ key, label, title string }{
	unexpected:    {"differs", "not as expected", "Not as its scenario expects"},
	breaksWithout: {"fencing-helps", "safe only with fencing", "Breaks without fencing tokens"},
	breaksAnyway:  {"unsafe", "unsafe even with fencing", "Breaks even with fencing tokens, and why"},
	holds:         {"safe", "safe without fencing", "Safe without fencing tokens, and why"},
	undecided:     {"unknown", "unknown", "Unknown, and why"},
	notApplicable: {"untold", "not applicable", "Not applicable to this lock, and why"},
	notRun:        {"not-run", "not run", "Not run, and why"},
}

// sort returns the list to which a cell belongs.
func (c Cell) sort() sort {
	switch {
	case c.NotRun != "":
		return notRun
	case !c.hasRuns():
		return notApplicable
	case !c.isDecided():
		return undecided
	case len(c.Runs) < 2:
		return oneRunOnly
	case c.verdict(1) == checks.Unsafe:
		return breaksAnyway
	case c.verdict(0) == checks.Unsafe:
		return breaksWithout
	}
	return holds
}

// lists returns the lists that have rows, in their order. A row is in one list for each
// sort of its cells.
func (m *Matrix) lists() []rowList {
	var lists []rowList
	for kind, s := range sorts {
		l := rowList{Sort: sort(kind), Title: s.title}
		for _, r := range m.inOrder() {
			l.Items = append(l.Items, m.items(r, l.Sort)...)
		}
		if len(l.Items) > 0 {
			lists = append(lists, l)
		}
	}
	return lists
}

// longList is the maximum number of entries of a list that is not collapsed.
const longList = 20

// document returns the matrix with its legend and its lists.
func (m *Matrix) document(table piece, legend facts) *document {
	d := &document{}
	d.add("", table, legend)
	for _, l := range m.lists() {
		d.add(fmt.Sprintf("%s (%d)", l.Title, len(l.Items)), l.Items)
		d.chapters[len(d.chapters)-1].isCollapsed = len(l.Items) > longList
	}
	return d
}

// items returns what a row contributes to a list: one item for all locks with the same
// text.
func (m *Matrix) items(r Row, kind sort) entries {
	if kind == unexpected {
		return m.surprises(r)
	}
	var says []remarks
	cells := map[remarks][]Cell{}
	for _, c := range r.Cells {
		if c.sort() == kind {
			said := c.remarksFor(kind)
			if cells[said] == nil {
				says = append(says, said)
			}
			cells[said] = append(cells[said], c)
		}
	}
	var items entries
	for _, said := range says {
		parts := []string{said.reason}
		if kind != undecided && kind != notApplicable && kind != notRun && slices.ContainsFunc(cells[said], r.explains) {
			parts = []string{strings.TrimRight(story.Visible(textwrap.OneLine(r.Variant.Why)), "."), said.reason}
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		switch {
		case said.caveat == "":
		case len(parts) == 0:
			parts = []string{said.caveat}
		default:
			parts = append(parts, "but "+said.caveat)
		}
		items = append(items, remarkOn(r.name()+m.lockNames(cells[said]), strings.Join(parts, "; ")))
	}
	return items
}

// remarks are the texts about a cell in addition to the scenario's own reason: one about
// the subject of the list, and one about what is violated although the data is safe. Each
// may be "".
type remarks struct{ reason, caveat string }

// explains reports whether the scenario's reason explains a cell: one with the scenario's
// own lock, or with another lock for which it expects the same.
func (r Row) explains(c Cell) bool {
	return c.Lock == r.Variant.Lock || !slices.ContainsFunc(c.Runs, func(run scenarios.RunResult) bool {
		own, known := r.Variant.Expectation("", run.Fencing)
		return run.Expected == nil || known && !slices.Equal(run.Expected.Violated, own.Violated)
	})
}

// lockNames names the locks of cells, unless they are all locks of the matrix.
func (m *Matrix) lockNames(cells []Cell) string {
	if len(cells) >= len(m.Locks) {
		return ""
	}
	var locks []string
	for _, c := range cells {
		locks = append(locks, story.Visible(c.Lock))
	}
	return " (" + strings.Join(locks, ", ") + ")"
}

func (c Cell) remarksFor(kind sort) remarks {
	said := remarks{caveat: c.caveatNote()}
	switch kind {
	case notApplicable:
		said.reason = story.Visible(c.NotApplicable)
	case notRun:
		said.reason = story.Visible(c.NotRun)
	case undecided:
		said.reason = c.doubt()
	case breaksAnyway:
		said.reason = "violated: " + story.List(violated(c.Runs[1], checks.PropertiesOf(checks.SubjectData)))
	}
	return said
}

// caveatNote says what is violated although the data is safe.
func (c Cell) caveatNote() string {
	if !c.isDecided() {
		return ""
	}
	without, with := caveats(c.Runs[0]), caveats(c.Runs[1])
	switch {
	case len(without) == 0 && len(with) == 0:
		return ""
	case slices.Equal(without, with):
		return areViolated(with)
	case len(with) == 0:
		return "without fencing tokens " + areViolated(without)
	case len(without) == 0:
		return "with fencing tokens " + areViolated(with)
	}
	return fmt.Sprintf("without fencing tokens %s, and with them %s", areViolated(without), areViolated(with))
}

func areViolated(properties []checks.Property) string {
	if len(properties) == 1 {
		return story.List(properties) + " is violated"
	}
	return story.List(properties) + " are violated"
}

// doubt says why the result is unknown.
func (c Cell) doubt() string {
	for _, run := range c.Runs {
		if run.Verdict.Verdict != checks.Undecided {
			continue
		}
		for _, reason := range run.Verdict.Reasons {
			return story.RenderReasons(reason).String()
		}
		for _, f := range run.Verdict.Findings {
			if f.Property.IsData() && f.Outcome != checks.Holds {
				return fmt.Sprintf("%s is %s: %s", f.Property, f.Outcome, story.RenderReasons(f.Reason))
			}
		}
	}
	return ""
}

// surprises returns the runs of a row that differ from what its scenario expects.
func (m *Matrix) surprises(r Row) entries {
	var items entries
	for _, c := range r.Cells {
		for _, run := range c.Runs {
			if len(run.Differences) > 0 && c.isDecided() {
				name := r.name() + m.lockNames([]Cell{c}) + ", " + runName[run.Fencing]
				items = append(items, remarkOn(name, story.RenderReasons(run.Differences...)))
			}
		}
	}
	return items
}
