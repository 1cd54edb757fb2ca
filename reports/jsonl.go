package reports

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/locksim/locksim/scenarios"
)

// runSchema identifies the format of a line in the JSON Lines report. Later versions may
// add fields, but do not rename or remove one or change its meaning.
const runSchema = "locksim/run/v1"

func init() {
	Runs.Register(Format[Results]{Name: "jsonl", Title: "programs: a line of JSON for each run, schema " + runSchema, Write: writeJSONLines})
}

// jsonLine is one run, with everything that a reader of this line alone needs.
type jsonLine struct {
	Schema   string `json:"schema"`
	Scenario string `json:"scenario"`
	Title    string `json:"title"`
	File     string `json:"file"`
	Seed     uint64 `json:"seed"`
	// Overrides are the values that differ from those of the scenario's file, each as
	// PATH=VALUE.
	Overrides []string `json:"overrides,omitempty"`
	// AsExpected is null if the scenario has no expectation for this run.
	AsExpected *bool  `json:"as_expected"`
	Replay     string `json:"replay"`
	jsonRun
}

// writeJSONLines writes a line of JSON for each run.
func writeJSONLines(w io.Writer, results []*scenarios.Result, o Options) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, r := range results {
		for _, run := range r.Runs {
			line := jsonLine{
				Schema: runSchema, Scenario: r.Scenario.Name, Title: r.Scenario.Title, File: r.Scenario.File,
				Seed: r.Seed, Overrides: r.Scenario.Overrides, Replay: replay(r, o), jsonRun: runJSON(run),
			}
			if run.Expected != nil {
				asExpected := standingOfRun(run) == AsExpected
				line.AsExpected = &asExpected
			}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	_, err := w.Write(visibleJSON(b.Bytes()))
	return err
}
