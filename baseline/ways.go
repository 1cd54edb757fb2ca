package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A search looks for ways to break one lock: it tries many worlds with faults. A way is a set
// of such worlds with one cause. The results are the part ways/name of the file.
type search struct {
	name string
	args string
	slow bool // see part
}

// searches are all searches. The searches for the project's own locks also try pairs of
// faults. For libraries, single faults are enough, and take less time.
var searches = []search{
	{name: "redlock", args: "--lock redlock --nodes 3 --worlds 5000"},
	{name: "single", args: "--lock single --worlds 5000"},
	{name: "redislock", args: "--lock redislock --max-faults 1"},
	{name: "redislock-defaults", args: "--lock redislock-defaults --max-faults 1"},
	{name: "rueidislock", args: "--lock rueidislock --max-faults 1"},
	{name: "rueidislock-strict", args: "--lock rueidislock-strict --max-faults 1"},
	// Three nodes have a minority and a majority, as five nodes do, but the search takes a
	// third of the time.
	{name: "redsync", args: "--lock redsync --max-faults 1 --nodes 3"},
	// This lock tries 32 times, so there are 32 times as many messages at which a fault can
	// strike.
	{name: "redsync-retrying", args: "--lock redsync-retrying --max-faults 1 --nodes 3", slow: true},
	{name: "redsync-defaults", args: "--lock redsync-defaults --max-faults 1 --nodes 3", slow: true},
}

// explored contains the fields that this program uses of the output of locksim explore
// --format json. It leaves out fields that describe how the search worked, and not what it
// found.
type explored struct {
	Schema  string `json:"schema"`
	Worlds  int    `json:"worlds"`
	First   int    `json:"first"`
	Stopped string `json:"stopped"`
	Bases   []struct {
		Name     string `json:"name"`
		Points   int    `json:"points"`
		Steps    int    `json:"steps"`
		Messages int    `json:"messages"`
		Broke    string `json:"broke"`
		Doubt    string `json:"doubt"`
	} `json:"bases"`
	Levels []struct {
		Faults      int             `json:"faults"`
		Space       uint64          `json:"space"`
		Tried       uint64          `json:"tried"`
		Kinds       uint64          `json:"kinds"`
		KindsTried  uint64          `json:"kinds_tried"`
		Broke       uint64          `json:"broke"`
		BrokeFenced uint64          `json:"broke_fenced"`
		Doubtful    uint64          `json:"doubtful"`
		Effect      json.RawMessage `json:"effect"`
		Behaviours  int             `json:"behaviours"`
	} `json:"levels"`
	Ways  []way `json:"ways"`
	RanOn []way `json:"ran_on"`
	Maps  []struct {
		Base      string          `json:"base"`
		Client    string          `json:"client"`
		Fencing   string          `json:"fencing"`
		LengthsNS []int64         `json:"lengths_ns"`
		Starts    []string        `json:"starts"`
		Cells     json.RawMessage `json:"cells"`
	} `json:"maps"`
}

// A way is a way to break the lock, as the output of locksim explore describes it.
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
		Faults  []struct {
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
		} `json:"faults"`
	} `json:"example"`
	Effect  json.RawMessage `json:"effect"`
	Margins []struct {
		Fault      int   `json:"fault"`
		SurvivedNS int64 `json:"survived_ns"`
		BrokenNS   int64 `json:"broken_ns"`
	} `json:"margins"`
}

// facts returns the facts of a way. sizes are its margins in nanoseconds: for each fault,
// the largest size that the lock survives and the smallest that breaks it.
func (w way) facts() []fact {
	var sizes, counts, faults []string
	for _, m := range w.Margins {
		sizes = append(sizes, fmt.Sprintf("%d:%d..%d", m.Fault, m.SurvivedNS, m.BrokenNS))
	}
	for _, c := range w.Causes {
		counts = append(counts, strconv.Itoa(c.Worlds))
	}
	for i := range w.Example.Faults {
		f := &w.Example.Faults[i]
		faults = append(faults, f.Text)
		f.Text = ""
	}
	return []fact{
		{"fault", w.Fault},
		{"without-fencing", formatList(w.WithoutFencing)},
		{"with-fencing", formatList(w.WithFencing)},
		{"effect", digest(w.Effect)},
		{"example", digest(w.Example)},
		{"sizes", formatList(sizes)},
		{"worlds", strconv.Itoa(w.Worlds)},
		{"by-cause", formatList(counts)},
		{"causes", digest([]any{w.Cause, w.Causes, w.Stages})},
		{"faults", strings.Join(faults, "; ")},
		{"told", digest([]string{w.Title, w.Story})},
	}
}

// explore runs the search in c.jobs threads, and makes its lines.
func (s search) explore(ctx context.Context, c *checkout) ([]line, error) {
	args := append([]string{"explore", "--ways", "", "--jobs", strconv.Itoa(c.jobs), "--format", "json"}, strings.Fields(s.args)...)
	text, err := output(c.newCommand(ctx, c.command, args...))
	if err != nil {
		return nil, err
	}
	return readExplored(text, "locksim explore "+s.args)
}

// readExplored reads the report of a search and makes its lines. command is the command
// that wrote the report.
func readExplored(text []byte, command string) ([]line, error) {
	var e explored
	if err := json.Unmarshal(text, &e); err != nil || e.Schema != "locksim/explore/v1" || e.Worlds == 0 {
		return nil, errors.Join(fmt.Errorf("%s: %d worlds in schema %q; locksim/explore/v1 is read here", command, e.Worlds, e.Schema), err)
	}
	lines := []line{{key: command + " # search", facts: []fact{
		{"stopped", e.Stopped},
		{"ways", strconv.Itoa(len(e.Ways))},
		{"ran-on", strconv.Itoa(len(e.RanOn))},
		{"worlds", strconv.Itoa(e.Worlds)},
		{"first", strconv.Itoa(e.First)},
		{"levels", digest(e.Levels)},
		{"bases", digest(e.Bases)},
		{"maps", digest(e.Maps)},
	}}}
	add := func(what string, ways []way) (err error) {
		for _, w := range ways {
			if w.ID == "" {
				err = fmt.Errorf("%s: a way without an ID", command)
			}
			lines = append(lines, line{key: command + " # " + what + " " + w.ID, facts: w.facts()})
		}
		return err
	}
	return lines, errors.Join(add("way", e.Ways), add("ran on", e.RanOn))
}
