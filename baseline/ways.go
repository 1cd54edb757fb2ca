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

// What locksim explore finds of a lock: the ways to break it.

// A search is what to explore, and the name of its part.
type search struct {
	name string
	args []string
	slow bool // see part
}

// searches are those of a baseline. Pairs of faults are tried on the locks that the
// project answers for; of the libraries single faults tell enough, in less time.
func searches() []search {
	single := func(lock string, more ...string) search {
		return search{name: lock, args: append([]string{"--lock", lock, "--max-faults", "1"}, more...)}
	}
	slowly := func(s search) search {
		s.slow = true
		return s
	}
	return []search{
		{name: "redlock", args: []string{"--lock", "redlock", "--nodes", "3", "--worlds", "5000"}},
		{name: "single", args: []string{"--lock", "single", "--worlds", "5000"}},
		single("redislock"), single("redislock-defaults"),
		single("rueidislock"), single("rueidislock-strict"),
		// Three nodes have a minority and a majority as five have, in a third of the time.
		single("redsync", "--nodes", "3"),
		// Thirty-two tries are thirty-two times the messages at which a fault can strike.
		slowly(single("redsync-retrying", "--nodes", "3")), slowly(single("redsync-defaults", "--nodes", "3")),
	}
}

// What is read of locksim explore --format json.
type explored struct {
	Schema  string            `json:"schema"`
	Worlds  int               `json:"worlds"`
	First   int               `json:"first"`
	Stopped string            `json:"stopped"`
	Bases   []searchedBase    `json:"bases"`
	Levels  []level           `json:"levels"`
	Ways    []json.RawMessage `json:"ways"`
	RanOn   []json.RawMessage `json:"ran_on"`
	Maps    []dangerMap       `json:"maps"`
}

type searchedBase struct {
	Name     string `json:"name"`
	Points   int    `json:"points"`
	Steps    int    `json:"steps"`
	Messages int    `json:"messages"`
	Broke    string `json:"broke"`
	Doubt    string `json:"doubt"`
}

type level struct {
	Faults      int      `json:"faults"`
	Space       uint64   `json:"space"`
	Tried       uint64   `json:"tried"`
	Kinds       uint64   `json:"kinds"`
	KindsTried  uint64   `json:"kinds_tried"`
	Broke       uint64   `json:"broke"`
	BrokeFenced uint64   `json:"broke_fenced"`
	Doubtful    uint64   `json:"doubtful"`
	Effect      []string `json:"effect"`
	Behaviours  int      `json:"behaviours"`
}

type dangerMap struct {
	Base      string            `json:"base"`
	Client    string            `json:"client"`
	Fencing   string            `json:"fencing"`
	LengthsNS []int64           `json:"lengths_ns"`
	Starts    []string          `json:"starts"`
	Cells     []json.RawMessage `json:"cells"`
}

const exploreSchema = "locksim/explore/v1"

type way struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Story  string   `json:"story"`
	Cause  []string `json:"cause"`
	Causes []struct {
		Faults string `json:"faults"`
		Worlds int    `json:"worlds"`
	} `json:"causes"`
	Stages         []string `json:"stages"`
	WithoutFencing []string `json:"without_fencing"`
	WithFencing    []string `json:"with_fencing"`
	Fault          string   `json:"fault"`
	Worlds         int      `json:"worlds"`
	Example        struct {
		Base    int               `json:"base"`
		Clients []string          `json:"clients"`
		Nodes   int               `json:"nodes"`
		Starts  map[string]string `json:"starts"`
		Faults  []exampleFault    `json:"faults"`
	} `json:"example"`
	Effect  []string `json:"effect"`
	Margins []struct {
		Fault      int   `json:"fault"`
		SurvivedNS int64 `json:"survived_ns"`
		BrokenNS   int64 `json:"broken_ns"`
	} `json:"margins"`
}

type exampleFault struct {
	Text        string   `json:"text"`
	Kind        string   `json:"kind"`
	Target      string   `json:"target"`
	Others      []string `json:"others"`
	How         string   `json:"how"`
	Step        string   `json:"step"`
	ByNS        int64    `json:"by_ns"`
	Before      string   `json:"before"`
	When        string   `json:"when"`
	ForNS       int64    `json:"for_ns"`
	Persistence string   `json:"persistence"`
}

// facts are those of a way. Its sizes are the margins: what each fault must last or
// amount to, survived and broken, in nanoseconds.
func (w way) facts() []fact {
	var sizes, counts, faults []string
	for _, m := range w.Margins {
		sizes = append(sizes, fmt.Sprintf("%d:%d..%d", m.Fault, m.SurvivedNS, m.BrokenNS))
	}
	for _, c := range w.Causes {
		counts = append(counts, strconv.Itoa(c.Worlds))
	}
	example := w.Example
	for i := range example.Faults {
		faults = append(faults, example.Faults[i].Text)
		example.Faults[i].Text = ""
	}
	return []fact{
		{"fault", w.Fault},
		{"without-fencing", listed(w.WithoutFencing)},
		{"with-fencing", listed(w.WithFencing)},
		{"effect", digest(w.Effect)},
		{"example", digest(example)},
		{"sizes", listed(sizes)},
		{"worlds", strconv.Itoa(w.Worlds)},
		{"by-cause", listed(counts)},
		{"causes", digest([]any{w.Cause, w.Causes, w.Stages})},
		{"faults", strings.Join(faults, "; ")},
		{factTold, digest([]string{w.Title, w.Story})},
	}
}

// explore is the part of a search. It needs all of the machine.
func (s search) explore(ctx context.Context, t *tree, part string) ([]item, error) {
	file := filepath.Join(t.scratch, "explored.json")
	defer os.Remove(file)
	args := append([]string{"explore"}, s.args...)
	_, failure := output(t.locksim(ctx, append(args, "--ways", "", "--jobs", strconv.Itoa(t.jobs), "--format", "json", "-o", file)...))
	if failure != nil && !exited(failure, 1) {
		return nil, failure
	}
	text, err := os.ReadFile(file)
	if err != nil && failure != nil {
		return nil, failure
	} else if err != nil {
		return nil, err
	}
	return readExplored(text, shellLine(s.args), part)
}

// readExplored reads what a search with some arguments came to.
func readExplored(text []byte, args, part string) ([]item, error) {
	var e explored
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("locksim explore %s: %w", args, err)
	}
	if e.Schema != exploreSchema || e.Worlds == 0 {
		return nil, fmt.Errorf("locksim explore %s: %d worlds in schema %q; %s is read here", args, e.Worlds, e.Schema, exploreSchema)
	}
	record, err := json.Marshal(map[string]any{"bases": e.Bases, "levels": e.Levels, "maps": e.Maps})
	if err != nil {
		return nil, err
	}
	items := []item{{part: part, key: args + " # search", record: record, facts: []fact{
		{"stopped", e.Stopped},
		{"ways", strconv.Itoa(len(e.Ways))},
		{"ran-on", strconv.Itoa(len(e.RanOn))},
		{"worlds", strconv.Itoa(e.Worlds)},
		{"first", strconv.Itoa(e.First)},
		{"levels", digest(e.Levels)},
		{"bases", digest(e.Bases)},
		{"maps", digest(e.Maps)},
	}}}
	for _, list := range []struct {
		what string
		ways []json.RawMessage
	}{{"way", e.Ways}, {"ran on", e.RanOn}} {
		for _, raw := range list.ways {
			var w way
			if err := json.Unmarshal(raw, &w); err != nil {
				return nil, fmt.Errorf("locksim explore %s: %w", args, err)
			}
			if w.ID == "" {
				return nil, fmt.Errorf("locksim explore %s: a way without an ID", args)
			}
			items = append(items, item{part: part, key: args + " # " + list.what + " " + w.ID, facts: w.facts(), record: raw})
		}
	}
	return items, nil
}
