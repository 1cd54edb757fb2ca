package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// What the tests of package locktest find: of each mutant, by the suite and by a search,
// and of each library. They tell of it by attributes, which go test -json hands on.

// attrFinding is the attribute that holds a finding.
const attrFinding = "finding"

// A told finding is one line of a test.
type told struct {
	// subtest is the test's name without that of the test it belongs to.
	subtest string
	raw     json.RawMessage
}

// What is read of a finding: of the suite's, by story, and of a search's.
type testFinding struct {
	Story    string `json:"story"`
	Worlds   int    `json:"worlds"`
	Failed   int    `json:"failed"`
	Problems []struct {
		Rule    string `json:"rule"`
		Why     string `json:"why"`
		Seed    uint64 `json:"seed"`
		Command string `json:"command"`
	} `json:"problems"`
	Untold  string `json:"untold"`
	Unknown string `json:"unknown"`

	Faults  []string `json:"faults"`
	Rules   []string `json:"rules"`
	Seed    uint64   `json:"seed"`
	Command string   `json:"command"`
}

// What is read of go test -json.
type testEvent struct {
	Action, Test, Key, Value string
}

// findings runs a test, in whatever package it is, and returns its findings and its
// subtests, in order. That the test fails is no error: it may be because of what was
// found.
func (t *tree) findings(ctx context.Context, test string) (all []told, subtests []string, err error) {
	dir, err := t.folderOf(test)
	if err != nil {
		return nil, nil, err
	}
	cmd := t.run(ctx, "go", "test", "-json", "-count=1", "-timeout=2h", "-run=^"+test+"$", ".")
	cmd.Dir = dir
	text, failure := output(cmd)
	if failure != nil && !exited(failure, 1) {
		return nil, nil, failure
	}
	all, subtests, err = readTest(text, test)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s of %s tells of no finding, in the attribute %q\n%v", test, t.commit, attrFinding, failure)
	}
	return all, subtests, err
}

// readTest reads the output of go test -json.
func readTest(text, test string) (all []told, subtests []string, err error) {
	for line := range strings.Lines(text) {
		var e testEvent
		if !strings.HasPrefix(line, "{") { // go's own words
			continue
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, nil, fmt.Errorf("go test -json: %w", err)
		}
		subtest, ok := strings.CutPrefix(e.Test, test+"/")
		switch {
		case !ok:
		case e.Action == "run":
			subtests = append(subtests, subtest)
		case e.Action == "attr" && e.Key == attrFinding:
			all = append(all, told{subtest, json.RawMessage(e.Value)})
		}
	}
	return all, subtests, nil
}

func (f told) read() (testFinding, error) {
	var finding testFinding
	if err := json.Unmarshal(f.raw, &finding); err != nil {
		return finding, fmt.Errorf("a finding of %s: %w", f.subtest, err)
	}
	return finding, nil
}

const (
	mutantsTest   = "TestMutants"
	exploredTest  = "TestExploreMutants"
	librariesTest = "TestLibraries"
)

// mutants is the part of a test of mutants: what each is caught by.
func mutants(ctx context.Context, t *tree, part, test string) ([]item, error) {
	found, subtests, err := t.findings(ctx, test)
	if err != nil {
		return nil, err
	}
	return mutantItems(part, found, subtests)
}

func mutantItems(part string, found []told, subtests []string) ([]item, error) {
	by := map[string]told{}
	for _, f := range found {
		by[f.subtest] = f
	}
	var items []item
	for _, mutant := range subtests {
		f, caught := by[mutant]
		if !caught {
			items = append(items, item{part: part, key: mutant, facts: []fact{{"rule", "not caught"}}})
			continue
		}
		finding, err := f.read()
		if err != nil {
			return nil, err
		}
		i := item{part: part, key: mutant, record: f.raw}
		worlds := fact{"worlds", strconv.Itoa(finding.Worlds)}
		for _, p := range finding.Problems {
			i.facts = append(i.facts, fact{"rule", p.Rule}, fact{"story", finding.Story}, fact{"seed", strconv.FormatUint(p.Seed, 10)},
				worlds, fact{factReplay, p.Command}, fact{factTold, digest(p.Why)})
		}
		if len(finding.Rules) > 0 {
			i.facts = append(i.facts, fact{"rule", listed(finding.Rules)}, fact{"faults", strings.Join(finding.Faults, "; ")},
				fact{"seed", strconv.FormatUint(finding.Seed, 10)}, worlds, fact{factReplay, finding.Command})
		}
		items = append(items, i)
	}
	return items, nil
}

// factReplay is the line that runs the world again in which something was found, in the
// folder of the test.
const factReplay = "replay"

// libraries is the part of what the suite finds in each library, and of how much of the
// suite could be told with it.
func libraries(ctx context.Context, t *tree, part string) ([]item, error) {
	found, subtests, err := t.findings(ctx, librariesTest)
	if err != nil {
		return nil, err
	}
	return libraryItems(part, found, subtests)
}

func libraryItems(part string, found []told, subtests []string) ([]item, error) {
	var items []item
	for _, library := range subtests {
		type told struct {
			Story           string
			Worlds, Failed  int
			Untold, Unknown bool
		}
		var all []told
		var records []testFinding
		worlds := 0
		for _, f := range found {
			if f.subtest != library {
				continue
			}
			finding, err := f.read()
			if err != nil {
				return nil, err
			}
			worlds += finding.Worlds
			all = append(all, told{finding.Story, finding.Worlds, finding.Failed, finding.Untold != "", finding.Unknown != ""})
			for _, p := range finding.Problems {
				items = append(items, item{
					part: part, key: fmt.Sprintf("%s # %s, %s", library, finding.Story, p.Rule), record: f.raw,
					facts: []fact{
						{"seed", strconv.FormatUint(p.Seed, 10)}, {"worlds", strconv.Itoa(finding.Worlds)}, {"failed", strconv.Itoa(finding.Failed)},
						{factReplay, p.Command}, {factTold, digest(p.Why)},
					},
				})
			}
			finding.Problems = nil
			records = append(records, finding)
		}
		record, err := json.Marshal(records)
		if err != nil {
			return nil, err
		}
		items = append(items, item{part: part, key: library + " # suite", record: record, facts: []fact{
			{"stories", strconv.Itoa(len(all))}, {"worlds", strconv.Itoa(worlds)}, {"by-story", digest(all)},
		}})
	}
	return items, nil
}
