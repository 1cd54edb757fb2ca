package reports

import (
	"fmt"
	"io"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

const tallyTitle = "Locks side by side"

// document returns the tally with its legend and its lists.
func (t *Tally) document(o Options) *document {
	d := &document{title: tallyTitle}
	tables := tallyTables{t, noPage}
	for _, entry := range tables.answer() {
		d.add(entry.Title, paragraph(entry.About), entry.Table)
	}
	d.add("How to read the tables", t.legend(o))
	for _, entry := range tables.tables() {
		d.add(entry.Title, paragraph(entry.About), entry.Table)
	}
	d.add("Differs between seeds, with a command that shows it", t.unusual(o))
	d.add("Not as its scenario expects", t.surprises(o))
	if n := t.NotRun(); n > 0 {
		d.add(fmt.Sprintf("Not run, and why (%d)", n), t.notRun())
	}
	d.add("Scenarios", t.scenarioList())
	return d
}

// scenarioList says which scenarios the columns are about.
func (t *Tally) scenarioList() entries {
	var all entries
	for i, r := range t.Rows {
		all = append(all, remarkOn(t.shortNames()[i], story.Visible(r.Scenario.Name)+changedMark(r.Scenario)+", "+story.Visible(r.Variant.Title)))
	}
	return all
}

// surprises lists the cells in which some run differs from what its scenario expects.
func (t *Tally) surprises(o Options) entries {
	var all entries
	for i, row := range t.Counts {
		for column, c := range row {
			if c.Unexpected.N > 0 {
				all = append(all, remarkOn(t.Rows[i].name()+" ("+story.Visible(t.Locks[column])+")", t.replayCommand(i, column, c.Unexpected.Seed, o)))
			}
		}
	}
	return all
}

// notRun says, for each lock that is not linked into this program, how many variants were
// not run.
func (t *Tally) notRun() entries {
	var all entries
	for column, lock := range t.Locks {
		why, n := "", 0
		for _, r := range t.Rows {
			if c := r.Cells[column]; c.NotRun != "" {
				why, n = c.NotRun, n+1
			}
		}
		if n > 0 {
			all = append(all, remarkOn(story.Visible(lock), story.Count(n, "variant")+": "+story.Visible(why)))
		}
	}
	return all
}

// writeTallyText writes the tally for a terminal.
func writeTallyText(w io.Writer, t *Tally, o Options) error {
	out := &text{Options: o}
	out.document(t.document(o))
	return out.writeTo(w)
}

// writeTallyMarkdown writes the tally in Markdown. Links to scenario files are relative to
// the directory in which locksim runs.
func writeTallyMarkdown(w io.Writer, t *Tally, o Options) error {
	md := &markdownText{level: 2}
	md.document(t.document(o.forPublication()))
	return md.writeTo(w)
}

// tallySchema identifies the JSON format of the tally. Later versions may add fields, but
// do not rename or remove one or change its meaning.
const tallySchema = "locksim/tally/v1"

// jsonTally is the tally as it is written in JSON.
type jsonTally struct {
	Schema string `json:"schema"`
	// Seed is the first seed. There are Seeds seeds; each is greater by one than the seed
	// before.
	Seed  uint64   `json:"seed"`
	Seeds int      `json:"seeds"`
	Locks []string `json:"locks"`
	// NotRun is the number of cells that were not run because their locks are not linked
	// into this program.
	NotRun int `json:"not_run"`
	// Summary contains facts about each lock that are derived from all scenarios.
	Summary []jsonTallyLock `json:"summary"`
	// Decisions are the locks that fit a need.
	Decisions []jsonDecision   `json:"decisions"`
	Rows      []jsonTallyStory `json:"stories"`
}

// jsonTallyLock is the summary of one lock.
type jsonTallyLock struct {
	Lock string `json:"lock"`
	// OwnTokens reports whether the lock issues a fencing token with each grant; null if
	// there was no grant.
	OwnTokens *bool `json:"own_tokens"`
	// MayLose is how many of its Servers the lock may lose and still work; null if no
	// scenario loses a server. Replay is a command that shows it.
	MayLose *int   `json:"may_lose"`
	Servers int    `json:"servers,omitempty"`
	Replay  string `json:"replay,omitempty"`
	// TwoHolders are the scenarios in which two leases overlap, and WrongData and
	// WrongDataFenced those in which the data is wrong without and with fencing tokens.
	TwoHolders      jsonDamage `json:"two_holders"`
	WrongData       jsonDamage `json:"wrong_data"`
	WrongDataFenced jsonDamage `json:"wrong_data_fenced"`
	// SurvivesOneServer says in words whether the lock still works when one of its servers
	// is down; "" if no scenario shows it. UsuallyRun says how many servers people run, if
	// they are more than are simulated.
	SurvivesOneServer string `json:"survives_one_server,omitempty"`
	UsuallyRun        string `json:"usually_run,omitempty"`
}

// jsonDamage has the scenarios in which something goes wrong with a lock on at least one seed. Of
// is the number of scenarios in which it is known whether something goes wrong. Unknown is the
// number of the other scenarios that were run.
type jsonDamage struct {
	Scenarios   []string `json:"scenarios"`
	Of          int      `json:"of"`
	Unknown     int      `json:"unknown,omitempty"`
	Assumptions []string `json:"assumptions"`
}

// json returns the damage in its form in JSON.
func (h damage) json() jsonDamage {
	return jsonDamage{append([]string{}, h.names()...), h.judged, h.unknown, append([]string{}, h.assumptions()...)}
}

// jsonDecision has the locks that fit if two clients at work at the same time do the harm
// in Need.
type jsonDecision struct {
	Need    string   `json:"need"`
	Because string   `json:"because"`
	Fit     []string `json:"fit"`
	Others  []string `json:"others"`
}

// jsonTallyStory is one variant of a scenario.
type jsonTallyStory struct {
	Scenario string `json:"scenario"`
	Variant  string `json:"variant"`
	Title    string `json:"title"`
	File     string `json:"file"`
	// Overrides are the values that differ from those of the scenario's file, each as
	// path=value.
	Overrides []string        `json:"overrides,omitempty"`
	Cells     []jsonTallyCell `json:"cells"`
}

// jsonTallyCell has the counts of a variant with one lock.
type jsonTallyCell struct {
	Lock string `json:"lock"`
	// Seeds is the number of seeds with which the variant was run. NotApplicable says why the
	// scenario does not apply to the lock, and NotRun why this program has not run it.
	Seeds         int    `json:"seeds"`
	NotApplicable string `json:"untold,omitempty"`
	NotRun        string `json:"not_run,omitempty"`
	// Replay is the command that runs the variant with the first seed.
	Replay string `json:"replay,omitempty"`
	// Grants counts the critical sections in the runs with fencing. OwnTokens counts those
	// whose token the lock issued.
	Grants    int             `json:"grants"`
	OwnTokens int             `json:"own_tokens"`
	Runs      []jsonTallyRuns `json:"runs"`
	// Figures are the figures of the runs without fencing.
	Figures []jsonSample `json:"figures"`
}

// jsonTallyRuns has the counts of the runs without fencing tokens, or of those with them.
type jsonTallyRuns struct {
	Fencing    string    `json:"fencing"`
	Unsafe     jsonTimes `json:"unsafe"`
	Undecided  jsonTimes `json:"undecided"`
	Properties ordered   `json:"properties"`
}

// jsonTimes says how often something happened, and out of how many times. Replay is a
// command that shows it, with the first seed with which it happened.
type jsonTimes struct {
	Times  int    `json:"times"`
	Of     int    `json:"of"`
	Replay string `json:"replay,omitempty"`
}

// jsonSample summarizes the values of a figure over the seeds.
type jsonSample struct {
	Measure string `json:"measure"`
	Figure  string `json:"figure"`
	// Unit is "ns" or "".
	Unit   string `json:"unit"`
	Seeds  int    `json:"seeds"`
	Least  int64  `json:"least"`
	Median int64  `json:"median"`
	P99    int64  `json:"p99"`
	Most   int64  `json:"most"`
}

// writeTallyJSON writes the tally as JSON.
func writeTallyJSON(w io.Writer, t *Tally, o Options) error {
	doc := jsonTally{Schema: tallySchema, Seed: t.Seed, Seeds: t.Seeds, Locks: append([]string{}, t.Locks...), NotRun: t.NotRun(), Summary: []jsonTallyLock{}, Decisions: []jsonDecision{}, Rows: []jsonTallyStory{}}
	for column, lock := range t.Locks {
		summary := jsonTallyLock{Lock: lock}
		if hasTokens, known := t.ownTokens(column); known {
			summary.OwnTokens = &hasTokens
		}
		if lost, total, row := t.maxLost(column); row >= 0 {
			summary.MayLose, summary.Servers, summary.Replay = &lost, total, t.replayCommand(row, column, t.Seed, o)
		}
		summary.TwoHolders, summary.WrongData, summary.WrongDataFenced = t.twoHolders(column).json(), t.wrongData(column, 0).json(), t.wrongData(column, 1).json()
		s := t.survival(column)
		if summary.UsuallyRun = s.usual; s.isTested || s.hasReplica {
			summary.SurvivesOneServer = s.span().Text
		}
		doc.Summary = append(doc.Summary, summary)
	}
	for _, d := range (tallyTables{t, noPage}).decisions() {
		doc.Decisions = append(doc.Decisions, jsonDecision{d.Need, d.Because, append([]string{}, d.Fit...), append([]string{}, d.Others...)})
	}
	for i, r := range t.Rows {
		row := jsonTallyStory{Scenario: r.Scenario.Name, Variant: r.Variant.Name, Title: r.Variant.Title, File: r.Scenario.File, Overrides: r.Scenario.Overrides, Cells: []jsonTallyCell{}}
		for column := range r.Cells {
			row.Cells = append(row.Cells, t.cellJSON(i, column, o))
		}
		doc.Rows = append(doc.Rows, row)
	}
	return encode(w, doc)
}

// cellJSON returns the counts of row i and a column in their form in JSON.
func (t *Tally) cellJSON(i, column int, o Options) jsonTallyCell {
	c := t.Counts[i][column]
	out := jsonTallyCell{
		Lock: t.Locks[column], Seeds: c.Seeds, NotApplicable: t.Rows[i].Cells[column].NotApplicable, NotRun: t.Rows[i].Cells[column].NotRun,
		Grants: c.Grants, OwnTokens: c.OwnTokens, Runs: []jsonTallyRuns{}, Figures: []jsonSample{},
	}
	if c.Seeds == 0 {
		return out
	}
	out.Replay = t.replayCommand(i, column, t.Seed, o)
	times := func(n times, of int) jsonTimes {
		j := jsonTimes{Times: n.N, Of: of}
		if n.N > 0 {
			j.Replay = t.replayCommand(i, column, n.Seed, o)
		}
		return j
	}
	for run, fencing := range []string{scenarios.Off, scenarios.On} {
		runs := jsonTallyRuns{Fencing: fencing, Unsafe: times(c.Unsafe[run], c.Seeds), Undecided: times(c.Undecided[run], c.Seeds), Properties: ordered{}}
		for _, p := range checks.Properties() {
			if p.Card().Subject == checks.SubjectMisconduct && c.Violated[p][run].N == 0 {
				continue
			}
			runs.Properties = append(runs.Properties, member{string(p), times(c.Violated[p][run], c.Judged[p][run].N)})
		}
		out.Runs = append(out.Runs, runs)
	}
	for _, s := range c.Figures {
		out.Figures = append(out.Figures, jsonSample{
			s.Measure, s.Figure, string(s.Unit), len(s.Values), s.Values[0], s.percentile(50), s.percentile(99), s.Values[len(s.Values)-1],
		})
	}
	return out
}
