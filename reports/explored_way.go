package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A breakage is a short word for properties that broke, for the cells of a table, and
// what it means.
type breakage struct {
	word       string
	properties []checks.Property
	means      string
}

// breakages are the words for all properties, in their order. Whatever else breaks, such
// as a panic, is its own word.
var breakages = func() []breakage {
	var all []breakage
	for _, p := range checks.Properties() {
		c := p.Card()
		if i := slices.IndexFunc(all, func(b breakage) bool { return b.word == c.Word }); i >= 0 {
			all[i].properties = append(all[i].properties, p)
			continue
		}
		all = append(all, breakage{c.Word, []checks.Property{p}, c.Means})
	}
	return all
}()

// includes reports whether one of the breakage's properties is among those that
// broke.
func (b breakage) includes(broke []string) bool {
	return slices.ContainsFunc(b.properties, func(p checks.Property) bool { return slices.Contains(broke, string(p)) })
}

// inShort is what broke in the words of breakages, such as "two at work" and "data".
func inShort(broke []string) []string {
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

// inFull is what broke by its names.
func inFull(broke []string) string {
	if len(broke) == 0 {
		return "nothing"
	}
	return story.List(eachVisible(broke))
}

func eachVisible(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = story.Visible(s)
	}
	return out
}

// corrupts reports whether a property of the data is among those that broke.
func corrupts(broke []string) bool {
	return slices.ContainsFunc(broke, func(what string) bool { return checks.Property(what).Data() })
}

// legend explains the words of a table of ways, and two of its columns.
func legend(ways []explore.Way) []remark {
	rows := append(breakageLegend(ways), faultLegend(ways)...)
	if slices.ContainsFunc(ways, func(w explore.Way) bool { return len(w.Margins) > 0 }) {
		rows = append(rows, remark{"size", "how long the fault lasts, or by how much a clock is set, for this to happen"})
	}
	return append(rows, remark{"worlds", "in how many of those tried this happened"})
}

// breakageLegend explains the words that the ways need.
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
		rows = append(rows, remarkOn(b.word, b.means+": "+story.Either(properties)+" is violated"))
	}
	return rows
}

// faultLegend explains whose fault the ways are.
func faultLegend(ways []explore.Way) []remark {
	var rows []remark
	add := func(about, text string, is func(explore.Way) bool) {
		if slices.ContainsFunc(ways, is) {
			rows = append(rows, remarkOn(about, text))
		}
	}
	is := func(blame checks.Blame) func(explore.Way) bool {
		return func(w explore.Way) bool { return w.Fault == blame }
	}
	add(checks.FaultLock.String(), "the lock's own fault: a better lock would not have let this happen", is(checks.FaultLock))
	add("inherent", "no lock whose grants end by time can avoid this; the storage has to check tokens", is(checks.FaultInherent))
	add("assumption", "something broke on which the lock relies", func(w explore.Way) bool { return w.Fault.Whose == checks.ByAssumption })
	add(nobodys, "the lock kept the clients apart, and a write came late all the same", lateAlone)
	add("?", "what happened does not tell", func(w explore.Way) bool { return whoseFault(w) == "?" })
	return rows
}

// nobodys is the fault of ways in which a write came late and that is all.
const nobodys = "nobody's"

// lateAlone reports whether a way has nothing to do with the lock: leases and sections
// kept apart, and a write that was on its way for long was applied under a later grant.
func lateAlone(w explore.Way) bool {
	broke := func(p checks.Property) bool {
		return slices.Contains(w.Off, string(p)) || slices.Contains(w.On, string(p))
	}
	return w.Fault.IsZero() && broke(checks.GrantOrder) && !broke(checks.LeaseExclusion) && !broke(checks.SectionExclusion)
}

// whoseFault is the way's fault, or a question mark.
func whoseFault(w explore.Way) string {
	switch {
	case lateAlone(w):
		return nobodys
	case w.Fault.IsZero():
		return "?"
	}
	return w.Fault.String()
}

// manyCauses is how many causes of a way are told.
const manyCauses = 3

// othersWords lists the causes besides the example's that were seen to do the same,
// with the number of worlds of each, the most common first; "" if there is none.
func othersWords(w explore.Way) string {
	own := strings.Join(w.Cause, " and ")
	others := slices.DeleteFunc(slices.Clone(w.Causes), func(c explore.Cause) bool { return c.Faults == own })
	var words []string
	for _, c := range others[:min(len(others), manyCauses)] {
		words = append(words, fmt.Sprintf("%s (%s)", story.Visible(c.Faults), story.Thousands(c.Worlds)))
	}
	if more := len(others) - len(words); more > 0 {
		words = append(words, story.Thousands(more)+" more")
	}
	return strings.Join(words, ", ")
}

// stagesWords says when the faults of a way strike: "during acquire, read or write, or
// between two steps". That is no step of the client's, but a stage all the same.
func stagesWords(w explore.Way) string {
	const between = "between steps"
	steps := eachVisible(slices.DeleteFunc(slices.Clone(w.Stages), func(s string) bool { return s == between }))
	words := ""
	if len(steps) > 0 {
		words = "during " + story.Either(steps)
	}
	if len(steps) < len(w.Stages) {
		if words != "" {
			words += ", or "
		}
		words += "between two steps"
	}
	return words
}

// wayTitle says in one line what happens in a way.
func wayTitle(w explore.Way) string {
	if w.Title == "" {
		return story.Cause(w.Cause)
	}
	return story.Visible(w.Title)
}

// persistenceOf is what the node that a fault crashes writes to its disk, if that is not
// what the base says.
func persistenceOf(w runs.World, f runs.Fault) sim.Persistence {
	if f.Effect() != trace.KillsProcess {
		return ""
	}
	return w.Change.Persistence[f.Target()]
}

// exploredFaultWords says what a fault does, when it strikes and how long it lasts.
func exploredFaultWords(w runs.World, f runs.Fault) string {
	own := f.Fault
	own.Text = scenarios.FaultText(own)
	own.For = 0 // which would be rounded
	words := faultWords(own)
	if f.For > 0 {
		words += ", for " + trace.ShortDuration(f.For)
	}
	if disk := persistenceOf(w, f); disk != "" {
		words += ", with persistence " + string(disk)
	}
	return story.Visible(words)
}

// worldWords says on which base the way's example is told, if there are several, and
// in what it differs from it; "" is nothing.
func worldWords(r *explore.Result, w runs.World) string {
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
		words = append(words, client+" starts: "+w.Change.Starts[client].String())
	}
	return strings.Join(eachVisible(words), "; ")
}

// marginCell is how large a fault has to be, in a cell of a table.
func marginCell(m explore.Margin) string {
	if m.Survived == (sim.Size{}) {
		return "any"
	}
	return "≥ " + m.Broken.String()
}

// The stack of a lock that panics is shown up to a point.
const longestStack = 24

// stack is what a lock did that no lock may do, line by line, each cut at its
// beginning if it is long: a stack names files and lines at the end of its lines.
func stack(w explore.Way) []string {
	if w.Why == "" {
		return nil
	}
	all := strings.Split(strings.TrimRight(w.Why, "\n"), "\n")
	left := len(all) - longestStack
	if left > 0 {
		all = all[:longestStack]
	}
	for i, line := range all {
		runes := []rune(story.Visible(strings.ReplaceAll(line, "\t", "  ")))
		if over := len(runes) - (exploredWidth - 4); over > 0 {
			runes = append([]rune{'…'}, runes[over+1:]...)
		}
		all[i] = string(runes)
	}
	if left > 0 {
		all = append(all, fmt.Sprintf("… and %s, which the JSON report has", story.Count(left, "more line")))
	}
	return all
}

// replayWay is the command that runs a way's scenario in a file.
func replayWay(file string) string { return "locksim run " + Operand(file) }
