package reports

import (
	"io"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// traceSchema identifies the format of saved traces. Later versions may add fields, but do
// not rename or remove one or change its meaning.
const traceSchema = "locksim/trace/v1"

func init() {
	Runs.Register(Format[Results]{Name: "trace", Title: "locksim report, which draws and checks it again: the scenario and everything that happened, schema " + traceSchema, Write: writeTraces})
}

// jsonTraces is a document of saved traces.
type jsonTraces struct {
	Schema  string            `json:"schema"`
	Results []jsonTraceResult `json:"results"`
}

// jsonTraceResult is the result of one scenario, with everything that is needed to report
// it again.
type jsonTraceResult struct {
	jsonResult
	// Argument is the name that the command line used for the scenario; "" if it used the
	// file.
	Argument string `json:"argument,omitempty"`
	// Text is the text of the scenario file; "" if the trace was saved without it.
	Text string         `json:"text,omitempty"`
	Runs []jsonTraceRun `json:"runs"` // these replace the runs of jsonResult
}

// jsonTraceRun is one run with its trace.
type jsonTraceRun struct {
	jsonRun
	Trace *trace.Trace `json:"trace"`
}

// writeTraces writes results with the traces of all runs.
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
