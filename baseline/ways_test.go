package main

import (
	"strings"
	"testing"
)

// sampleSearch is a shortened report in the format of locksim explore --format json.
const sampleSearch = `{"schema": "locksim/explore/v1", "lock": "single", "worlds": 8487, "first": 17, "stopped": "",
	"bases": [{"name": "contend", "points": 136}],
	"levels": [{"faults": 1, "tried": 3487, "broke": 283, "effect": ["off progress"]}],
	"maps": [{"base": "contend", "client": "client-1", "fencing": "off", "lengths_ns": [1000], "starts": ["acquire"], "cells": [["safe"]]}],
	"ways": [{"id": "paused-client/inherent", "title": "It is paused", "story": "Then it writes.", "cause": ["a pause"],
		"causes": [{"faults": "a pause", "worlds": 14}, {"faults": "a pause and a crash", "worlds": 1}],
		"without_fencing": ["progress"], "with_fencing": [], "fault": "lock", "worlds": 15, "effect": ["off progress"],
		"example": {"base": 0, "faults": [{"text": "pause client-1, for 25s", "kind": "pause", "target": "client-1", "for_ns": 25000000000}]},
		"margins": [{"fault": 0, "survived_ns": 20990000000, "broken_ns": 21000000000}]}],
	"ran_on": []}`

// TestReadExplored: each change in the report of a search changes the facts that it belongs
// to.
func TestReadExplored(t *testing.T) {
	linesOf := func(text []byte) []line {
		t.Helper()
		lines, err := readExplored(text, "locksim explore --lock single")
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	was := linesOf([]byte(sampleSearch))
	for _, c := range []struct {
		name     string
		old, new string // new replaces old in sampleSearch
		differs  string // the names of the facts that change
	}{
		{"nothing changes", "", "", ""},
		{"a field that is not compared is added", `"points": 136`, `"points": 136, "weather": "fine"`, ""},
		{"the size of a margin changes", "21000000000", "22000000000", "sizes"},
		{"the number of worlds of a cause changes", `"worlds": 14`, `"worlds": 13`, "by-cause causes"},
		{"the faults of a cause change", `"faults": "a pause"`, `"faults": "a stop"`, "causes"},
		{"the blame for a way changes", `"fault": "lock"`, `"fault": "inherent"`, "fault"},
		{"a way breaks more with fencing", `"with_fencing": []`, `"with_fencing": ["progress"]`, "with-fencing"},
		{"the fault of an example changes", `25000000000`, `26000000000`, "example"},
		{"the description of a fault changes", `for 25s`, `25s long`, "faults"},
		{"the story of a way changes", `Then it writes`, `It writes`, "told"},
		{"a way has another ID", `paused-client/`, `slow-client/`, "key"},
		{"the number of all worlds changes", `8487`, `8488`, "worlds"},
		{"the number of injection points changes", `136`, `137`, "bases"},
		{"the number of worlds that broke changes", `283`, `284`, "levels"},
		{"a cell of the danger map changes", `"safe"`, `"unsafe"`, "maps"},
	} {
		if got := differingFacts(was, linesOf(replaceOnce(t, sampleSearch, c.old, c.new))); got != c.differs {
			t.Errorf("%s: the facts %q change, want %q", c.name, got, c.differs)
		}
	}
	for _, bad := range []string{"{", strings.Replace(sampleSearch, "explore/v1", "explore/v2", 1), strings.Replace(sampleSearch, `"id"`, `"name"`, 1), "{}"} {
		if _, err := readExplored([]byte(bad), "locksim explore --lock single"); err == nil {
			t.Errorf("readExplored accepts %.100s, want an error", bad)
		}
	}
}
