package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/setting"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

const whySchema = "locksim/why/v1"

func init() {
	Whys.Register(Format[*whatif.Why]{Name: "text", Title: "a terminal", Write: writeWhyText})
	Whys.Register(Format[*whatif.Why]{Name: "markdown", Title: "a document", Write: writeWhyMarkdown})
	Whys.Register(Format[*whatif.Why]{Name: "json", Title: "programs: one document, schema " + whySchema, Write: writeWhyJSON})
}

// A whyReport is a search for the changes that turn a verdict or lease-exclusion, with the options
// of its report.
type whyReport struct {
	*whatif.Why
	Options
}

func writeWhyText(w io.Writer, why *whatif.Why, o Options) error {
	return writeTextDocument(w, whyReport{why, o}.document(), o)
}

func writeWhyMarkdown(w io.Writer, why *whatif.Why, o Options) error {
	o = o.forPublication()
	return writeMarkdownDocument(w, whyReport{why, o}.document())
}

// document returns the report as a document.
func (w whyReport) document() *document {
	name := Row{Scenario: w.Given, Variant: w.Given.Variants[0]}.name()
	d := &document{title: name + ": the smallest changes, each alone, that change a verdict"}
	d.add("", facts(append(rowsOf(setting.DescribeChanges(w.Given.Overrides)), remarkOn("lock", story.Visible(w.Lock)), remarkOn("seed", fmt.Sprint(w.Seed)))))
	d.add("", w.table())
	d.add("", paragraph(w.legend()))
	if len(w.Steady) > 0 {
		d.add("What changes nothing", paragraph("For these settings, no tried value changes a verdict or lease-exclusion: "+visibleList(w.Steady)+"."))
	}
	if len(w.Unknown) > 0 {
		d.add("What could not be judged", paragraph(w.unknown()))
	}
	d.add("Commands that run them", figure(w.commands()))
	d.add("How they were found", paragraph(w.method()))
	return d
}

// answer returns the changes and their commands, to be put into another report.
func (w whyReport) answer() []piece {
	intro := "The smallest changes, each alone, that change a verdict:"
	pieces := []piece{paragraph(intro), w.table(), paragraph(w.legend())}
	if len(w.Unknown) > 0 {
		pieces = append(pieces, paragraph(w.unknown()))
	}
	return append(pieces, figure(w.commands()))
}

// table returns a table with a row for the scenario as it is and a row for each change. There is
// a column for the property lease-exclusion (no two leases overlap) if a change turns its outcome.
func (w whyReport) table() table {
	hasLeases := slices.ContainsFunc(w.Turns, func(t whatif.Turn) bool { return t.Outcome.Leases != w.Now.Leases })
	names := []string{"change"}
	if hasLeases {
		names = append(names, string(checks.LeaseExclusion))
	}
	tb := table{narrow: true, wraps: true, Heads: heads(append(names, fencingNames[scenarios.Off], fencingNames[scenarios.On])...)}
	add := func(change string, o whatif.Outcome) {
		if o.IsStuck {
			change += stuckMark
		}
		cells := []tableCell{plainCell(change)}
		if hasLeases {
			cells = append(cells, outcomeBadges[o.Leases].cell())
		}
		tb.add(append(cells, verdictBadges[o.Off].cell(), verdictBadges[o.On].cell())...)
	}
	add("none", w.Now)
	for _, t := range w.Turns {
		change := t.Override()
		switch {
		case t.NewFault != nil:
			change = "add a fault: " + exploredFaultWords(runs.WorldSpec{}, *t.NewFault)
		case t.From != "":
			change += " (instead of " + t.From + ")"
		}
		if t.UnknownFrom != "" {
			change += ", " + unknownWords(t.UnknownFrom, t.UnknownTo)
		}
		add(string(story.Visible(change)), t.Outcome)
	}
	return tb
}

// unknownWords says that values could not be judged.
func unknownWords(from, to string) string {
	if from == to {
		return from + " is inconclusive"
	}
	return from + " to " + to + " are inconclusive"
}

// stuckMark marks an outcome in which clients do not get their work done.
const stuckMark = " *"

// stuckLegend explains stuckMark.
const stuckLegend = "Where there is a *, the lock is never granted, or some client never gets its work done."

// legend explains the table.
func (w whyReport) legend() string {
	words := "No change that was tried changes a verdict or lease-exclusion."
	if len(w.Turns) > 0 {
		words = "For a time or another number, the table shows the nearest smaller and the nearest larger value for each new outcome. The value null removes a field."
	}
	if len(w.Observed) > 0 {
		words += " In this scenario, something begins or ends when an event happens. For this table, the event was replaced by the time at which it happened, so that a changed setting does not move it: " + visibleList(w.Observed) + "."
	}
	if w.Now.IsStuck || slices.ContainsFunc(w.Turns, func(t whatif.Turn) bool { return t.Outcome.IsStuck }) {
		words += " " + stuckLegend
	}
	return words
}

// unknown lists the values with which a run was inconclusive.
func (w whyReport) unknown() string {
	var all []string
	which := "With these values"
	for _, u := range w.Unknown {
		all = append(all, u.Path+"="+u.From)
		if u.From != u.To {
			which = "With some of these values"
			all[len(all)-1] = u.Path + " from " + u.From + " to " + u.To
		}
	}
	return which + ", a run is inconclusive, so they may change a verdict: " + visibleList(all) + "."
}

// visibleList joins paths, or paths with their values, with commas. It makes their invisible
// characters visible.
func visibleList(paths []string) string {
	var words []string
	for _, path := range paths {
		words = append(words, string(story.Visible(path)))
	}
	return strings.Join(words, ", ")
}

// commands returns a command for each change. They are not wrapped, so that they can be copied.
func (w whyReport) commands() string {
	var lines strings.Builder
	for _, t := range w.Turns {
		lines.WriteString("  " + w.command(t) + "\n")
	}
	return lines.String()
}

// command returns the command that runs the scenario with a change.
func (w whyReport) command(t whatif.Turn) string {
	return overriddenCommand("run", w.Given, w.Overrides(t), scenarios.RunOptions{Seed: w.Seed, Lock: w.Lock}, w.Options)
}

// method says how the changes were found, and what can be missed.
func (w whyReport) method() string {
	words := fmt.Sprintf("%d changed scenarios were run. The values that were tried: for a time or a rate, about fifteen between nearly zero and eight times the value; for a whole number, each from 1 to three times the number, at most 64; for network.latency, values up to %v; for a time of a client, a fault, the lock or the storage that the scenario leaves out, ten up to twice the TTL. Other values that the scenario leaves out were not tried. A run with more than %d events was cut off, and counts as inconclusive. Between two values with different outcomes, the border was searched. A narrow band of values between two others can be missed; locksim sweep looks closer.", w.Tried, whatif.LongestLatency, w.MaxEvents)
	if len(w.NewFaults) > 0 {
		words += " One new fault at a time was also added: " + w.newFaults() + ". A fault's size went up to the largest one that locksim explore tries. For each kind of fault, the table shows the smallest fault that changes a verdict or lease-exclusion."
	}
	if n := w.Untried(); n > 0 {
		words += fmt.Sprintf(" %d other new faults were not tried; locksim explore tries all faults.", n)
	}
	return words
}

// newFaultNames has the names of the kinds of faults that a search for changes adds, by
// effect.
var newFaultNames = map[trace.Effect]string{
	trace.StopsProcess:     "pauses of a client",
	trace.HoldsMessage:     "late messages",
	trace.ResetsConnection: "lost messages",
	trace.CutsLink:         "partitions",
	trace.SetsClock:        "forward jumps of a server's clock",
	trace.KillsProcess:     "crashes and restarts of a server",
}

// newFaults lists the kinds of faults that were added, and how many of each kind were tried.
func (w whyReport) newFaults() string {
	var all []string
	for _, n := range w.NewFaults {
		text := fmt.Sprintf("%d %s", n.Tried, cmp.Or(newFaultNames[n.Effect], string(n.Effect)))
		var remarks []string
		if n.Tried < n.Of {
			remarks = append(remarks, fmt.Sprintf("of %d", n.Of))
		}
		if n.Unknown > 0 {
			remarks = append(remarks, story.Count(n.Unknown, "inconclusive run"))
		}
		if len(remarks) > 0 {
			text += " (" + strings.Join(remarks, "; ") + ")"
		}
		all = append(all, text)
	}
	return story.List(all)
}

// A jsonWhy is a search for the changes that turn a verdict or lease-exclusion, in JSON.
type jsonWhy struct {
	Schema   string `json:"schema"`
	Scenario string `json:"scenario"`
	Variant  string `json:"variant"`
	Lock     string `json:"lock"`
	Seed     uint64 `json:"seed"`
	// Overrides are the overrides that the scenario was given with.
	Overrides []string `json:"overrides,omitempty"`
	// Observed are overrides that the search made. In place of an event at which something ends,
	// they set a time that was observed in a run.
	Observed []string `json:"observed,omitempty"`
	// Off and On are the verdicts of the unchanged scenario without fencing tokens and with them.
	// LeaseExclusion is the worse outcome of the property lease-exclusion in these two runs.
	Off            string         `json:"off"`
	On             string         `json:"on"`
	LeaseExclusion checks.Outcome `json:"lease_exclusion"`
	// Turns are the changes. Steady are the paths that turn nothing, and Unknown are values
	// with which a run was inconclusive.
	Turns   []jsonTurn    `json:"turns"`
	Steady  []string      `json:"steady"`
	Unknown []jsonUnknown `json:"unknown,omitempty"`
	Tried   int           `json:"tried"`
	// Untried is how many new faults were not tried.
	Untried int `json:"untried"`
}

// A jsonTurn is a change that turns a verdict or lease-exclusion: a change of one value, or a new
// fault.
type jsonTurn struct {
	Path  string `json:"path"`
	Value string `json:"value"`
	// Now is the value that the scenario has. It is missing if there is none.
	Now string `json:"now,omitempty"`
	// Unknown are the values between Now and Value with which a run was inconclusive.
	Unknown *jsonUnknown `json:"unknown,omitempty"`

	Off string `json:"off"`
	On  string `json:"on"`
	// LeaseExclusion is the worse outcome of the property lease-exclusion in the two runs. Stuck
	// says that, in one of them, the lock was never granted, or some client never got its work
	// done.
	LeaseExclusion checks.Outcome `json:"lease_exclusion"`
	Stuck          bool           `json:"stuck,omitempty"`
	Replay         string         `json:"replay"`
}

// A jsonUnknown holds the smallest and the largest of some values of a path. Path is missing within
// a jsonTurn, which has the path itself.
type jsonUnknown struct {
	Path string `json:"path,omitempty"`
	From string `json:"from"`
	To   string `json:"to"`
}

func writeWhyJSON(out io.Writer, why *whatif.Why, o Options) error {
	w := whyReport{why, o}
	all := jsonWhy{
		Schema: whySchema, Scenario: w.Scenario.Name, Variant: w.Scenario.Variants[0].Name, Lock: w.Lock, Seed: w.Seed, Overrides: w.Given.Overrides, Observed: w.Observed,
		Off: w.Now.Off, On: w.Now.On, LeaseExclusion: w.Now.Leases, Turns: []jsonTurn{}, Steady: append([]string{}, w.Steady...), Tried: w.Tried, Untried: w.Untried(),
	}
	for _, u := range w.Unknown {
		all.Unknown = append(all.Unknown, jsonUnknown(u))
	}
	for _, t := range w.Turns {
		var unknown *jsonUnknown
		if t.UnknownFrom != "" {
			unknown = &jsonUnknown{From: t.UnknownFrom, To: t.UnknownTo}
		}
		all.Turns = append(all.Turns, jsonTurn{
			Path: t.Path, Value: t.Value, Now: t.From, Unknown: unknown,
			Off: t.Outcome.Off, On: t.Outcome.On, LeaseExclusion: t.Outcome.Leases, Stuck: t.Outcome.IsStuck, Replay: w.command(t),
		})
	}
	return encode(out, all)
}
