package reports

import (
	"io"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// traceSchema identifies the format of saved traces. Fields may be added; no field is
// renamed, removed or given another meaning.
const traceSchema = "locksim/trace/v1"

func init() {
	Runs.Register(Format[Results]{Name: "trace", Title: "locksim report, which draws and checks it again: the scenario and everything that happened, schema " + traceSchema, Write: writeTraces})
}

type jsonTraces struct {
	Schema  string            `json:"schema"`
	Results []jsonTraceResult `json:"results"`
}

// jsonTraceResult is the report on a scenario as it was written, with everything needed to
// write it again.
type jsonTraceResult struct {
	jsonResult
	// Argument is the name of the scenario on the command line, if it was not its file.
	Argument string `json:"argument,omitempty"`
	// Text is the scenario file; "" if the trace was saved without it.
	Text string         `json:"text,omitempty"`
	Runs []jsonTraceRun `json:"runs"` // replaces the runs of jsonResult
}

type jsonTraceRun struct {
	jsonRun
	Trace *trace.Trace `json:"trace"`
}

func writeTraces(w io.Writer, results []*scenarios.Result, o Options) error {
	doc := jsonTraces{Schema: traceSchema, Results: []jsonTraceResult{}}
	for _, r := range results {
		out := jsonTraceResult{jsonResult: resultJSON(r, o), Argument: o.Arguments[r.Scenario], Text: r.Scenario.Text}
		for i, run := range r.Runs {
			out.Runs = append(out.Runs, jsonTraceRun{out.jsonResult.Runs[i], run.History.Trace})
		}
		doc.Results = append(doc.Results, out)
	}
	return encode(w, doc)
}
