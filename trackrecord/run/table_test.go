package main

import (
	"strings"
	"testing"
)

var example = row{
	name: "some-bug", title: "It is wrong", source: "https://github.com/a/b/pull/7 and what it says",
	library: "github.com/a/b/v4", breaks: []string{"lease-exclusion", "progress"},
	bad: []string{"v4.0.1: 20 of 20"}, good: []string{"v4.0.2: 0 of 20"},
	foundBy: "late-reply/extend", times: "story: 3ms; suite: 4s, in the first 7 of 9 worlds",
}

const page = "# Title\n\n<!-- table -->\n<!-- end -->\n\nMore.\n"

func TestTableIsWrittenAndReadBack(t *testing.T) {
	text := table{example}.replaceIn(page)
	const line = "| [It is wrong](some-bug/story.yaml) | a/b/v4 | [PR 7](https://github.com/a/b/pull/7) and what it says |" +
		" lease-exclusion, progress | v4.0.1: 20 of 20 | v4.0.2: 0 of 20 | `late-reply/extend` |" +
		" story: 3ms; suite: 4s, in the first 7 of 9 worlds |\n"
	if !strings.Contains(text, header+line) || !strings.HasPrefix(text, "# Title\n") || !strings.HasSuffix(text, "\n\nMore.\n") {
		t.Errorf("the page is\n%s", text)
	}
	back, err := readTable(text)
	if err != nil || len(back) != 1 {
		t.Fatalf("read back as %v, %v", back, err)
	}
	if r := back.row("some-bug"); r == nil || r.foundBy != example.foundBy || r.times != example.times {
		t.Errorf("read back as %+v", r)
	}
	if again := back.replaceIn(text); again != text {
		t.Errorf("the table that was read is written as\n%s\nwant\n%s", again, text)
	}
	if back.row("other-bug") != nil {
		t.Error("the table has a row of other-bug, want only some-bug")
	}
}

func TestOnlyTimesMayDiffer(t *testing.T) {
	was := table{example}
	later, other := example, example
	later.times = "story: 9s"
	other.good = []string{"v4.0.2: 1 of 20"}
	if got := (table{later}); got.withoutTimes() != was.withoutTimes() {
		t.Errorf("a table with another time differs without the times:\n%s%s", got.withoutTimes(), was.withoutTimes())
	}
	if got := (table{other}); got.withoutTimes() == was.withoutTimes() {
		t.Error("a table in which a fixed version fails is equal, want that it differs")
	}
	if got := (table{}); got.withoutTimes() == was.withoutTimes() {
		t.Error("a table without the bug is equal, want that it differs")
	}
}

func TestPageWithoutAPlaceForTheTable(t *testing.T) {
	if _, err := readTable("# Title\n"); err == nil || !strings.Contains(err.Error(), "<!-- table -->") {
		t.Errorf("the error is %v, want one that names the missing line", err)
	}
}
