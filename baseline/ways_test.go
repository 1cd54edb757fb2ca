package main

import (
	"strings"
	"testing"
)

const aSearch = `{"schema": "locksim/explore/v1", "lock": "single", "worlds": 8487, "first": 17, "stopped": "",
	"bases": [{"name": "contend", "points": 136}],
	"levels": [{"faults": 1, "tried": 3487, "broke": 283, "effect": ["off progress"]}],
	"maps": [{"base": "contend", "client": "client-1", "fencing": "off", "lengths_ns": [1000], "starts": ["acquire"], "cells": [["safe"]]}],
	"ways": [{"id": "paused-client/inherent", "title": "It is paused", "story": "Then it writes.", "cause": ["a pause"],
		"causes": [{"faults": "a pause", "worlds": 14}, {"faults": "a pause and a crash", "worlds": 1}],
		"without_fencing": ["progress"], "with_fencing": [], "fault": "lock", "worlds": 15, "effect": ["off progress"],
		"example": {"base": 0, "faults": [{"text": "pause client-1, for 25s", "kind": "pause", "target": "client-1", "for_ns": 25000000000}]},
		"margins": [{"fault": 0, "survived_ns": 20990000000, "broken_ns": 21000000000}]}],
	"ran_on": []}`

// TestReadExplored: each change of a search is seen in the facts that it belongs to.
func TestReadExplored(t *testing.T) {
	made := func(text string) baseline {
		t.Helper()
		items, err := readExplored([]byte(text), "--lock single", "ways/single")
		if err != nil {
			t.Fatal(err)
		}
		return baseline{map[string]string{"ways/single": "x"}, items}
	}
	was := made(aSearch)
	for _, c := range []struct{ name, old, new, differs string }{
		{"the same", "", "", "2 the same"},
		{"a member that is not known here", `"points": 136`, `"points": 136, "weather": "fine"`, "2 the same"},
		{"a size", "21000000000", "22000000000", "1 the same; 1 differ only in sizes"},
		{"a count", `"worlds": 14`, `"worlds": 13`, "1 the same; 1 differ in by-cause, causes"},
		{"a cause", `"faults": "a pause"`, `"faults": "a stop"`, "1 the same; 1 differ only in causes"},
		{"whose fault", `"fault": "lock"`, `"fault": "inherent"`, "1 the same; 1 differ only in fault"},
		{"what breaks", `"with_fencing": []`, `"with_fencing": ["progress"]`, "1 the same; 1 differ only in with-fencing"},
		{"the example", `25000000000`, `26000000000`, "1 the same; 1 differ only in example"},
		{"the words for it", `for 25s`, `25s long`, "1 the same; 1 differ only in faults"},
		{"the story", `Then it writes`, `It writes`, "1 the same; 1 differ only in told"},
		{"another way", `paused-client/`, `slow-client/`, "1 the same; 1 gone; 1 new"},
		{"the worlds of all", `8487`, `8488`, "1 the same; 1 differ only in worlds"},
		{"what could strike", `136`, `137`, "1 the same; 1 differ only in bases"},
		{"what broke", `283`, `284`, "1 the same; 1 differ only in levels"},
		{"the danger map", `"safe"`, `"unsafe"`, "1 the same; 1 differ only in maps"},
	} {
		got := comparePart("ways/single", was, made(strings.Replace(aSearch, c.old, c.new, 1))).String()
		_, got, _ = strings.Cut(got, " items, ")
		if got != c.differs {
			t.Errorf("%s: %s, want %s", c.name, got, c.differs)
		}
	}
	for _, bad := range []string{"{", strings.Replace(aSearch, "explore/v1", "explore/v2", 1), strings.Replace(aSearch, `"id"`, `"name"`, 1), "{}"} {
		if _, err := readExplored([]byte(bad), "--lock single", "ways/single"); err == nil {
			t.Errorf("it reads %s", shortened(bad))
		}
	}
}
