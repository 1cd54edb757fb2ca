package reports

import (
	"fmt"
	"io"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

const tallyTitle = "Locks side by side"

// document is the tally with what explains it.
func (t *Tally) document(o Options) *document {
	d := &document{title: tallyTitle}
	d.add("", t.legend(o))
	for _, one := range (tallyTables{t, noWayIn}).all() {
		d.add(one.Title, paragraph(one.About), one.Table)
	}
	d.add("Neither always nor never, and the command that shows it", t.unusual(o))
	d.add("Not as its scenario expects", t.surprises(o))
	if n := t.NotRun(); n > 0 {
		d.add(fmt.Sprintf("Not run, and why (%d)", n), t.notRun())
	}
	d.add("Stories", t.stories())
	return d
}

// stories are what the columns are about.
func (t *Tally) stories() entries {
	var all entries
	for i, r := range t.Rows {
		all = append(all, remarkOn(t.shortNames()[i], story.Visible(r.Scenario.Name)+", "+story.Visible(r.Variant.Title)))
	}
	return all
}

// surprises are the cells in which some run differs from what its scenario expects.
func (t *Tally) surprises(o Options) entries {
	var all entries
	for i, row := range t.Counts {
		for column, c := range row {
			if c.Unexpected.N > 0 {
				all = append(all, remarkOn(t.Rows[i].name()+" ("+story.Visible(t.Locks[column])+")", t.shows(i, column, c.Unexpected.Seed, o)))
			}
		}
	}
	return all
}

// notRun says of each lock that this program is without how many stories are not told.
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

func writeTallyText(w io.Writer, t *Tally, o Options) error {
	out := &text{Options: o}
	out.document(t.document(o))
	return out.writeTo(w)
}

// writeTallyMarkdown links every story to its file, as seen from the directory in which
// locksim runs.
func writeTallyMarkdown(w io.Writer, t *Tally, o Options) error {
	md := &markdownText{level: 2}
	md.document(t.document(o.forOthers()))
	return md.writeTo(w)
}

// tallySchema names the shape of the tally in JSON. Fields may be added to it; none is
// renamed, removed or given another meaning.
const tallySchema = "locksim/tally/v1"

type jsonTally struct {
	Schema string `json:"schema"`
	// Seed is the first one; there are Seeds of them, each one more than the last.
	Seed  uint64   `json:"seed"`
	Seeds int      `json:"seeds"`
	Locks []string `json:"locks"`
	// NotRun counts the cells that this program has not run, being without their locks.
	NotRun int `json:"not_run"`
	// Summary has what is said of each lock by all stories together.
	Summary []jsonTallyLock  `json:"summary"`
	Rows    []jsonTallyStory `json:"stories"`
}

type jsonTallyLock struct {
	Lock string `json:"lock"`
	// OwnTokens is that a fencing token comes with each grant; null is that there was none.
	OwnTokens *bool `json:"own_tokens"`
	// MayLose is how many of its Servers it may lose and go on, which Replay shows; null is
	// that no story lost one.
	MayLose *int   `json:"may_lose"`
	Servers int    `json:"servers,omitempty"`
	Replay  string `json:"replay,omitempty"`
}

type jsonTallyStory struct {
	Scenario string          `json:"scenario"`
	Variant  string          `json:"variant"`
	Title    string          `json:"title"`
	File     string          `json:"file"`
	Cells    []jsonTallyCell `json:"cells"`
}

type jsonTallyCell struct {
	Lock string `json:"lock"`
	// Seeds is on how many seeds the story was told; Untold says why it cannot be told, and
	// NotRun why this program has not run it.
	Seeds  int    `json:"seeds"`
	Untold string `json:"untold,omitempty"`
	NotRun string `json:"not_run,omitempty"`
	// Replay runs it on the first seed.
	Replay string `json:"replay,omitempty"`
	// Grants are the sections in the runs with fencing, OwnTokens those whose token came
	// with the lock.
	Grants    int             `json:"grants"`
	OwnTokens int             `json:"own_tokens"`
	Runs      []jsonTallyRuns `json:"runs"`
	// Figures are those of the runs without fencing.
	Figures []jsonSample `json:"figures"`
}

// jsonTallyRuns are the runs without fencing tokens, or with them.
type jsonTallyRuns struct {
	Fencing    string    `json:"fencing"`
	Unsafe     jsonTimes `json:"unsafe"`
	Undecided  jsonTimes `json:"undecided"`
	Properties ordered   `json:"properties"`
}

// jsonTimes is how often something was so, of how often it could have been, and the
// command that shows it first.
type jsonTimes struct {
	Times  int    `json:"times"`
	Of     int    `json:"of"`
	Replay string `json:"replay,omitempty"`
}

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

func writeTallyJSON(w io.Writer, t *Tally, o Options) error {
	doc := jsonTally{Schema: tallySchema, Seed: t.Seed, Seeds: t.Seeds, Locks: append([]string{}, t.Locks...), NotRun: t.NotRun(), Summary: []jsonTallyLock{}, Rows: []jsonTallyStory{}}
	for column, lock := range t.Locks {
		one := jsonTallyLock{Lock: lock}
		if comes, known := t.ownTokens(column); known {
			one.OwnTokens = &comes
		}
		if lost, of, row := t.mayLose(column); row >= 0 {
			one.MayLose, one.Servers, one.Replay = &lost, of, t.shows(row, column, t.Seed, o)
		}
		doc.Summary = append(doc.Summary, one)
	}
	for i, r := range t.Rows {
		row := jsonTallyStory{Scenario: r.Scenario.Name, Variant: r.Variant.Name, Title: r.Variant.Title, File: r.Scenario.File, Cells: []jsonTallyCell{}}
		for column := range r.Cells {
			row.Cells = append(row.Cells, t.cellJSON(i, column, o))
		}
		doc.Rows = append(doc.Rows, row)
	}
	return encode(w, doc)
}

func (t *Tally) cellJSON(i, column int, o Options) jsonTallyCell {
	c := t.Counts[i][column]
	out := jsonTallyCell{
		Lock: t.Locks[column], Seeds: c.Seeds, Untold: t.Rows[i].Cells[column].Untold, NotRun: t.Rows[i].Cells[column].NotRun,
		Grants: c.Grants, OwnTokens: c.OwnTokens, Runs: []jsonTallyRuns{}, Figures: []jsonSample{},
	}
	if c.Seeds == 0 {
		return out
	}
	out.Replay = t.shows(i, column, t.Seed, o)
	times := func(n Times, of int) jsonTimes {
		j := jsonTimes{Times: n.N, Of: of}
		if n.N > 0 {
			j.Replay = t.shows(i, column, n.Seed, o)
		}
		return j
	}
	for run, fencing := range []string{scenarios.Off, scenarios.On} {
		runs := jsonTallyRuns{Fencing: fencing, Unsafe: times(c.Unsafe[run], c.Seeds), Undecided: times(c.Undecided[run], c.Seeds), Properties: ordered{}}
		for _, p := range checks.Properties() {
			if p.Card().Of == checks.OfMisconduct && c.Violated[p][run].N == 0 {
				continue
			}
			runs.Properties = append(runs.Properties, member{string(p), times(c.Violated[p][run], c.Judged[p][run].N)})
		}
		out.Runs = append(out.Runs, runs)
	}
	for _, s := range c.Figures {
		out.Figures = append(out.Figures, jsonSample{
			s.Measure, s.Figure, string(s.Unit), len(s.Values), s.Values[0], s.Percentile(50), s.Percentile(99), s.Values[len(s.Values)-1],
		})
	}
	return out
}
