package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/setting"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A breakage is a word for one or more violated properties that is short enough for the
// cell of a table. meaning explains the word.
type breakage struct {
	word       string
	properties []checks.Property
	meaning    string
}

// breakages are the words for all properties, in the properties' order. Damage that is not
// a property, such as a panic, has no breakage and keeps its own name.
var breakages = func() []breakage {
	var all []breakage
	for _, p := range checks.Properties() {
		c := p.Card()
		if i := slices.IndexFunc(all, func(b breakage) bool { return b.word == c.Label }); i >= 0 {
			all[i].properties = append(all[i].properties, p)
			continue
		}
		all = append(all, breakage{c.Label, []checks.Property{p}, c.Meaning})
	}
	return all
}()

// includes reports whether broke contains one of the breakage's properties.
func (b breakage) includes(broke []string) bool {
	return slices.ContainsFunc(b.properties, func(p checks.Property) bool { return slices.Contains(broke, string(p)) })
}

// breakageWords returns the short words for what broke, such as "two at work" and "data".
func breakageWords(broke []string) []string {
	var words []string
	for _, b := range breakages {
		if b.includes(broke) {
			words = append(words, b.word)
		}
	}
	for _, what := range broke {
		if checks.Property(what).Title() == "" {
			words = append(words, story.Visible(what))
		}
	}
	return words
}

// listBroken lists the violated properties by their full names.
func listBroken(broke []string) string {
	if len(broke) == 0 {
		return "nothing"
	}
	return story.List(eachVisible(broke))
}

// eachVisible returns texts with their invisible characters made visible.
func eachVisible(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = story.Visible(s)
	}
	return out
}

// corrupts reports whether a property of the data was violated.
func corrupts(broke []string) bool {
	return slices.ContainsFunc(broke, func(what string) bool { return checks.Property(what).IsData() })
}

// legend explains the words in a table of ways, and two of its columns.
func legend(ways []explore.Way) []remark {
	rows := append(breakageLegend(ways), faultLegend(ways)...)
	if slices.ContainsFunc(ways, func(w explore.Way) bool { return len(w.Margins) > 0 }) {
		rows = append(rows, remark{"size", "how long the fault must last, or by how much a clock must be set, for this to happen"})
	}
	return append(rows, remark{"worlds", "in how many of the tried worlds this happened"})
}

// breakageLegend explains the breakages that occur in the ways.
func breakageLegend(ways []explore.Way) []remark {
	var rows []remark
	for _, b := range breakages {
		if !slices.ContainsFunc(ways, func(w explore.Way) bool { return b.includes(w.Off) || b.includes(w.On) }) {
			continue
		}
		var properties []string
		for _, p := range b.properties {
			properties = append(properties, string(p))
		}
		rows = append(rows, remarkOn(b.word, b.meaning+": "+story.Alternatives(properties)+" is violated"))
	}
	return rows
}

// faultLegend explains the values of blame that occur in the ways.
func faultLegend(ways []explore.Way) []remark {
	var rows []remark
	add := func(about, text string, hasBlame func(explore.Way) bool) {
		if slices.ContainsFunc(ways, hasBlame) {
			rows = append(rows, remarkOn(about, text))
		}
	}
	hasBlame := func(blame checks.Blame) func(explore.Way) bool {
		return func(w explore.Way) bool { return w.Blame == blame }
	}
	add(checks.BlameLock.String(), "the lock's own fault: a better lock would have prevented this", hasBlame(checks.BlameLock))
	add("inherent", "no lock with leases that expire can avoid this; the storage has to check tokens", hasBlame(checks.BlameInherent))
	add("assumption", "an assumption that the lock relies on did not hold", func(w explore.Way) bool { return w.Blame.Kind == checks.KindAssumption })
	add(nobodysFault, "the lock kept the clients apart, but a write arrived late", isOnlyLateWrite)
	add("?", "the run does not show it", func(w explore.Way) bool { return blameWords(w) == "?" })
	return rows
}

// nobodysFault is shown as the blame for a way whose only damage is a late write.
const nobodysFault = "nobody's"

// isOnlyLateWrite reports whether a late write is the only damage of a way. A late write
// was in flight for a long time and was applied after a later grant, although leases and
// critical sections did not overlap.
func isOnlyLateWrite(w explore.Way) bool {
	broke := func(p checks.Property) bool {
		return slices.Contains(w.Off, string(p)) || slices.Contains(w.On, string(p))
	}
	return w.Blame.IsZero() && broke(checks.GrantOrder) && !broke(checks.LeaseExclusion) && !broke(checks.SectionExclusion)
}

// blameWords names the blame for a way; "?" if it is not known.
func blameWords(w explore.Way) string {
	switch {
	case isOnlyLateWrite(w):
		return nobodysFault
	case w.Blame.IsZero():
		return "?"
	}
	return w.Blame.String()
}

// maxCauses is the maximum number of other causes that are listed for a way.
const maxCauses = 3

// otherCauses lists the causes that had the same effect as the cause of the way's example, the
// most common first. Each has the number of its worlds. It returns "" if there are none.
func otherCauses(w explore.Way) string {
	own := strings.Join(w.Cause, " and ")
	others := slices.DeleteFunc(slices.Clone(w.Causes), func(c explore.Cause) bool { return c.Faults == own })
	var words []string
	for _, c := range others[:min(len(others), maxCauses)] {
		words = append(words, fmt.Sprintf("%s (%s)", story.Visible(c.Faults), story.Thousands(c.Worlds)))
	}
	if more := len(others) - len(words); more > 0 {
		words = append(words, story.Thousands(more)+" more")
	}
	return strings.Join(words, ", ")
}

// stagesWords says in which stages of a client the faults of a way strike: "during acquire,
// read or write, or between two steps". The stage "between steps" is not a step, so it is
// worded differently.
func stagesWords(w explore.Way) string {
	const between = "between steps"
	steps := eachVisible(slices.DeleteFunc(slices.Clone(w.Stages), func(s string) bool { return s == between }))
	words := ""
	if len(steps) > 0 {
		words = "during " + story.Alternatives(steps)
	}
	if len(steps) < len(w.Stages) {
		if words != "" {
			words += ", or "
		}
		words += "between two steps"
	}
	return words
}

// wayTitle returns the title of a way, or its cause if it has no title.
func wayTitle(w explore.Way) string {
	if w.Title == "" {
		return story.Cause(w.Cause)
	}
	return story.Visible(w.Title)
}

// persistenceOf returns what the node that a fault crashes keeps on disk; "" if it is the same in
// the base (the workload without faults), or if the fault crashes nothing.
func persistenceOf(w runs.WorldSpec, f runs.Fault) sim.Persistence {
	if f.Effect() != trace.KillsProcess {
		return ""
	}
	return w.Change.Persistence[f.Target()]
}

// exploredFaultWords says what a fault does, when it strikes and how long it lasts.
func exploredFaultWords(w runs.WorldSpec, f runs.Fault) string {
	fault := f.Fault
	fault.Text = scenarios.FaultText(fault)
	fault.For = 0 // sim would round the duration; it is added below in full
	words := setting.DescribeFault(fault)
	if f.For > 0 {
		words += ", for " + trace.ShortDuration(f.For)
	}
	if disk := persistenceOf(w, f); disk != "" {
		words += ", with persistence " + string(disk)
	}
	return story.Visible(words)
}

// worldWords describes how the example of a way differs from its base. If there are several
// bases, it names the base first. It returns "" if there is nothing to say.
func worldWords(r *explore.Result, w runs.WorldSpec) string {
	var words []string
	if len(r.Bases) > 1 && w.Base >= 0 && w.Base < len(r.Bases) {
		words = append(words, r.Bases[w.Base].Name)
	}
	if w.Change.Clients != nil {
		words = append(words, "with only "+story.List(w.Change.Clients))
	}
	if w.Change.Nodes > 0 {
		words = append(words, "on "+story.Count(w.Change.Nodes, "node"))
	}
	for _, client := range slices.Sorted(maps.Keys(w.Change.Starts)) {
		words = append(words, client+" starts when "+w.Change.Starts[client].String())
	}
	return strings.Join(eachVisible(words), "; ")
}

// marginCell says, in a cell of a table, how large a fault must be to break the lock.
func marginCell(m explore.Margin) string {
	if m.Survived == (sim.Size{}) {
		return "any"
	}
	return "≥ " + m.Broken.String()
}

// maxStack is the maximum number of lines that are shown of a stack.
const maxStack = 24

// stack returns the lines about the misconduct of a lock, with the stack of a panic. Long
// lines are cut at their beginning, because a stack names files and line numbers at the end
// of its lines. width is the number of columns of the report.
func stack(w explore.Way, width int) []string {
	if w.Why == "" {
		return nil
	}
	all := []string{w.Why}
	if w.Stack != "" {
		all = append(all, strings.Split(strings.TrimRight(w.Stack, "\n"), "\n")...)
	}
	omitted := len(all) - maxStack
	if omitted > 0 {
		all = all[:maxStack]
	}
	for i, line := range all {
		runes := []rune(story.Visible(strings.ReplaceAll(line, "\t", "  ")))
		if excess := len(runes) - (width - 4); excess > 0 {
			runes = append([]rune{'…'}, runes[excess+1:]...)
		}
		all[i] = string(runes)
	}
	if omitted > 0 {
		all = append(all, fmt.Sprintf("… and %s, see the JSON report", story.Count(omitted, "more line")))
	}
	return all
}

// replayWay returns the command that runs the scenario file of a way.
func replayWay(file string) string { return "locksim run " + Operand(file) }
