package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// This file makes the part of the baseline that comes from the track record. For each bug of a
// library, the track record tests versions that have the bug and versions that do not. It runs the
// scenario about the bug, called the bug's story, and the test case of the suite that finds the
// bug.

// A version is the result of one version of a library: the fields that this program uses of a
// line that go run ./trackrecord/run -json writes.
type version struct {
	Bug     string   `json:"bug"`
	Module  string   `json:"module"`
	Version string   `json:"version"`
	Broken  []string `json:"broken"`
	Worlds  []struct {
		Trace  string   `json:"trace"`
		Broken []string `json:"broken"`
	} `json:"told"`
	Suite []testFinding `json:"suite"`
}

// makeBugs makes the lines of the track record.
func makeBugs(ctx context.Context, c *checkout) ([]line, error) {
	file := filepath.Join(filepath.Dir(c.command), "versions.jsonl")
	if _, err := output(c.newCommand(ctx, "go", "run", "./trackrecord/run", "-check", "-json", file)); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return bugLines(text)
}

// bugLines returns the lines for the JSON text of the track record.
func bugLines(text []byte) (all []line, err error) {
	for in := json.NewDecoder(bytes.NewReader(text)); in.More(); {
		var v version
		if err := in.Decode(&v); err != nil {
			return nil, fmt.Errorf("the track record: %w", err)
		}
		failed := 0
		var traces []string
		var broken [][]string
		for _, w := range v.Worlds {
			traces = append(traces, w.Trace)
			broken = append(broken, w.Broken)
			if len(w.Broken) > 0 {
				failed++
			}
		}
		key := fmt.Sprintf("go run ./trackrecord/run -check %s # %s", v.Bug, v.Module)
		all = append(all, line{key: key + ", story", facts: []fact{
			{"version", v.Version},
			{"broken", formatList(v.Broken)},
			{"failed", fmt.Sprintf("%d of %d", failed, len(v.Worlds))},
			{"by-world", digest(broken)},
			{"trace", digest(traces)},
		}})
		for _, f := range v.Suite {
			all = append(all, f.problemLines(key+", suite: ")...)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the track record has no versions")
	}
	return all, nil
}
