package main

import (
	"strings"
	"testing"
)

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
	made := func(text []byte) []line {
		t.Helper()
		lines, err := readExplored(text, "locksim explore --lock single")
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	was := made([]byte(sampleSearch))
	for _, c := range []struct{ name, old, new, differs string }{
		{"the same", "", "", ""},
		{"a member that is not known here", `"points": 136`, `"points": 136, "weather": "fine"`, ""},
		{"a size", "21000000000", "22000000000", "sizes"},
		{"a count", `"worlds": 14`, `"worlds": 13`, "by-cause causes"},
		{"a cause", `"faults": "a pause"`, `"faults": "a stop"`, "causes"},
		{"whose fault", `"fault": "lock"`, `"fault": "inherent"`, "fault"},
		{"what breaks", `"with_fencing": []`, `"with_fencing": ["progress"]`, "with-fencing"},
		{"the example", `25000000000`, `26000000000`, "example"},
		{"the words for it", `for 25s`, `25s long`, "faults"},
		{"the story", `Then it writes`, `It writes`, "told"},
		{"another way", `paused-client/`, `slow-client/`, "key"},
		{"the worlds of all", `8487`, `8488`, "worlds"},
		{"what could strike", `136`, `137`, "bases"},
		{"what broke", `283`, `284`, "levels"},
		{"the danger map", `"safe"`, `"unsafe"`, "maps"},
	} {
		if got := differingFacts(was, made(replaceOnce(t, sampleSearch, c.old, c.new))); got != c.differs {
			t.Errorf("%s: %s, want %s", c.name, got, c.differs)
		}
	}
	for _, bad := range []string{"{", strings.Replace(sampleSearch, "explore/v1", "explore/v2", 1), strings.Replace(sampleSearch, `"id"`, `"name"`, 1), "{}"} {
		if _, err := readExplored([]byte(bad), "locksim explore --lock single"); err == nil {
			t.Errorf("it reads %.100s", bad)
		}
	}
}
