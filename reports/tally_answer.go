package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// answer returns the tables with which a comparison begins: a verdict in words on each
// lock, and the locks that fit a need. Each word comes from the counts, or from the card of
// the lock or of its servers. There are no tables if nothing was run.
func (t tallyTables) answer() []tallyTable {
	if !slices.ContainsFunc(t.Counts, func(row []Count) bool {
		return slices.ContainsFunc(row, func(c Count) bool { return c.Seeds > 0 })
	}) {
		return nil
	}
	cost, wait := t.measured("traffic", "messages per section"), t.measured("wait-after-crash", "longest")
	columns := []tallyColumn{
		{heads("two holders")[0], func(r tallyRow) span { return t.twoHolders(r.lock).span() }},
		{heads("wrong data without fencing")[0], func(r tallyRow) span { return t.wrongData(r.lock, 0).span() }},
		{heads("survives one server")[0], func(r tallyRow) span { return t.survival(r.lock).span() }},
		{heads(cost.head("messages"))[0], cost.cell},
		{heads(wait.head("wait after crash"))[0], wait.cell},
	}
	verdicts := newTallyTable("Answer", "4/17: what the head names happened in 4 of the 17 scenarios and variants that apply, with at least one seed. The words are the assumptions broken in these 4. Two holders: two leases overlap.", t.lockRows(0), columns)
	verdicts.Table.narrow, verdicts.Table.wraps = false, true
	tables := []tallyTable{verdicts}
	if d := t.decisions(); len(d) > 0 {
		tables = append(tables, decisionTable(d))
	}
	ids := pageNames{}
	for i := range tables {
		tables[i].ID = ids.name("answer", tables[i].Title)
	}
	return tables
}

// A damage counts the scenarios in which something goes wrong with a lock.
type damage struct {
	// scenarios are the rows in which something goes wrong on at least one seed. judged counts
	// the rows in which it is known whether something goes wrong. unknown counts the other rows
	// that have runs.
	scenarios       []Row
	judged, unknown int
}

// countHarm counts the rows in which a harm happens with a lock, in the runs without fencing
// tokens (run is 0) or with them (run is 1). bad returns in how many runs of a cell the harm
// happens, and how many runs can show it.
func (t *Tally) countHarm(column, run int, bad func(Count) (n, of int)) damage {
	var h damage
	for i, r := range t.Rows {
		c := t.Counts[i][column]
		switch n, of := bad(c); {
		case n > 0:
			h.judged++
			h.scenarios = append(h.scenarios, r)
		case c.Undecided[run].N > 0:
			h.unknown++
		case of > 0:
			h.judged++
		}
	}
	return h
}

// twoHolders counts the scenarios in which two leases overlap.
func (t *Tally) twoHolders(column int) damage {
	return t.countHarm(column, 0, func(c Count) (n, of int) {
		return c.Violated[checks.LeaseExclusion][0].N, c.Judged[checks.LeaseExclusion][0].N
	})
}

// wrongData counts the scenarios in which the data is wrong without fencing tokens (run is
// 0) or with them (run is 1).
func (t *Tally) wrongData(column, run int) damage {
	return t.countHarm(column, run, func(c Count) (n, of int) { return c.Unsafe[run].N, c.Seeds - c.Undecided[run].N })
}

// assumptions returns the assumptions that the harmful scenarios break, each once.
func (h damage) assumptions() []string {
	var all []string
	for _, r := range h.scenarios {
		name := r.assumption()
		if name == "none" || name == "" {
			name = "nothing breaks"
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// names returns the names of the harmful scenarios.
func (h damage) names() []string {
	var all []string
	for _, r := range h.scenarios {
		all = append(all, r.name())
	}
	return all
}

// span says how often the harm occurs.
func (h damage) span() span {
	unknown := ""
	if h.unknown > 0 {
		unknown = fmt.Sprintf(", %d unknown", h.unknown)
	}
	switch {
	case h.judged == 0 && h.unknown == 0:
		return span{Text: "–", Tone: "soft"}
	case h.judged == 0:
		return span{Text: strings.TrimPrefix(unknown, ", "), Tone: "doubt"}
	case len(h.scenarios) == 0:
		return span{Text: fmt.Sprintf("never in %d%s", h.judged, unknown), Tone: "good"}
	}
	return span{Text: fmt.Sprintf("%d/%d%s: %s", len(h.scenarios), h.judged, unknown, strings.Join(h.assumptions(), ", ")), Tone: "bad"}
}

// A survival says whether a lock still works when one of its servers is down.
type survival struct {
	// lost is how many of its servers the lock can lose and still work, and total how many it
	// has in the runs. isTested reports whether a server is lost in some scenario.
	lost, total int
	isTested    bool
	// usual says how many servers people usually run, if they are more than the simulation
	// has; "" otherwise.
	usual string
	// hasReplica reports whether a replica took over from a server in some scenario. harm is
	// what went wrong after that; "" if nothing did.
	hasReplica bool
	harm       string
}

// survival returns whether a lock still works when one of its servers is down.
func (t *Tally) survival(column int) survival {
	var s survival
	var row int
	s.lost, s.total, row = t.maxLost(column)
	s.isTested = row >= 0
	kind, _ := locks.Lookup(t.Locks[column])
	system, _ := sim.LookupSystem(kind.System)
	s.usual = system.UsuallyRun
	for i := range t.Rows {
		c := t.Counts[i][column]
		if c.Replaced == 0 {
			continue
		}
		s.hasReplica = true
		s.harm = worseHarm(s.harm, harmOfFailover(c))
	}
	return s
}

// noProgress is the harm that leaves a lock safe.
const noProgress = "no progress"

// failoverHarms are what can go wrong when a replica takes over, the worst first.
var failoverHarms = []string{"two holders", "wrong data", noProgress, unknownHarm, ""}

// unknownHarm means that some runs have no verdict, and that nothing went wrong in the
// others.
const unknownHarm = "unknown"

// harmOfFailover returns the worst that happened in the runs of a cell.
func harmOfFailover(c Count) string {
	switch {
	case c.Violated[checks.LeaseExclusion][0].N > 0:
		return "two holders"
	case c.Unsafe[0].N > 0:
		return "wrong data"
	case c.Violated[checks.Progress][0].N > 0:
		return noProgress
	case c.Undecided[0].N > 0:
		return unknownHarm
	}
	return ""
}

// worseHarm returns the worse of two harms.
func worseHarm(a, b string) string {
	return failoverHarms[min(slices.Index(failoverHarms, a), slices.Index(failoverHarms, b))]
}

// isOneOfSeveral reports whether the runs have only one server where people usually run
// several, so they do not show whether the lock survives.
func (s survival) isOneOfSeveral() bool { return s.usual != "" && s.total == 1 }

// oneOfSeveral is the verdict on a lock for which isOneOfSeveral is true.
var oneOfSeveral = span{Text: "? 1 simulated", Tone: "doubt"}

// span says in words whether the lock survives.
func (s survival) span() span {
	switch {
	case s.lost > 0:
		return span{Text: fmt.Sprintf("yes, %d of %d", s.lost, s.total), Tone: "good"}
	case s.hasReplica && s.harm == "":
		return span{Text: "yes, with a replica", Tone: "good"}
	case s.hasReplica && s.harm == unknownHarm:
		return span{Text: s.harm + " (replica)", Tone: "doubt"}
	case s.hasReplica && s.harm == noProgress:
		return span{Text: "no: " + s.harm, Tone: "bad"}
	case s.hasReplica:
		return span{Text: "unsafe: " + s.harm, Tone: "bad"}
	case !s.isTested:
		return span{Text: "–", Tone: "soft"}
	case s.isOneOfSeveral():
		return oneOfSeveral
	}
	return span{Text: fmt.Sprintf("no, 0 of %d", s.total), Tone: "bad"}
}

// A measuredFigure is a figure in the scenarios that measure it.
type measuredFigure struct {
	tallyTables
	measure, figure string
	rows            []int
}

// measured returns a figure in the scenarios that measure it and have one variant.
func (t tallyTables) measured(measure, figure string) measuredFigure {
	m := measuredFigure{t, measure, figure, nil}
	for i, r := range t.Rows {
		if slices.Contains(r.Variant.Measures, measure) && len(t.variantRows(r.Scenario)) == 1 {
			m.rows = append(m.rows, i)
		}
	}
	return m
}

// head returns the head of a column with the figure. It names the scenarios if there are
// several.
func (m measuredFigure) head(name string) string {
	if len(m.rows) < 2 {
		return name
	}
	var scenarios []string
	for _, i := range m.rows {
		scenarios = append(scenarios, m.shortNames()[i])
	}
	return name + ", " + strings.Join(scenarios, ", ")
}

// cell returns the median of the figure in each of the scenarios.
func (m measuredFigure) cell(r tallyRow) span {
	var texts []string
	isKnown := false
	for _, i := range m.rows {
		text := "–"
		if s := m.Counts[i][r.lock].sample(m.measure, m.figure); len(s.Values) > 0 {
			text, isKnown = s.write(s.percentile(50)), true
		}
		texts = append(texts, text)
	}
	if !isKnown {
		return span{Text: "–", Tone: "soft"}
	}
	return span{Text: strings.Join(texts, ", ")}
}
