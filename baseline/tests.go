package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file makes the parts of the baseline that come from tests: what the suite and the search
// find in each mutant (a lock with a deliberate mistake), and what the suite finds in each library.
// The tests write their findings as attributes, which appear in the output of go test -json.

// A testFinding contains the fields of a finding that this program uses. A finding of the suite is
// about one test case, and has the first group of fields. A finding of a search has the second
// group, and Worlds.
type testFinding struct {
	TestCase string `json:"story"`
	Worlds   int    `json:"worlds"`
	Failed   int    `json:"failed"`
	Problems []struct {
		Rule    string `json:"rule"`
		Why     string `json:"why"`
		Seed    uint64 `json:"seed"`
		Command string `json:"command"`
	} `json:"problems"`
	NotApplicable string `json:"untold"`
	Unknown       string `json:"unknown"`

	Faults  []string `json:"faults"`
	Rules   []string `json:"rules"`
	Seed    uint64   `json:"seed"`
	Command string   `json:"command"`
}

// problemLines returns a line for each problem of a finding; the keys begin with prefix.
func (f testFinding) problemLines(prefix string) (all []line) {
	for _, p := range f.Problems {
		all = append(all, line{key: fmt.Sprintf("%s%s, %s", prefix, f.TestCase, p.Rule), facts: []fact{
			{"seed", strconv.FormatUint(p.Seed, 10)}, {"worlds", strconv.Itoa(f.Worlds)}, {"failed", strconv.Itoa(f.Failed)},
			{"replay", p.Command}, {"told", digest(p.Why)},
		}})
	}
	return all
}

// A subtest is the test of one mutant or library, with its findings.
type subtest struct {
	name     string
	command  string
	findings []testFinding
}

// runTest runs a test and returns its subtests, in order. A test that fails is no error,
// because its findings may be the cause.
func runTest(ctx context.Context, c *checkout, folder, test string) ([]subtest, error) {
	text, err := output(c.newCommand(ctx, "go", "test", "-json", "-count=1", "-timeout=2h", "-run=^"+test+"$", folder))
	if err != nil {
		return nil, err
	}
	command := fmt.Sprintf("go test %s -run %s", folder, test)
	all, err := readTest(text, test, command)
	if err == nil && !slices.ContainsFunc(all, func(s subtest) bool { return len(s.findings) > 0 }) {
		err = fmt.Errorf("%s reports no finding; run it to see why", command)
	}
	return all, err
}

// readTest reads the output of go test -json.
func readTest(text []byte, test, command string) ([]subtest, error) {
	var all []subtest
	for l := range bytes.Lines(text) {
		if l[0] != '{' { // a message of the go command
			continue
		}
		var e struct{ Action, Test, Key, Value string }
		if err := json.Unmarshal(l, &e); err != nil {
			return nil, fmt.Errorf("go test -json: %w", err)
		}
		name, ok := strings.CutPrefix(e.Test, test+"/")
		switch {
		case !ok:
		case e.Action == "run":
			all = append(all, subtest{name: name, command: command + "/" + name})
		case e.Action == "attr" && e.Key == "finding":
			var f testFinding
			if err := json.Unmarshal([]byte(e.Value), &f); err != nil {
				return nil, fmt.Errorf("a finding of %s: %w", e.Test, err)
			}
			for i := range all {
				if all[i].name == name {
					all[i].findings = append(all[i].findings, f)
				}
			}
		}
	}
	return all, nil
}

// makeMutants returns a function that makes the lines of a test of mutants. The lines say which
// test case or which faults find each mutant.
func makeMutants(test string) func(context.Context, *checkout) ([]line, error) {
	return func(ctx context.Context, c *checkout) ([]line, error) {
		all, err := runTest(ctx, c, "./internal/mutants", test)
		return mutantLines(all), err
	}
}

// mutantLines returns a line for each mutant.
func mutantLines(mutants []subtest) (all []line) {
	for _, mutant := range mutants {
		l := line{key: mutant.command}
		for _, f := range mutant.findings {
			worlds := fact{"worlds", strconv.Itoa(f.Worlds)}
			for _, p := range f.Problems {
				l.facts = append(l.facts, fact{"rule", p.Rule}, fact{"story", f.TestCase}, fact{"seed", strconv.FormatUint(p.Seed, 10)},
					worlds, fact{"replay", p.Command}, fact{"told", digest(p.Why)})
			}
			if len(f.Rules) > 0 {
				l.facts = append(l.facts, fact{"rule", formatList(f.Rules)}, fact{"faults", strings.Join(f.Faults, "; ")},
					fact{"seed", strconv.FormatUint(f.Seed, 10)}, worlds, fact{"replay", f.Command})
			}
		}
		if len(l.facts) == 0 {
			l.facts = []fact{{"rule", "not caught"}}
		}
		all = append(all, l)
	}
	return all
}

// makeLibraries makes the lines of the libraries: what the suite finds in each library, and
// how many of its test cases apply to it.
func makeLibraries(ctx context.Context, c *checkout) ([]line, error) {
	all, err := runTest(ctx, c, "./libraries", "TestLibraries")
	return libraryLines(all), err
}

// libraryLines returns a line for each problem of a library, and a line for each library
// about the whole suite.
func libraryLines(libraries []subtest) (all []line) {
	type story struct {
		Story           string
		Worlds, Failed  int
		Untold, Unknown bool
	}
	for _, library := range libraries {
		var stories []story
		worlds := 0
		for _, f := range library.findings {
			worlds += f.Worlds
			stories = append(stories, story{f.TestCase, f.Worlds, f.Failed, f.NotApplicable != "", f.Unknown != ""})
			all = append(all, f.problemLines(library.command+" # ")...)
		}
		all = append(all, line{key: library.command + " # suite", facts: []fact{
			{"stories", strconv.Itoa(len(stories))}, {"worlds", strconv.Itoa(worlds)}, {"by-story", digest(stories)},
		}})
	}
	return all
}
