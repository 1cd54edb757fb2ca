package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// This file makes the parts of the baseline that come from the built-in scenarios. Each variant of
// a scenario is run with its own lock, and with each lock for which the scenario has an
// expectation: once without fencing tokens, and once with them.

// A catalogue contains the fields that this program uses of the output of locksim list
// --format json.
type catalogue struct {
	Schema    string `json:"schema"`
	Scenarios []struct {
		Name     string `json:"name"`
		Variants []struct {
			Name string `json:"name"`
			// Locks are the locks with an expectation; the variant's own lock is the first.
			Locks []string `json:"locks"`
		} `json:"variants"`
	} `json:"scenarios"`
}

// A report contains the fields that this program uses of the output of locksim run --format
// json.
type report struct {
	Schema  string `json:"schema"`
	Results []struct {
		Scenario string `json:"scenario"`
		Runs     []run  `json:"runs"`
	} `json:"results"`
}

// A run is the result of one run in a report.
type run struct {
	Variant    string            `json:"variant"`
	Fencing    string            `json:"fencing"`
	Lock       string            `json:"lock"`
	Verdict    string            `json:"verdict"`
	Reasons    []string          `json:"reasons"`
	Properties map[string]string `json:"properties"`
	Findings   []struct {
		Property string   `json:"property"`
		Outcome  string   `json:"outcome"`
		Reason   string   `json:"reason"`
		Fault    string   `json:"fault"`
		AtNS     *int64   `json:"at_ns"`
		Events   []int    `json:"events"`
		Cycle    []string `json:"cycle"`
	} `json:"findings"`
	Witnesses   map[string]bool            `json:"witnesses"`
	Differences []string                   `json:"differences"`
	Measures    map[string]json.RawMessage `json:"measures"`
	Faults      []struct {
		Text       string `json:"text"`
		Assumption string `json:"assumption"`
		Idle       string `json:"idle"`
	} `json:"faults"`
	// Torn are the critical sections of which only a part took effect.
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

// releaseAnswer is a property that counts only if it is violated. If it is not, the facts leave it
// out, as the reports for people do.
const releaseAnswer = "release-answer"

// facts returns the facts of a run. README.md explains each of them.
func (r run) facts() []fact {
	type judgement struct {
		Outcome, Fault string
		AtNS           *int64
	}
	broken := map[string]judgement{}
	var judged, texts []any
	properties := maps.Clone(r.Properties)
	if properties[releaseAnswer] != "violated" {
		delete(properties, releaseAnswer)
	}
	for _, f := range r.Findings {
		if f.Property == releaseAnswer && f.Outcome != "violated" {
			continue
		}
		// The other outcomes are in properties already.
		if f.Outcome == "violated" || f.Outcome == "unknown" {
			broken[f.Property] = judgement{f.Outcome, f.Fault, f.AtNS}
		}
		texts = append(texts, f.Property, f.Reason, f.Events, f.Cycle)
	}
	for _, f := range r.Faults {
		judged = append(judged, f.Assumption, f.Idle == "")
		texts = append(texts, f.Text, f.Idle)
	}
	for _, t := range r.Torn {
		judged = append(judged, t.Client, t.Section)
		texts = append(texts, t.Reason)
	}
	judged = append(judged, properties, broken, r.Witnesses, r.RanOn, len(r.Differences) > 0, len(r.Reasons) > 0)
	texts = append(texts, r.Differences, r.Reasons)
	var violated []string
	for _, property := range slices.Sorted(maps.Keys(r.Properties)) {
		if r.Properties[property] == "violated" {
			violated = append(violated, property)
		}
	}
	return []fact{
		{"verdict", r.Verdict},
		{"violated", formatList(violated)},
		{"judged", digest(judged)},
		{"measures", digest([]any{r.Measures, r.VirtualMS, r.Events})},
		{"trace", r.TraceHash[:min(12, len(r.TraceHash))]},
		{"told", digest(texts)},
	}
}

// A setup is a variant of a scenario together with a lock to run it with.
type setup struct{ scenario, variant, lock string }

// command returns the command that runs the setup.
func (s setup) command() string {
	variant := ""
	if s.variant != "" {
		variant = " --variant " + s.variant
	}
	return "locksim run " + s.scenario + variant + " --lock " + s.lock
}

// A place identifies one run: its setup, whether fencing is "on" or "off", and its seed.
type place struct {
	setup
	fencing string
	seed    uint64
}

// A batch is a set of scenarios that one process runs with one seed, with all their variants. They
// are run with lock, or with the variants' own locks if it is "".
type batch struct {
	lock      string
	scenarios []string
	seed      uint64
}

// makeScenarios returns a function that makes the lines for the seeds from first to last.
// If there is one seed, each run has a line. If there are several, all runs of a setup
// share one line.
func makeScenarios(first, last uint64) func(context.Context, *checkout) ([]line, error) {
	return func(ctx context.Context, c *checkout) ([]line, error) {
		setups, batches, err := c.plan(ctx)
		if err != nil {
			return nil, err
		}
		var all []batch
		for seed := first; seed <= last; seed++ {
			for _, b := range batches {
				b.seed = seed
				all = append(all, b)
			}
		}
		found, err := c.runBatches(ctx, all)
		if err != nil {
			return nil, err
		}
		var lines []line
		for _, s := range setups {
			var runs [2][]line
			for i, fencing := range []string{"off", "on"} {
				for seed := first; seed <= last; seed++ {
					facts, ok := found[place{s, fencing, seed}]
					key := fmt.Sprintf("%s --fencing %s --seed %d", s.command(), fencing, seed)
					if !ok {
						return nil, fmt.Errorf("%s: the report has no such run; the command says why", key)
					}
					runs[i] = append(runs[i], line{key, facts})
				}
			}
			if first == last {
				lines = append(lines, slices.Concat(runs[0], runs[1])...)
			} else {
				lines = append(lines, combineRuns(fmt.Sprintf("%s --seed %d-%d", s.command(), first, last), first, runs))
			}
		}
		return lines, nil
	}
}

// plan returns the setups that have to be run, and the batches that run them.
func (c *checkout) plan(ctx context.Context) (setups []setup, batches []batch, err error) {
	text, err := output(c.newCommand(ctx, c.command, "list", "--format", "json"))
	if err != nil {
		return nil, nil, err
	}
	var list catalogue
	if err := json.Unmarshal(text, &list); err != nil || list.Schema != "locksim/list/v1" {
		return nil, nil, errors.Join(fmt.Errorf("locksim list: schema %q is not locksim/list/v1", list.Schema), err)
	}
	own := batch{}
	foreign := map[string][]string{}
	for _, s := range list.Scenarios {
		own.scenarios = append(own.scenarios, s.Name)
		for _, v := range s.Variants {
			for i, lock := range v.Locks {
				setups = append(setups, setup{s.Name, v.Name, lock})
				if i > 0 && !slices.Contains(foreign[lock], s.Name) {
					foreign[lock] = append(foreign[lock], s.Name)
				}
			}
		}
	}
	batches = append(batches, own)
	for _, lock := range slices.Sorted(maps.Keys(foreign)) {
		batches = append(batches, batch{lock: lock, scenarios: foreign[lock]})
	}
	return setups, batches, nil
}

// runBatches runs each batch in a process of its own, up to c.jobs of them at the same
// time. After a failure it starts no more processes.
func (c *checkout) runBatches(ctx context.Context, batches []batch) (map[place][]fact, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	found := map[place][]fact{}
	var mu sync.Mutex
	var work sync.WaitGroup
	slots := make(chan struct{}, c.jobs)
	for _, b := range batches {
		work.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			runs, err := c.runBatch(ctx, b)
			if err != nil {
				stop(err)
			}
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(found, runs)
		})
	}
	work.Wait()
	return found, context.Cause(ctx)
}

// runBatch runs a batch in a process with one thread, because a world runs fastest on one thread.
// If GOMAXPROCS is set, it decides instead.
func (c *checkout) runBatch(ctx context.Context, b batch) (map[place][]fact, error) {
	args := append([]string{"run"}, b.scenarios...)
	args = append(args, "--seed", strconv.FormatUint(b.seed, 10), "--format", "json", "--timeout", "10m") // enough for a busy machine
	if b.lock != "" {
		args = append(args, "--lock", b.lock)
	}
	cmd := c.newCommand(ctx, c.command, args...)
	if os.Getenv("GOMAXPROCS") == "" {
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	}
	text, err := output(cmd)
	if err != nil {
		return nil, err
	}
	return readReport(text, b.seed)
}

// readReport reads a report and returns the facts of its runs.
func readReport(text []byte, seed uint64) (map[place][]fact, error) {
	var r report
	if err := json.Unmarshal(text, &r); err != nil || r.Schema != "locksim/report/v1" {
		return nil, errors.Join(fmt.Errorf("locksim run: schema %q is not locksim/report/v1", r.Schema), err)
	}
	runs := map[place][]fact{}
	for _, result := range r.Results {
		for _, run := range result.Runs {
			at := setup{result.Scenario, run.Variant, run.Lock}
			if run.TraceHash == "" || run.Verdict == "" || len(run.Properties) == 0 {
				return nil, fmt.Errorf("%s: its report lacks the verdict, the properties or the trace's hash", at.command())
			}
			runs[place{at, run.Fencing, seed}] = run.facts()
		}
	}
	return runs, nil
}

// combineRuns returns one line for all runs of a setup. runs[0] are the lines of the runs
// without fencing tokens, and runs[1] those of the runs with them. Both are in the order of
// the seeds, which begin with first.
func combineRuns(key string, first uint64, runs [2][]line) line {
	shared := line{key: key}
	for _, f := range runs[0][0].facts {
		var values [2][]string
		for i := range runs {
			for _, run := range runs[i] {
				values[i] = append(values[i], run.fact(f.name))
			}
		}
		switch f.name {
		case "verdict":
			shared.facts = append(shared.facts, fact{f.name, countWords(values[0]) + "/" + countWords(values[1])})
		case "violated": // the fact judged contains it
		default:
			shared.facts = append(shared.facts, fact{f.name, digest(values)})
		}
	}
	var marks []string
	for i := range runs[0] {
		mark := digest(fmt.Sprint(runs[0][i].facts, runs[1][i].facts))[:3]
		marks = append(marks, fmt.Sprintf("%d:%s", first+uint64(i), mark))
	}
	shared.facts = append(shared.facts, fact{"by-seed", strings.Join(marks, " ")})
	return shared
}

// countWords returns the words as text, each only once. If they differ, it adds to each how
// often it occurs.
func countWords(words []string) string {
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	once := slices.Sorted(maps.Keys(count))
	if len(once) == 1 {
		return once[0]
	}
	for i, w := range once {
		once[i] = fmt.Sprintf("%s:%d", w, count[w])
	}
	return formatList(once)
}
