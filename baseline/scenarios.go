package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// The runs of all scenarios that are built in: of each variant, without fencing tokens
// and with them, with its own lock and each that the file expects something of.

// The facts of a run, the gravest first.
const (
	// factVerdict and factViolated are in clear: what the run comes to, and which
	// properties are violated.
	factVerdict  = "verdict"
	factViolated = "violated"
	// factJudged digests the judgement: each property with its outcome, whose fault it
	// is and when it broke, the witnesses, which faults acted, which sections are torn.
	factJudged = "judged"
	// factMeasures digests the measures.
	factMeasures = "measures"
	// factTrace is the beginning of the trace's hash.
	factTrace = "trace"
	// factTold digests what is said for people: reasons, the events that show a
	// violation, cycles, the words for faults.
	factTold = "told"
)

// failed is the verdict of a run that could not be made.
const failed = "failed"

// What is read of locksim list --format json.
type catalogue struct {
	Schema    string `json:"schema"`
	Scenarios []struct {
		Name     string `json:"name"`
		Variants []struct {
			Name string `json:"name"`
			// Locks begin with the variant's own.
			Locks []string `json:"locks"`
		} `json:"variants"`
	} `json:"scenarios"`
}

// What is read of locksim run --format json.
type report struct {
	Schema  string `json:"schema"`
	Results []struct {
		Scenario string            `json:"scenario"`
		Runs     []json.RawMessage `json:"runs"`
	} `json:"results"`
}

type run struct {
	Variant     string                     `json:"variant"`
	Fencing     string                     `json:"fencing"`
	Lock        string                     `json:"lock"`
	Verdict     string                     `json:"verdict"`
	Reasons     []string                   `json:"reasons"`
	Properties  map[string]string          `json:"properties"`
	Findings    []finding                  `json:"findings"`
	Witnesses   map[string]bool            `json:"witnesses"`
	Differences []string                   `json:"differences"`
	Measures    map[string]json.RawMessage `json:"measures"`
	Faults      []struct {
		Text       string `json:"text"`
		Assumption string `json:"assumption"`
		Idle       string `json:"idle"`
	} `json:"faults"`
	Torn []struct {
		Client  string `json:"client"`
		Section int    `json:"section"`
		Reason  string `json:"reason"`
	} `json:"torn"`
	RanOn     bool   `json:"ran_on_while_paused"`
	TraceHash string `json:"trace_hash"`
	VirtualMS int64  `json:"virtual_ms"`
	Events    int    `json:"events"`
}

type finding struct {
	Property string   `json:"property"`
	Outcome  string   `json:"outcome"`
	Reason   string   `json:"reason"`
	Fault    string   `json:"fault"`
	AtNS     *int64   `json:"at_ns"`
	Events   []int    `json:"events"`
	Cycle    []string `json:"cycle"`
}

// The schemas that are read here. A member may come to them; none goes or changes its
// meaning.
const (
	listSchema   = "locksim/list/v1"
	reportSchema = "locksim/report/v1"
)

// releaseAnswer is a property that is only reported. Unless it is violated no fact
// mentions it, nor does any report for people.
const releaseAnswer = "release-answer"

// facts are those of a run.
func (r run) facts() []fact {
	type judgement struct {
		Outcome, Fault string
		AtNS           *int64
	}
	broken := map[string]judgement{}
	var judged, told []any
	properties := maps.Clone(r.Properties)
	if properties[releaseAnswer] != "violated" {
		delete(properties, releaseAnswer)
	}
	for _, f := range r.Findings {
		if f.Property == releaseAnswer && f.Outcome != "violated" {
			continue
		}
		// That a property holds or does not apply is among the properties already.
		if f.Outcome == "violated" || f.Outcome == "unknown" {
			broken[f.Property] = judgement{f.Outcome, f.Fault, f.AtNS}
		}
		told = append(told, f.Property, f.Reason, f.Events, f.Cycle)
	}
	for _, f := range r.Faults {
		judged = append(judged, f.Assumption, f.Idle == "")
		told = append(told, f.Text, f.Idle)
	}
	for _, t := range r.Torn {
		judged = append(judged, t.Client, t.Section)
		told = append(told, t.Reason)
	}
	judged = append(judged, properties, broken, r.Witnesses, r.RanOn, len(r.Differences) > 0, len(r.Reasons) > 0)
	told = append(told, r.Differences, r.Reasons)
	var violated []string
	for _, property := range slices.Sorted(maps.Keys(r.Properties)) {
		if r.Properties[property] == "violated" {
			violated = append(violated, property)
		}
	}
	return []fact{
		{factVerdict, r.Verdict},
		{factViolated, listed(violated)},
		{factJudged, digest(judged)},
		{factMeasures, digest([]any{r.Measures, r.VirtualMS, r.Events})},
		{factTrace, r.TraceHash[:min(12, len(r.TraceHash))]},
		{factTold, digest(told)},
	}
}

// failedRun is the item of a run that could not be made, for a reason that is the same
// wherever it is tried.
func failedRun(key, why string) (item, error) {
	record, err := json.Marshal(map[string]string{failed: why})
	return item{key: key, record: record, facts: []fact{
		{factVerdict, failed}, {factViolated, "-"}, {factJudged, "-"}, {factMeasures, "-"}, {factTrace, "-"}, {factTold, digest(why)},
	}}, err
}

var fencings = [2]string{"off", "on"}

// A setup is a variant of a scenario with one of its locks.
type setup struct{ scenario, variant, lock string }

// words name the setup to locksim run.
func (s setup) words() []string {
	words := []string{s.scenario}
	if s.variant != "" {
		words = append(words, "--variant", s.variant)
	}
	return append(words, "--lock", s.lock)
}

// arguments are those with which locksim run comes to one run.
func (s setup) arguments(fencing string, seed uint64) []string {
	return append(s.words(), "--fencing", fencing, "--seed", strconv.FormatUint(seed, 10))
}

func (s setup) key(fencing string, seed uint64) string { return shellLine(s.arguments(fencing, seed)) }

func (s setup) groupKey(seeds span) string { return shellLine(s.words()) + seedFlag + seeds.String() }

// A batch is scenarios that one process runs, each with all of its variants.
type batch struct {
	// lock is a kind to use in place of the variants' own, or "".
	lock      string
	scenarios []string
	seed      uint64
}

// A course is all that is to be run on each seed.
type course struct {
	setups []setup
	// foreign has, for each kind of lock, the scenarios to tell with it though it is not
	// their own.
	foreign map[string][]string
	all     []string
}

func (t *tree) course(ctx context.Context) (course, error) {
	c := course{foreign: map[string][]string{}}
	text, err := output(t.locksim(ctx, "list", "--format", "json"))
	if err != nil {
		return c, err
	}
	var list catalogue
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return c, fmt.Errorf("locksim list: %w", err)
	}
	if list.Schema != listSchema || len(list.Scenarios) == 0 {
		return c, fmt.Errorf("locksim list: %d scenarios in schema %q; %s is read here", len(list.Scenarios), list.Schema, listSchema)
	}
	for _, s := range list.Scenarios {
		c.all = append(c.all, s.Name)
		for _, v := range s.Variants {
			for i, lock := range v.Locks {
				c.setups = append(c.setups, setup{s.Name, v.Name, lock})
				if i > 0 && !slices.Contains(c.foreign[lock], s.Name) {
					c.foreign[lock] = append(c.foreign[lock], s.Name)
				}
			}
		}
	}
	return c, nil
}

// batches are the processes of a seed.
func (c course) batches(seed uint64) []batch {
	all := []batch{{scenarios: c.all, seed: seed}}
	for _, lock := range slices.Sorted(maps.Keys(c.foreign)) {
		all = append(all, batch{lock: lock, scenarios: c.foreign[lock], seed: seed})
	}
	return all
}

// runScenarios is the part of some seeds. More than one seed share a line.
func runScenarios(ctx context.Context, t *tree, part string, seeds span, say func(done, all int)) (items, records []item, err error) {
	c, err := t.course(ctx)
	if err != nil {
		return nil, nil, err
	}
	var batches []batch
	for _, seed := range seeds.seeds() {
		batches = append(batches, c.batches(seed)...)
	}
	found := map[string]item{}
	var mu sync.Mutex
	err = atOnce(ctx, t.jobs, len(batches), say, func(i int) error {
		// Whatever is missing from the outcome of a batch is run by itself.
		runs, err := t.runBatch(ctx, batches[i], filepath.Join(t.scratch, fmt.Sprintf("batch-%d.json", i)))
		if exited(err, 2) || exited(err, 1) {
			err = nil
		}
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(found, runs)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, s := range c.setups {
		var runs [2][]item
		for i, fencing := range fencings {
			for _, seed := range seeds.seeds() {
				key := s.key(fencing, seed)
				run, ok := found[key]
				if !ok {
					if run, err = t.runAlone(ctx, s.arguments(fencing, seed), seed); err != nil {
						return nil, nil, err
					}
				}
				run.part = part
				runs[i] = append(runs[i], run)
			}
		}
		both := slices.Concat(runs[0], runs[1])
		records = append(records, both...)
		if seeds.first == seeds.last {
			items = append(items, both...)
		} else {
			items = append(items, group(part, s, seeds, runs))
		}
	}
	return items, records, nil
}

// runBatch runs scenarios in one process, on one thread: that is the fastest.
func (t *tree) runBatch(ctx context.Context, b batch, file string) (map[string]item, error) {
	args := append([]string{"run"}, b.scenarios...)
	args = append(args, "--seed", strconv.FormatUint(b.seed, 10), "--format", "json", "-o", file)
	if b.lock != "" {
		args = append(args, "--lock", b.lock)
	}
	return t.report(ctx, args, file, b.seed)
}

// runAlone makes one run. That it cannot be made is an outcome too.
func (t *tree) runAlone(ctx context.Context, args []string, seed uint64) (item, error) {
	file, key := filepath.Join(t.scratch, "alone.json"), shellLine(args)
	runs, err := t.report(ctx, append([]string{"run", "--format", "json", "-o", file}, args...), file, seed)
	if i, ok := runs[key]; ok {
		return i, nil
	}
	if ctx.Err() != nil {
		return item{}, ctx.Err()
	}
	var said failure
	switch {
	case errors.As(err, &said):
		return failedRun(key, said.said)
	case err != nil:
		return item{}, err
	}
	return failedRun(key, "there is no such run in the report")
}

// report runs locksim run, and reads what it came to. That a verdict is unexpected is
// no error.
func (t *tree) report(ctx context.Context, args []string, file string, seed uint64) (map[string]item, error) {
	defer os.Remove(file)
	cmd := t.locksim(ctx, append(args, "--timeout", "10m")...) // however busy the machine
	if os.Getenv("GOMAXPROCS") == "" {
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	}
	_, failed := output(cmd)
	text, err := os.ReadFile(file)
	switch {
	case err != nil && failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	}
	return readReport(text, seed)
}

// readReport reads a report of runs on a seed.
func readReport(text []byte, seed uint64) (map[string]item, error) {
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("locksim run: %w", err)
	}
	if r.Schema != reportSchema {
		return nil, fmt.Errorf("locksim run: a report in schema %q; %s is read here", r.Schema, reportSchema)
	}
	runs := map[string]item{}
	for _, result := range r.Results {
		for _, raw := range result.Runs {
			var one run
			if err := json.Unmarshal(raw, &one); err != nil {
				return nil, fmt.Errorf("locksim run: a run of %s: %w", result.Scenario, err)
			}
			key := setup{result.Scenario, one.Variant, one.Lock}.key(one.Fencing, seed)
			if one.TraceHash == "" || one.Verdict == "" || len(one.Properties) == 0 {
				return nil, fmt.Errorf("locksim run %s: its report lacks the verdict, the properties or the trace's hash", key)
			}
			runs[key] = item{key: key, facts: one.facts(), record: raw}
		}
	}
	return runs, nil
}

// atOnce does n things, up to jobs at once, until one fails.
func atOnce(ctx context.Context, jobs, n int, say func(done, all int), do func(i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next, done atomic.Int64
	var work sync.WaitGroup
	for range min(jobs, n) {
		work.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					stop(err)
					return
				}
				say(int(done.Add(1)), n)
			}
		})
	}
	work.Wait()
	return context.Cause(ctx)
}
