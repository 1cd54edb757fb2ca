package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// What the track record comes to: each version of a library in the story of its bug, and
// in the story of the suite that finds it.

// What is read of a line of go run ./trackrecord/run -json.
type version struct {
	Bug     string   `json:"bug"`
	Module  string   `json:"module"`
	Version string   `json:"version"`
	Broken  []string `json:"broken"`
	Told    []struct {
		Seed   uint64   `json:"seed"`
		Trace  string   `json:"trace"`
		Broken []string `json:"broken"`
	} `json:"told"`
	Suite []testFinding `json:"suite"`
}

// bugs is the part of the track record.
func bugs(ctx context.Context, t *tree, part string) ([]item, error) {
	file := filepath.Join(t.scratch, "versions.jsonl")
	defer os.Remove(file)
	_, failure := output(t.run(ctx, "go", "run", "./trackrecord/run", "-check", "-json", file))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	text, err := os.ReadFile(file)
	if err != nil && failure != nil {
		return nil, failure
	} else if err != nil {
		return nil, err
	}
	return bugItems(part, string(text))
}

func bugItems(part, lines string) ([]item, error) {
	var items []item
	for line := range strings.Lines(lines) {
		var v version
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return nil, fmt.Errorf("the track record: %w", err)
		}
		failed := 0
		var traces []string
		var broken [][]string
		for _, w := range v.Told {
			traces = append(traces, w.Trace)
			broken = append(broken, w.Broken)
			if len(w.Broken) > 0 {
				failed++
			}
		}
		key := v.Bug + " # " + v.Module
		items = append(items, item{part: part, key: key + ", story", record: json.RawMessage(line), facts: []fact{
			{"version", v.Version},
			{"broken", listed(v.Broken)},
			{"failed", fmt.Sprintf("%d of %d", failed, len(v.Told))},
			{"by-world", digest(broken)},
			{factTrace, digest(traces)},
		}})
		for _, f := range v.Suite {
			record, err := json.Marshal(f)
			if err != nil {
				return nil, err
			}
			for _, p := range f.Problems {
				items = append(items, item{part: part, key: fmt.Sprintf("%s, suite: %s, %s", key, f.Story, p.Rule), record: record, facts: []fact{
					{"seed", strconv.FormatUint(p.Seed, 10)}, {"worlds", strconv.Itoa(f.Worlds)}, {"failed", strconv.Itoa(f.Failed)},
					{factReplay, p.Command}, {factTold, digest(p.Why)},
				}})
			}
		}
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("the track record says nothing")
	}
	return items, nil
}
