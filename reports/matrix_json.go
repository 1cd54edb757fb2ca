package reports

import (
	"io"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// matrixSchema identifies the JSON format of the matrix. Later versions may add fields, but
// do not rename or remove one or change its meaning.
const matrixSchema = "locksim/matrix/v1"

// jsonMatrix is the matrix as it is written in JSON.
type jsonMatrix struct {
	Schema string `json:"schema"`
	Seed   uint64 `json:"seed"`
	// Locks are the locks that the user asked for; empty if each scenario runs with its own
	// lock.
	Locks []string `json:"locks"`
	// NotRun is the number of cells that were not run because their locks are not linked
	// into this program.
	NotRun int       `json:"not_run"`
	Rows   []jsonRow `json:"rows"`
}

// jsonRow is one variant of a scenario.
type jsonRow struct {
	Scenario   string `json:"scenario"`
	Variant    string `json:"variant"`
	Group      string `json:"group"`
	Title      string `json:"title"`
	File       string `json:"file"`
	Assumption string `json:"assumption"`
	Why        string `json:"why"`
	// Overrides are the values that differ from those of the scenario's file, each as
	// path=value.
	Overrides []string   `json:"overrides,omitempty"`
	Cells     []jsonCell `json:"cells"`
}

// jsonCell is the result of a variant with one lock.
type jsonCell struct {
	Lock string `json:"lock"`
	// Own reports whether this is the lock that the scenario itself names.
	Own bool `json:"own"`
	// AsExpected is null if the scenario has no expectation for this lock.
	AsExpected *bool `json:"as_expected"`
	// NotApplicable says why the scenario does not apply to this lock. NotRun says why this
	// program has not run it. In both cases there are no runs.
	NotApplicable string          `json:"untold,omitempty"`
	NotRun        string          `json:"not_run,omitempty"`
	Runs          []jsonMatrixRun `json:"runs"`
}

// jsonMatrixRun is one run. Fencing is "off" or "on".
type jsonMatrixRun struct {
	Fencing     string   `json:"fencing"`
	Verdict     string   `json:"verdict"`
	Reasons     []string `json:"reasons,omitempty"`
	Properties  ordered  `json:"properties"`
	Differences []string `json:"differences,omitempty"`
	TraceHash   string   `json:"trace_hash"`
}

// writeMatrixJSON writes the matrix as JSON.
func writeMatrixJSON(w io.Writer, m *Matrix, _ Options) error {
	doc := jsonMatrix{Schema: matrixSchema, Seed: m.Seed, Locks: append([]string{}, m.Locks...), NotRun: m.NotRun(), Rows: []jsonRow{}}
	for _, r := range m.inOrder() {
		row := jsonRow{
			Scenario: r.Scenario.Name, Variant: r.Variant.Name, Group: r.Scenario.Group, Title: r.Variant.Title,
			File: r.Scenario.File, Assumption: r.assumption(), Overrides: r.Scenario.Overrides, Why: textwrap.OneLine(r.Variant.Why),
		}
		for _, c := range r.Cells {
			row.Cells = append(row.Cells, cellJSON(r, c))
		}
		doc.Rows = append(doc.Rows, row)
	}
	return encode(w, doc)
}

// cellJSON converts a cell to its form in JSON.
func cellJSON(r Row, c Cell) jsonCell {
	out := jsonCell{Lock: c.Lock, Own: c.Lock == r.Variant.Lock, NotApplicable: c.NotApplicable, NotRun: c.NotRun, Runs: []jsonMatrixRun{}}
	known, asExpected := c.hasRuns(), true
	for _, run := range c.Runs {
		known = known && run.Expected != nil
		asExpected = asExpected && len(run.Differences) == 0
		properties := ordered{}
		for _, f := range run.Verdict.Findings {
			properties = append(properties, member{string(f.Property), f.Outcome})
		}
		out.Runs = append(out.Runs, jsonMatrixRun{
			Fencing: run.Fencing, Verdict: run.Verdict.Verdict, Reasons: story.ForPrograms.Reasons(run.Verdict.Reasons),
			Properties: properties, Differences: story.ForPrograms.Reasons(run.Differences), TraceHash: run.History.Trace.Hash(),
		})
	}
	if known || !asExpected {
		out.AsExpected = &asExpected
	}
	return out
}
