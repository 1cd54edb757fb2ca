package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A rowList is a list under a matrix. It has an entry, with an explanation, for each row
// whose results are of one kind.
type rowList struct {
	Sort  listKind
	Title string
	Items entries
}

// A listKind is a kind of result that a cell of the matrix can have. Each kind except the
// last has its own list.
type listKind int

const (
	unexpectedResult listKind = iota
	breaksWithout
	breaksAnyway
	safeResult
	unknownResult
	notApplicableResult
	notRunResult
	singleRunResult // no list: only one of the two runs was made
)

// listKinds describes the lists in their order: the key and the label of the filter on a
// page, and the title of the list.
var listKinds = [singleRunResult]struct{ key, label, title string }{
	unexpectedResult:    {"differs", "not as expected", "Not as its scenario expects"},
	breaksWithout:       {"fencing-helps", "safe only with fencing", "Breaks without fencing tokens"},
	breaksAnyway:        {"unsafe", "unsafe even with fencing", "Breaks even with fencing tokens, and why"},
	safeResult:          {"safe", "safe without fencing", "Safe without fencing tokens, and why"},
	unknownResult:       {"unknown", "unknown", "Unknown, and why"},
	notApplicableResult: {"untold", "not applicable", "Not applicable to this lock, and why"},
	notRunResult:        {"not-run", "not run", "Not run, and why"},
}

// kind returns the kind of the cell's result.
func (c Cell) kind() listKind {
	switch {
	case c.NotRun != "":
		return notRunResult
	case !c.hasRuns():
		return notApplicableResult
	case !c.isDecided():
		return unknownResult
	case len(c.Runs) < 2:
		return singleRunResult
	case c.verdict(1) == checks.Unsafe:
		return breaksAnyway
	case c.verdict(0) == checks.Unsafe:
		return breaksWithout
	}
	return safeResult
}

// kinds returns the kinds of the results in a row, in the order of the lists.
func (r Row) kinds() []listKind {
	found := map[listKind]bool{unexpectedResult: slices.Contains(r.standings(), NotAsExpected)}
	for _, c := range r.Cells {
		found[c.kind()] = true
	}
	var kinds []listKind
	for kind := range listKinds {
		if found[listKind(kind)] {
			kinds = append(kinds, listKind(kind))
		}
	}
	return kinds
}

// countKinds returns the number of rows with results of each kind.
func countKinds(rows []Row) map[listKind]int {
	counts := map[listKind]int{}
	for _, r := range rows {
		for _, kind := range r.kinds() {
			counts[kind]++
		}
	}
	return counts
}

// lists returns the lists that have entries, in their order. A row whose cells have results
// of several kinds is in several lists.
func (m *Matrix) lists() []rowList {
	var lists []rowList
	for kind, s := range listKinds {
		l := rowList{Sort: listKind(kind), Title: s.title}
		for _, r := range m.inOrder() {
			l.Items = append(l.Items, m.items(r, l.Sort)...)
		}
		if len(l.Items) > 0 {
			lists = append(lists, l)
		}
	}
	return lists
}

// longList is the number of entries above which a list is collapsed.
const longList = 20

// document returns the matrix with its legend and its lists. table is the matrix in the
// form that a format needs.
func (m *Matrix) document(table piece, legend facts) *document {
	d := &document{}
	d.add("", table, legend)
	m.addLists(d)
	return d
}

// addLists adds the lists under the matrix.
func (m *Matrix) addLists(d *document) {
	for _, l := range m.lists() {
		d.add(fmt.Sprintf("%s (%d)", l.Title, len(l.Items)), l.Items)
		d.chapters[len(d.chapters)-1].isCollapsed = l.Sort != unexpectedResult && len(l.Items) > longList
	}
}

// items returns the entries of a row in a list. Locks with the same text share an entry.
func (m *Matrix) items(r Row, kind listKind) entries {
	if kind == unexpectedResult {
		return m.surprises(r)
	}
	var texts []remarks
	cells := map[remarks][]Cell{}
	for _, c := range r.Cells {
		if c.kind() == kind {
			text := c.remarksFor(kind)
			if cells[text] == nil {
				texts = append(texts, text)
			}
			cells[text] = append(cells[text], c)
		}
	}
	var items entries
	for _, text := range texts {
		parts := []string{text.reason}
		if kind != unknownResult && kind != notApplicableResult && kind != notRunResult && slices.ContainsFunc(cells[text], r.explains) {
			parts = []string{strings.TrimRight(visibleLine(r.Variant.Why), "."), text.reason}
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		switch {
		case text.caveat == "":
		case len(parts) == 0:
			parts = []string{text.caveat}
		default:
			parts = append(parts, "but "+text.caveat)
		}
		items = append(items, remarkOn(r.name()+m.lockNames(cells[text]), strings.Join(parts, "; ")))
	}
	return items
}

// remarks are texts about a cell, each of which may be "". reason explains the result, in
// addition to the scenario's own explanation. caveat says what is violated although the
// data is safe.
type remarks struct{ reason, caveat string }

// explains reports whether the scenario's own explanation also explains a cell. This is so
// for the scenario's own lock, and for other locks with which it expects the same
// violations.
func (r Row) explains(c Cell) bool {
	return c.Lock == r.Variant.Lock || !slices.ContainsFunc(c.Runs, func(run scenarios.RunResult) bool {
		own, known := r.Variant.Expectation("", run.Fencing)
		return run.Expected == nil || known && !slices.Equal(run.Expected.Violated, own.Violated)
	})
}

// lockNames names the locks of cells; "" if these are all locks of the matrix.
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

// remarksFor returns the texts about a cell in the list of one kind.
func (c Cell) remarksFor(kind listKind) remarks {
	result := remarks{caveat: c.caveatNote()}
	switch kind {
	case notApplicableResult:
		result.reason = story.Visible(c.NotApplicable)
	case notRunResult:
		result.reason = story.Visible(c.NotRun)
	case unknownResult:
		result.reason = c.doubt()
	case breaksAnyway:
		result.reason = "violated: " + story.List(violated(c.Runs[1], checks.PropertiesOf(checks.SubjectData)))
	}
	return result
}

// caveatNote says what is violated although the data is safe; "" if nothing is, or the
// verdict is unknown.
func (c Cell) caveatNote() string {
	if !c.isDecided() {
		return ""
	}
	without, with := c.Runs[0].Verdict.Caveats(), c.Runs[1].Verdict.Caveats()
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

// areViolated says that properties are violated, in the singular or the plural.
func areViolated(properties []checks.Property) string {
	if len(properties) == 1 {
		return story.List(properties) + " is violated"
	}
	return story.List(properties) + " are violated"
}

// doubt says why the cell's result is unknown.
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

// surprises returns an entry for each run of a row that differs from what its scenario
// expects. Runs with an unknown verdict have a list of their own.
func (m *Matrix) surprises(r Row) entries {
	var items entries
	for _, c := range r.Cells {
		for _, run := range c.Runs {
			if len(run.Differences) > 0 && c.isDecided() {
				name := r.name() + m.lockNames([]Cell{c}) + ", " + fencingNames[run.Fencing]
				items = append(items, remarkOn(name, story.RenderReasons(run.Differences...)))
			}
		}
	}
	return items
}
