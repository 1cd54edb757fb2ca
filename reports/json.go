package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// reportSchema identifies the format of the JSON report. Later versions may add fields, but
// do not rename or remove one or change its meaning.
const reportSchema = "locksim/report/v1"

func init() {
	Runs.Register(Format[Results]{Name: "json", Title: "programs: one document, schema " + reportSchema, Write: writeJSON})
	Matrices.Register(Format[*Matrix]{Name: "json", Title: "programs: one document, schema " + matrixSchema, Write: writeMatrixJSON})
	Searches.Register(Format[*explore.Result]{Name: "json", Title: "programs, and a later search to be compared with: one document, schema " + exploreSchema, Write: writeExploredJSON})
	Tallies.Register(Format[*Tally]{Name: "json", Title: "programs: one document, schema " + tallySchema, Write: writeTallyJSON})
}

// jsonReport is the JSON report of runs.
type jsonReport struct {
	Schema  string       `json:"schema"`
	Results []jsonResult `json:"results"`
}

// jsonResult is the result of one scenario with one lock.
type jsonResult struct {
	Scenario string `json:"scenario"`
	Title    string `json:"title"`
	File     string `json:"file"`
	Seed     uint64 `json:"seed"`
	Lock     string `json:"lock"`
	// Overrides are the values that differ from those of the scenario's file, each as
	// PATH=VALUE.
	Overrides []string `json:"overrides,omitempty"`
	// AsExpected is null if the scenario has no expectation for this lock.
	AsExpected *bool     `json:"as_expected"`
	Replay     string    `json:"replay"`
	Runs       []jsonRun `json:"runs"`
}

// jsonRun is one run. Fencing is "off" or "on".
type jsonRun struct {
	Variant string `json:"variant"`
	Fencing string `json:"fencing"`
	Lock    string `json:"lock"`
	// OwnLock is the lock of the scenario, if the run was made with another one.
	OwnLock string `json:"own_lock,omitempty"`
	// Without are the features of the lock that are turned off. Servers are the settings of
	// its servers that differ from the defaults, each as NAME=VALUE.
	Without    []string      `json:"without,omitempty"`
	Servers    []string      `json:"servers,omitempty"`
	Verdict    string        `json:"verdict"`
	Reasons    []string      `json:"reasons,omitempty"`
	Properties ordered       `json:"properties"`
	Findings   []jsonFinding `json:"findings,omitempty"`
	Witnesses  ordered       `json:"witnesses"`
	// Differences say in what the run differs from what the scenario expects.
	Differences []string `json:"differences,omitempty"`
	// Measures has a member for each measure of the run.
	Measures  ordered        `json:"measures"`
	Faults    []jsonFault    `json:"faults,omitempty"`
	Torn      []jsonTorn     `json:"torn,omitempty"`
	Missed    []jsonMissed   `json:"missed,omitempty"`
	Repeated  []jsonRepeated `json:"repeated,omitempty"`
	RanOn     bool           `json:"ran_on_while_paused,omitempty"`
	Notes     []string       `json:"notes,omitempty"`
	TraceHash string         `json:"trace_hash"`
	VirtualMS int64          `json:"virtual_ms"`
	Events    int            `json:"events"`
}

// jsonFinding is the outcome of one property with its details. AtNS is the true time of the
// violation in nanoseconds.
type jsonFinding struct {
	Property checks.Property `json:"property"`
	Outcome  checks.Outcome  `json:"outcome"`
	Reason   string          `json:"reason,omitempty"`
	Fault    string          `json:"fault,omitempty"`
	AtNS     *int64          `json:"at_ns,omitempty"`
	Events   []int           `json:"events,omitempty"`
	Cycle    []string        `json:"cycle,omitempty"`
}

// jsonFault is a fault of a run. Assumption is the assumption that it breaks.
type jsonFault struct {
	Text       string `json:"text"`
	Assumption string `json:"assumption"`
	// Idle says why the fault did not act; "" if it acted.
	Idle string `json:"idle,omitempty"`
}

// jsonMissed is a period of the schedule in which no client ran the job.
type jsonMissed struct {
	Lock   string `json:"lock"`
	Period int    `json:"period"`
	Reason string `json:"reason"`
}

// jsonRepeated is a period of the schedule in which the job ran more than once.
type jsonRepeated struct {
	Lock     string `json:"lock"`
	Period   int    `json:"period"`
	Runs     int    `json:"runs"`
	WastedNS int64  `json:"wasted_ns"`
}

// jsonTorn is a critical section that a client left incomplete.
type jsonTorn struct {
	Client  string `json:"client"`
	Section int    `json:"section"`
	Reason  string `json:"reason"`
}

// writeJSON writes the results of runs as JSON.
func writeJSON(w io.Writer, results []*scenarios.Result, o Options) error {
	report := jsonReport{Schema: reportSchema, Results: []jsonResult{}}
	for _, r := range results {
		report.Results = append(report.Results, resultJSON(r, o))
	}
	return encode(w, report)
}

// resultJSON converts a result to its form in JSON.
func resultJSON(r *scenarios.Result, o Options) jsonResult {
	out := jsonResult{
		Scenario:   r.Scenario.Name,
		Title:      r.Scenario.Title,
		File:       r.Scenario.File,
		Seed:       r.Seed,
		Lock:       r.Lock,
		Overrides:  r.Scenario.Overrides,
		AsExpected: r.AsExpected,
		Replay:     replay(r, o),
	}
	for _, run := range r.Runs {
		out.Runs = append(out.Runs, runJSON(run))
	}
	return out
}

// runJSON converts a run to its form in JSON.
func runJSON(run scenarios.RunResult) jsonRun {
	t, v := run.History.Trace, run.Verdict
	out := jsonRun{
		Variant:     run.Variant.Name,
		Fencing:     run.Fencing,
		Lock:        run.Lock,
		Verdict:     v.Verdict,
		Reasons:     story.ForPrograms.Reasons(v.Reasons),
		Differences: story.ForPrograms.Reasons(run.Differences),
		RanOn:       v.RanOn,
		Notes:       run.History.Trace.Notes,
		TraceHash:   t.Hash(),
		VirtualMS:   int64(t.End() / time.Millisecond),
		Events:      run.History.EventCount(),
	}
	if out.OwnLock = run.Variant.Lock; out.OwnLock == out.Lock {
		out.OwnLock = ""
	}
	out.Without, out.Servers = nonDefaults(run)
	for _, f := range v.Findings {
		out.Properties = append(out.Properties, member{string(f.Property), f.Outcome})
		if f.Outcome == checks.Violated || !f.Reason.IsZero() {
			out.Findings = append(out.Findings, findingJSON(run, f))
		}
	}
	for _, w := range v.Witnesses {
		out.Witnesses = append(out.Witnesses, member{w.Text, w.Seen})
	}
	for _, m := range run.Measures {
		figures := ordered{}
		for _, f := range m.Figures {
			name := strings.ReplaceAll(f.Name, " ", "_")
			if f.Unit != checks.Count {
				name += "_" + string(f.Unit)
			}
			figures = append(figures, member{name, f.Value})
		}
		out.Measures = append(out.Measures, member{m.Name, figures})
	}
	for _, f := range t.Faults {
		out.Faults = append(out.Faults, jsonFault{Text: f.Text, Assumption: string(f.Assumption), Idle: f.IdleReason})
	}
	for _, m := range v.Missed {
		out.Missed = append(out.Missed, jsonMissed{m.Lock, m.Period, story.ForPrograms.Reason(m.Reason)})
	}
	for _, r := range v.Repeated {
		out.Repeated = append(out.Repeated, jsonRepeated{r.Lock, r.Period, r.Runs, int64(r.Wasted)})
	}
	for _, torn := range v.Torn {
		out.Torn = append(out.Torn, jsonTorn{Client: torn.Client, Section: torn.Section, Reason: story.ForPrograms.Reason(torn.Reason)})
	}
	return out
}

// findingJSON converts a finding to its form in JSON.
func findingJSON(run scenarios.RunResult, f checks.Finding) jsonFinding {
	out := jsonFinding{
		Property: f.Property, Outcome: f.Outcome, Reason: story.ForPrograms.Reason(f.Reason),
		Fault: f.Blame.String(), Events: f.Events, Cycle: story.ForPrograms.Reasons(f.Cycle),
	}
	if ev := run.History.Event(f.At); ev != nil && f.Outcome == checks.Violated {
		at := int64(ev.At)
		out.AtNS = &at
	}
	return out
}

// encode writes a JSON document. People read such documents too, so it writes unprintable
// characters as \u escapes. For programs the text stays the same.
func encode(w io.Writer, document any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document); err != nil {
		return err
	}
	_, err := w.Write(visibleJSON(b.Bytes()))
	return err
}

// visibleJSON escapes the unprintable characters of a JSON document. All of them are inside
// strings, except line breaks, which it leaves alone.
func visibleJSON(document []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(document) {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.Bytes()
}

// ordered is a JSON object whose members keep their order.
type ordered []member

// A member is a name in a JSON object, with its value.
type member struct {
	name  string
	value any
}

// MarshalJSON writes the object. Of several members with one name it writes the first.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	written := map[string]bool{}
	for _, m := range o {
		if written[m.name] {
			continue
		}
		if len(written) > 0 {
			b.WriteByte(',')
		}
		written[m.name] = true
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
