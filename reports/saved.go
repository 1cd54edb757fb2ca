package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// MaxSaved is the maximum size of a document of saved traces in bytes. All scenarios of the
// catalogue together take about a fifth of it.
const MaxSaved = 256 << 20

// Saved is the content of a document of saved traces, judged by the checks of this version.
type Saved struct {
	Results []*scenarios.Result
	// Arguments and Traces are for the fields of [Options] with these names.
	Arguments, Traces map[*scenarios.Scenario]string
	// Notes are sentences about differences between a saved run and the same run judged
	// now. The hash of the trace, the verdict, the outcome of a property, or the time or
	// the blame of a violation may differ. A note also says if the scenario's text can no
	// longer be parsed.
	Notes []string
}

// ReadTraces reads a document in the format trace, and judges its runs with the checks of
// this version. name is the name of the document, such as its file.
//
// It also reads a single trace in JSON, which any program that runs a world can write. Such
// a trace has no scenario, so nothing is expected of it.
//
// The verdict of a run that may have been changed is unknown. This is so if the hash of its
// events differs from the saved hash. It is also so if the scenario's text cannot be
// parsed, because then the witnesses, which are the preconditions of a verdict, are
// unknown. To change a trace on purpose, save the trace alone. The hash covers only the
// events. ReadTraces therefore trusts the document about the locks, processes and faults of
// a run, and about the scenario's text. But it refuses a text with another name or title.
//
// An error says where the document is wrong. Unknown fields are ignored.
func ReadTraces(data []byte, name string) (*Saved, error) {
	if err := countObjects(data, maxObjects); err != nil {
		return nil, fmt.Errorf("%w; save fewer scenarios in one file", err)
	}
	kind, err := documentKind(data)
	if err != nil {
		return nil, err
	}
	saved := &Saved{Arguments: map[*scenarios.Scenario]string{}, Traces: map[*scenarios.Scenario]string{}}
	if kind == "" {
		r, err := readBareTrace(data, name)
		if err != nil {
			return nil, err
		}
		return saved, saved.add(r, name)
	}
	var doc savedTraces
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, decodeError(data, err)
	}
	for i, r := range doc.Results {
		if err := saved.add(r, name); err != nil {
			return nil, fmt.Errorf("results[%d]: %w", i, err)
		}
	}
	if len(doc.Results) == 0 {
		return nil, errors.New("it contains no results")
	}
	return saved, nil
}

// documentKind returns the schema of a document of saved traces, or "" for a single trace.
// It returns an error for any other document.
func documentKind(data []byte) (schema string, err error) {
	const remedy = "make one with locksim run --format trace -o FILE"
	if len(bytes.TrimSpace(data)) == 0 {
		return "", errors.New("it is empty; " + remedy)
	}
	var doc struct {
		Schema *string
		Events json.RawMessage
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return "", decodeError(data, err)
	}
	switch {
	case doc.Schema == nil && doc.Events != nil:
		return "", nil
	case doc.Schema == nil:
		return "", errors.New("it is not a saved trace: it has no schema; " + remedy)
	case *doc.Schema == traceSchema:
		return traceSchema, nil
	case *doc.Schema == reportSchema:
		return "", errors.New("it is a report, which contains no trace; " + remedy)
	case strings.HasPrefix(*doc.Schema, strings.TrimSuffix(traceSchema, "1")):
		return "", fmt.Errorf("its schema is %q, but this version of locksim reads %q; a later version has written it", *doc.Schema, traceSchema)
	}
	return "", fmt.Errorf("it is not a saved trace: its schema is %q and not %q; %s", *doc.Schema, traceSchema, remedy)
}

// decodeError says in which line a document is not JSON, or has a value of the wrong type.
func decodeError(data []byte, err error) error {
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	line := func(offset int64) int { return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n")) }
	switch {
	case errors.As(err, &syntax) && int(syntax.Offset) >= len(data):
		return fmt.Errorf("line %d: the document ends too early (%w); is the file complete?", line(syntax.Offset), err)
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: not valid JSON: %w", line(syntax.Offset), err)
	case errors.As(err, &shape):
		return fmt.Errorf("line %d: %s has a value of the wrong type: %s", line(shape.Offset), cmp.Or(shape.Field, "the document"), shape.Value)
	}
	return err
}

// savedTraces is a document in the format trace, with the fields that are read.
type savedTraces struct {
	Results []savedResult `json:"results"`
}

// savedResult has the fields of a jsonTraceResult that are read.
type savedResult struct {
	Scenario  string     `json:"scenario"`
	Title     string     `json:"title"`
	File      string     `json:"file"`
	Argument  string     `json:"argument"`
	Text      string     `json:"text"`
	Seed      uint64     `json:"seed"`
	Lock      string     `json:"lock"`
	Overrides []string   `json:"overrides"`
	Runs      []savedRun `json:"runs"`
}

// savedRun has the fields of a jsonTraceRun that are read: the trace, and what the checks
// found when it was saved.
type savedRun struct {
	Variant    string                             `json:"variant"`
	Fencing    string                             `json:"fencing"`
	Lock       string                             `json:"lock"`
	Verdict    string                             `json:"verdict"`
	Properties map[checks.Property]checks.Outcome `json:"properties"`
	Findings   []jsonFinding                      `json:"findings"`
	Hash       string                             `json:"trace_hash"`
	Trace      *trace.Trace                       `json:"trace"`
}

// add judges the runs of one scenario and adds the result. name is the name of the
// document.
func (s *Saved) add(r savedResult, name string) error {
	if err := r.check(); err != nil {
		return err
	}
	scenario, doubt := r.scenario()
	switch {
	case scenario.Name != r.Scenario:
		return fmt.Errorf("the runs belong to the scenario %q, but the file %q is another scenario", r.Scenario, r.File)
	case scenario.Title != r.Title:
		return fmt.Errorf("the text belongs to another scenario: its title is %q, but the title of the runs is %q", scenario.Title, r.Title)
	}
	if len(scenario.Variants) == 0 {
		r.nameVariants(scenario)
		s.Traces[scenario] = name
	} else if r.Argument != "" {
		s.Arguments[scenario] = r.Argument
	}
	var runs []scenarios.RunResult
	var variants []*scenarios.Variant
	for _, v := range scenario.Variants {
		for _, fencing := range []string{scenarios.Off, scenarios.On} {
			i := r.index(v.Name, fencing)
			if i < 0 {
				continue
			}
			if !slices.Contains(variants, v) {
				variants = append(variants, v)
			}
			runs = append(runs, s.judge(r.Runs[i], v, doubt))
		}
	}
	if len(runs) < len(r.Runs) {
		i := slices.IndexFunc(r.Runs, func(run savedRun) bool {
			return !slices.ContainsFunc(scenario.Variants, func(v *scenarios.Variant) bool { return v.Name == run.Variant })
		})
		return fmt.Errorf("runs[%d]: the scenario has no variant %q", i, r.Runs[i].Variant)
	}
	scenario.Variants = variants
	s.Results = append(s.Results, scenarios.NewResult(scenario, r.Lock, r.Seed, runs))
	return nil
}

// check returns an error if some run cannot be reported or occurs twice. It also does so if
// the variants do not all have the same runs (without fencing, with fencing, or both),
// because reports show them side by side.
func (r savedResult) check() error {
	for i, run := range r.Runs {
		if err := run.check(r.Seed); err != nil {
			return fmt.Errorf("runs[%d]: %w", i, err)
		}
		if r.Text != "" && run.Trace.Name != r.Scenario { // the name of a single trace is derived from its file
			return fmt.Errorf("runs[%d]: its trace is of another scenario: %q, and not %q", i, run.Trace.Name, r.Scenario)
		}
		if first := r.index(run.Variant, run.Fencing); first != i {
			return fmt.Errorf("runs[%d]: it is the same run as runs[%d]", i, first)
		}
	}
	for i, run := range r.Runs {
		other := scenarios.Off
		if run.Fencing == scenarios.Off {
			other = scenarios.On
		}
		isOther := func(o savedRun) bool { return o.Fencing == other }
		if slices.ContainsFunc(r.Runs, isOther) && r.index(run.Variant, other) < 0 {
			return fmt.Errorf("runs[%d]: the variant %q has no run with fencing %s, but other variants have one", i, run.Variant, other)
		}
	}
	if len(r.Runs) == 0 {
		return errors.New("it has no runs")
	}
	return nil
}

// check returns an error if the run cannot be reported.
func (run savedRun) check(seed uint64) error {
	t := run.Trace
	switch {
	case t == nil:
		return errors.New("it has no trace")
	case run.Fencing != scenarios.Off && run.Fencing != scenarios.On:
		return fmt.Errorf("its fencing is %q and neither off nor on", run.Fencing)
	case t.Variant != run.Variant || t.Seed != seed || fencingOf(t) != run.Fencing:
		return fmt.Errorf("its trace is of another run: variant %q, seed %d, fencing %s", t.Variant, t.Seed, fencingOf(t))
	}
	if err := t.Validate(); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}

// fencingOf returns which of the two runs of a variant has this trace: scenarios.Off or
// scenarios.On.
func fencingOf(t *trace.Trace) string {
	if t.Fencing == "" || t.Fencing == string(storage.None) {
		return scenarios.Off
	}
	return scenarios.On
}

// index returns the index of the run with the given variant and fencing, or -1 if there is
// none.
func (r savedResult) index(variant, fencing string) int {
	return slices.IndexFunc(r.Runs, func(run savedRun) bool { return run.Variant == variant && run.Fencing == fencing })
}

// scenario returns the scenario of the runs. If its text was not saved, or this version
// cannot parse it, the scenario has its name and title but no variants. If the text cannot
// be parsed, doubt says why.
func (r savedResult) scenario() (s *scenarios.Scenario, doubt string) {
	names := &scenarios.Scenario{Name: r.Scenario, File: r.File, Text: r.Text, Title: r.Title}
	if r.Text == "" {
		return names, ""
	}
	s, err := scenarios.Parse(cmp.Or(r.File, r.Scenario+".yaml"), []byte(r.Text))
	if err == nil {
		s, err = s.With(r.Overrides...)
	}
	if err != nil {
		if all := (scenarios.Errors)(nil); errors.As(err, &all) {
			err = all[0]
		}
		return names, "this version cannot read the saved scenario, so its witnesses are unknown, and no verdict is possible: " + err.Error()
	}
	return s, ""
}

// nameVariants adds the variants that the runs name to a scenario without a known text.
// They have no expectations.
func (r savedResult) nameVariants(s *scenarios.Scenario) {
	for _, run := range r.Runs {
		if !slices.ContainsFunc(s.Variants, func(v *scenarios.Variant) bool { return v.Name == run.Variant }) {
			s.Variants = append(s.Variants, &scenarios.Variant{Scenario: s.Name, Name: run.Variant, Title: s.Title, Lock: run.Lock})
		}
	}
}

// judge checks a run again, and adds a note for everything that differs from what was
// saved. If doubt is not "", it is the reason why no verdict is possible.
func (s *Saved) judge(run savedRun, v *scenarios.Variant, doubt string) scenarios.RunResult {
	t := run.Trace
	if hash := t.Hash(); doubt == "" && hash != run.Hash {
		doubt = fmt.Sprintf("these are not the saved events: their hash is %q, but the saved hash is %q; the file was changed, or another version of locksim has written it (the hash covers only the events of the trace)", hash, run.Hash)
	}
	if doubt != "" && !slices.Contains(t.Doubts, doubt) {
		t.Doubts = append(t.Doubts, doubt)
	}
	out := v.Judge(t, run.Lock, run.Fencing)
	runLabel := story.Visible(v.Scenario)
	if v.Name != "" {
		runLabel += ", " + story.Visible(v.Name)
	}
	note := func(format string, args ...any) {
		s.Notes = append(s.Notes, runLabel+", "+fencingNames[run.Fencing]+": "+story.Visible(fmt.Sprintf(format, args...)))
	}
	if doubt != "" {
		note("%s", doubt)
		return out // everything else that differs may have the same cause
	}
	if current := out.Verdict.Verdict; run.Verdict != "" && run.Verdict != current {
		note("checked again: the verdict was %s when saved, is %s now", run.Verdict, current)
	}
	for _, f := range out.Verdict.Findings {
		if saved, known := run.Properties[f.Property]; known && saved != f.Outcome {
			note("checked again: %s was %s when saved, is %s now", f.Property, saved, f.Outcome)
			continue
		}
		saved, current := run.violation(f.Property), findingJSON(out, f)
		if saved == nil || current.AtNS == nil {
			continue
		}
		if *saved.AtNS != *current.AtNS {
			note("checked again: %s was violated at %v when saved, is violated at %v now", f.Property, time.Duration(*saved.AtNS), time.Duration(*current.AtNS))
		}
		if saved.Fault != current.Fault {
			note("checked again: the blame for the violation of %s was %s when saved, is %s now",
				f.Property, cmp.Or(saved.Fault, "unknown"), cmp.Or(current.Fault, "unknown"))
		}
	}
	return out
}

// violation returns the saved finding on a violated property. It returns nil if the
// property was not violated, or if the document lacks the time.
func (run savedRun) violation(p checks.Property) *jsonFinding {
	i := slices.IndexFunc(run.Findings, func(f jsonFinding) bool {
		return f.Property == p && f.Outcome == checks.Violated && f.AtNS != nil
	})
	if i < 0 {
		return nil
	}
	return &run.Findings[i]
}

// readBareTrace returns a single trace as a result without a scenario.
func readBareTrace(data []byte, name string) (savedResult, error) {
	t := &trace.Trace{}
	if err := json.Unmarshal(data, t); err != nil {
		return savedResult{}, decodeError(data, err)
	}
	if err := t.Validate(); err != nil {
		return savedResult{}, err
	}
	lock := "" // a world may have no lock
	if len(t.Locks) > 0 {
		lock = t.Locks[0].Kind
	}
	base := filepath.Base(name)
	run := savedRun{Variant: t.Variant, Fencing: fencingOf(t), Lock: lock, Hash: t.Hash(), Trace: t}
	return savedResult{
		Scenario: strings.TrimSuffix(base, filepath.Ext(base)), Title: t.Name, File: name,
		Seed: t.Seed, Lock: lock, Runs: []savedRun{run},
	}, nil
}
