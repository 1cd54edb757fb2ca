package main

import (
	"strings"
	"testing"
)

// sampleSearch is a shortened report of locksim explore --format json.
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

// TestReadExplored: if a value in the report of a search changes, the facts that contain the value
// change, and no others.
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
	for _, c := range []struct{ name, old, new, differs string }{
		{"no change", "", "", ""},
		{"a new field", `"points": 136`, `"points": 136, "weather": "fine"`, ""},
		{"another margin", "21000000000", "22000000000", "sizes"},
		{"another number of worlds of a cause", `"worlds": 14`, `"worlds": 13`, "by-cause causes"},
		{"another cause", `"faults": "a pause"`, `"faults": "a stop"`, "causes"},
		{"another blame", `"fault": "lock"`, `"fault": "inherent"`, "fault"},
		{"other violated properties with fencing", `"with_fencing": []`, `"with_fencing": ["progress"]`, "with-fencing"},
		{"another size of the example's fault", `25000000000`, `26000000000`, "example"},
		{"the example's fault in other words", `for 25s`, `25s long`, "faults"},
		{"a story in other words", `Then it writes`, `It writes`, "told"},
		{"another id of a way", `paused-client/`, `slow-client/`, "key"},
		{"another number of worlds of the search", `8487`, `8488`, "worlds"},
		{"another number of injection points", `136`, `137`, "bases"},
		{"another number of worlds that broke the lock", `283`, `284`, "levels"},
		{"another danger map", `"safe"`, `"unsafe"`, "maps"},
	} {
		if got := differingFacts(was, linesOf(replaceOnce(t, sampleSearch, c.old, c.new))); got != c.differs {
			t.Errorf("%s: the facts that differ are %q, want %q", c.name, got, c.differs)
		}
	}
	for _, bad := range []string{"{", strings.Replace(sampleSearch, "explore/v1", "explore/v2", 1), strings.Replace(sampleSearch, `"id"`, `"name"`, 1), "{}"} {
		if _, err := readExplored([]byte(bad), "locksim explore --lock single"); err == nil {
			t.Errorf("readExplored accepted %.100s, want an error", bad)
		}
	}
}
