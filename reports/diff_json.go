package reports

import (
	"io"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/rundiff"
	"github.com/locksim/locksim/internal/story"
)

const diffSchema = "locksim/diff/v1"

// A jsonDiff is a comparison of two runs in JSON.
type jsonDiff struct {
	Schema string       `json:"schema"`
	Left   jsonDiffSide `json:"left"`
	Right  jsonDiffSide `json:"right"`
	// Settings are those that differ.
	Settings []jsonDiffSetting `json:"settings"`
	// CommonEvents and CommonSteps count the equal events and steps at the beginning. The
	// last of these steps ends at CommonUntilNS. IsEqual says that all events are equal.
	CommonEvents  int   `json:"common_events"`
	CommonSteps   int   `json:"common_steps"`
	CommonUntilNS int64 `json:"common_until_ns"`
	IsEqual       bool  `json:"equal"`
	// Rows are the steps after the common ones. OmittedLeft and OmittedRight count the steps
	// that are left out at the end.
	Rows         []jsonDiffRow `json:"rows"`
	OmittedLeft  int           `json:"omitted_left,omitempty"`
	OmittedRight int           `json:"omitted_right,omitempty"`
	// Properties are those whose outcomes differ.
	Properties []jsonDiffProperty `json:"properties"`
}

// A jsonDiffSide is one of the two runs.
type jsonDiffSide struct {
	// Label names the side by what differs. Trace is the file of its saved trace.
	Label     string   `json:"label"`
	Trace     string   `json:"trace,omitempty"`
	Scenario  string   `json:"scenario"`
	Variant   string   `json:"variant"`
	Lock      string   `json:"lock"`
	Seed      uint64   `json:"seed"`
	Fencing   string   `json:"fencing"`
	Overrides []string `json:"overrides,omitempty"`
	Verdict   string   `json:"verdict"`
	Events    int      `json:"events"`
	TraceHash string   `json:"trace_hash"`
	Replay    string   `json:"replay"`
}

// A jsonDiffSetting is a setting that differs. A side without it has "".
type jsonDiffSetting struct {
	Name  string `json:"name"`
	Left  string `json:"left"`
	Right string `json:"right"`
}

// A jsonDiffRow has steps that correspond to each other. One of them is null if only one run
// has the step. Same says that both have it, with the same text.
type jsonDiffRow struct {
	Left  *jsonDiffStep `json:"left"`
	Right *jsonDiffStep `json:"right"`
	Same  bool          `json:"same"`
}

// A jsonDiffStep is a step. First and Last are its first and its last event. They are missing
// if no event shows the step, such as the end of a lease.
type jsonDiffStep struct {
	AtNS  int64  `json:"at_ns"`
	Text  string `json:"text"`
	First int    `json:"first,omitempty"`
	Last  int    `json:"last,omitempty"`
}

// A jsonDiffProperty is a property with its outcomes.
type jsonDiffProperty struct {
	Property checks.Property `json:"property"`
	Left     checks.Outcome  `json:"left"`
	Right    checks.Outcome  `json:"right"`
}

func writeDiffJSON(w io.Writer, diff *rundiff.Diff, o Options) error {
	d := newDiffReport(diff, o)
	out := jsonDiff{
		Schema: diffSchema, Left: d.sideJSON(0, d.Left), Right: d.sideJSON(1, d.Right),
		Settings: []jsonDiffSetting{}, Rows: []jsonDiffRow{}, Properties: []jsonDiffProperty{},
		CommonEvents: d.steps.events, CommonSteps: len(d.steps.common), IsEqual: d.steps.allEvents,
		OmittedLeft: d.steps.omitted[0], OmittedRight: d.steps.omitted[1],
	}
	if n := len(d.steps.common); n > 0 {
		out.CommonUntilNS = int64(d.steps.common[n-1].End())
	}
	for _, s := range d.settings() {
		if s.differs() {
			out.Settings = append(out.Settings, jsonDiffSetting{s.name, s.values[0], s.values[1]})
		}
	}
	for _, r := range d.steps.rows {
		out.Rows = append(out.Rows, jsonDiffRow{stepJSON(r.Left), stepJSON(r.Right), r.IsSame()})
	}
	for _, p := range d.differingProperties() {
		out.Properties = append(out.Properties, jsonDiffProperty{p, d.Left.Run().Verdict.Finding(p).Outcome, d.Right.Run().Verdict.Finding(p).Outcome})
	}
	return encode(w, out)
}

// sideJSON converts a side to its form in JSON.
func (d diffReport) sideJSON(i int, s rundiff.Side) jsonDiffSide {
	run := s.Run()
	return jsonDiffSide{
		Label: d.labels[i], Trace: s.File, Scenario: s.Scenario.Name, Variant: run.Variant.Name, Lock: run.Lock, Seed: s.Seed, Fencing: run.Fencing,
		Overrides: s.Scenario.Overrides, Verdict: run.Verdict.Verdict, Events: run.History.EventCount(), TraceHash: run.History.Trace.Hash(),
		Replay: d.command(s),
	}
}

// stepJSON converts a step to its form in JSON; nil stays nil.
func stepJSON(c *story.Clause) *jsonDiffStep {
	if c == nil {
		return nil
	}
	return &jsonDiffStep{int64(c.At), stepText(c), c.First, c.Last}
}
