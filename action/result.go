package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/reports"
)

// A result is the result of one command in one checkout.
type result struct {
	// Items are the runs of scenarios, or the mistakes that the suite of package locktest
	// found in locks.
	Items []item
	// Found is the result of a search.
	Found *explore.Result
	// Problem says why there is no result; "" if there is one.
	Problem string
}

// An item is a run, a scenario with a lock as a whole, a mistake in a lock, or a Go package
// that could not be tested.
type item struct {
	// ID is equal in the pull request and in its base. Title is for people.
	ID, Title string
	// Package is the Go package under test; "" for a run.
	Package string
	// Breaks are the properties or rules that are violated; empty if there are none.
	Breaks []string
	// Unknown says why the result is not known; "" if it is known.
	Unknown string
	Replay  string
}

// A runsDocument contains the fields that this program reads from the report of locksim run.
type runsDocument struct {
	Schema  string `json:"schema"`
	Results []struct {
		Scenario   string `json:"scenario"`
		Lock       string `json:"lock"`
		AsExpected *bool  `json:"as_expected"`
		Replay     string `json:"replay"`
		Runs       []struct {
			Variant    string            `json:"variant"`
			Fencing    string            `json:"fencing"`
			Lock       string            `json:"lock"`
			Verdict    string            `json:"verdict"`
			Reasons    []string          `json:"reasons"`
			Properties map[string]string `json:"properties"`
			Findings   []struct {
				Property string `json:"property"`
				Outcome  string `json:"outcome"`
			} `json:"findings"`
		} `json:"runs"`
	} `json:"results"`
}

// runScenarios runs locksim run in a checkout.
func (s settings) runScenarios(ctx context.Context, t checkout, args []string) (result, error) {
	out, problem, _, err := t.execute(ctx, nil, slices.Concat(s.Locksim, []string{"run", "--format", "json"}, args))
	if err != nil {
		return result{}, err
	}
	var doc runsDocument
	if json.Unmarshal(out, &doc) != nil || doc.Schema != "locksim/report/v1" {
		return result{Problem: cmp.Or(lastLine(problem), "locksim run printed no report")}, nil
	}
	var r result
	for _, res := range doc.Results {
		all := item{ID: res.Scenario + "\x00" + res.Lock, Title: res.Scenario + " with " + res.Lock, Replay: res.Replay}
		if res.AsExpected != nil && !*res.AsExpected {
			all.Breaks = []string{"what its file expects"}
		}
		r.Items = append(r.Items, all)
		for _, run := range res.Runs {
			fencing := "without fencing tokens"
			if run.Fencing == "on" {
				fencing = "with fencing tokens"
			}
			i := item{
				ID:     strings.Join([]string{res.Scenario, res.Lock, run.Lock, run.Variant, run.Fencing}, "\x00"),
				Title:  strings.TrimSuffix(res.Scenario+" "+run.Variant, " ") + " with " + run.Lock + ", " + fencing,
				Replay: res.Replay,
			}
			for name, outcome := range run.Properties {
				if outcome == "violated" {
					i.Breaks = append(i.Breaks, name)
				}
			}
			for _, f := range run.Findings {
				if f.Outcome == "violated" {
					i.Breaks = append(i.Breaks, f.Property)
				}
			}
			slices.Sort(i.Breaks)
			i.Breaks = slices.Compact(i.Breaks)
			if run.Verdict == "unknown" {
				i.Unknown = cmp.Or(strings.Join(run.Reasons, "; "), "the verdict is unknown")
			}
			r.Items = append(r.Items, i)
		}
	}
	return r, nil
}

// search runs locksim explore in a checkout.
func (s settings) search(ctx context.Context, t checkout, args []string) (result, error) {
	out, problem, _, err := t.execute(ctx, nil, slices.Concat(s.Locksim, []string{"explore", "--format", "json"}, args))
	if err != nil {
		return result{}, err
	}
	found, err := reports.ReadExplored(out)
	if err != nil {
		return result{Problem: cmp.Or(lastLine(problem), err.Error())}, nil
	}
	return result{Found: found}, nil
}

// testPackages returns the Go packages of a checkout that a pattern matches. The second
// result says why there are none; "" if go list succeeded.
func (s settings) testPackages(ctx context.Context, t checkout, pattern string) ([]string, string, error) {
	out, problem, status, err := t.execute(ctx, nil, slices.Concat(s.Go, []string{"list", "--", pattern}))
	if status != 0 {
		return nil, cmp.Or(lastLine(problem), "go list failed"), err
	}
	return strings.Fields(string(out)), "", err
}

// test runs go test on a pattern of packages. A package that does not use locktest and passes
// has no items.
func (s settings) test(ctx context.Context, t checkout, pattern string) (result, error) {
	packages, problem, err := s.testPackages(ctx, t, pattern)
	if err != nil || problem != "" {
		return result{Problem: problem}, err
	}
	var r result
	for _, p := range packages {
		report := filepath.Join(s.Scratch, "locksim-suite.json")
		if err := os.RemoveAll(report); err != nil {
			return r, err
		}
		out, problem, status, err := t.execute(ctx, []string{"LOCKSIM_REPORT=" + report}, slices.Concat(s.Go, []string{"test", "-count=1", p}))
		if err != nil {
			return r, err
		}
		// The standard output of go test says why a test fails.
		fmt.Fprint(os.Stderr, reports.DefuseCommands(string(out)))
		suite, err := readSuite(report)
		switch {
		case err != nil:
			r.Items = append(r.Items, item{ID: p, Title: p, Package: p, Unknown: err.Error()})
		case suite == nil && status != 0:
			r.Items = append(r.Items, item{ID: p, Title: p, Package: p, Unknown: cmp.Or(lastLine(problem), "go test fails, and there is no report of locktest")})
		case suite != nil:
			r.Items = append(r.Items, itemsOf(p, suite)...)
		}
	}
	return r, nil
}

// readSuite reads a report of locktest. It returns nil if there is none.
func readSuite(file string) (*reports.Suite, error) {
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return reports.ReadSuite(f)
}

// itemsOf returns the mistakes in a report of locktest, including those that are marked as
// known.
func itemsOf(pkg string, suite *reports.Suite) (items []item) {
	for _, t := range suite.Tests {
		for _, m := range t.Mistakes {
			i := item{
				ID:      strings.Join([]string{pkg, t.Test, m.Mistake, m.Step}, "\x00"),
				Title:   t.Test + ": " + m.Title,
				Package: pkg,
				Breaks:  m.Rules,
			}
			if len(i.Breaks) == 0 {
				i.Breaks = []string{m.Mistake}
			}
			if len(m.Replays) > 0 {
				i.Replay = m.Replays[0]
			}
			items = append(items, i)
		}
	}
	return items
}
