package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// testOutput is a shortened output of go test -json, with two mutants, of which one is
// found, and one library.
const testOutput = `go: downloading something
{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestMutants"}
{"Action":"run","Package":"p","Test":"TestMutants/quorum/late"}
{"Action":"attr","Package":"p","Test":"TestMutants/quorum/late","Key":"finding","Value":"{\"story\":\"loss/extend\",\"worlds\":7,\"failed\":1,\"problems\":[{\"rule\":\"lease-exclusion\",\"why\":\"both had it\",\"seed\":1,\"command\":\"LOCKSIM_REPLAY=x go test\"}]}"}
{"Action":"attr","Package":"p","Test":"TestMutants/quorum/late","Key":"colour","Value":"blue"}
{"Action":"run","Package":"p","Test":"TestMutants/single/never"}
{"Action":"output","Package":"p","Test":"TestMutants/single/never","Output":"nothing\n"}
{"Action":"fail","Package":"p","Test":"TestMutants/single/never"}
`

// joinLines returns lines as they are in the file, with " | " for tabs.
func joinLines(lines []line) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.String())
	}
	return strings.ReplaceAll(strings.Join(all, "\n"), "\t", " | ")
}

// TestMutantLines: a mutant that nothing finds also has a line.
func TestMutantLines(t *testing.T) {
	found, err := readTest([]byte(testOutput), "TestMutants", "go test ./internal/mutants -run TestMutants")
	if err != nil {
		t.Fatal(err)
	}
	want := "go test ./internal/mutants -run TestMutants/quorum/late | rule=lease-exclusion | story=loss/extend | seed=1 | worlds=7 | replay=LOCKSIM_REPLAY=x go test | told=" + digest("both had it") +
		"\ngo test ./internal/mutants -run TestMutants/single/never | rule=not caught"
	if got := joinLines(mutantLines(found)); got != want {
		t.Errorf("the lines are\n%s\nwant\n%s", got, want)
	}
}

// TestLibraryLines: each problem has a line of its own. If a test case no longer applies to
// the library, the line of the whole suite changes.
func TestLibraryLines(t *testing.T) {
	linesOf := func(stories ...string) []line {
		redsync := subtest{name: "redsync", command: "go test -run TestLibraries/redsync"}
		for _, story := range stories {
			var f testFinding
			if err := json.Unmarshal([]byte(story), &f); err != nil {
				t.Fatal(err)
			}
			redsync.findings = append(redsync.findings, f)
		}
		return libraryLines([]subtest{redsync})
	}
	const broken = `{"story": "late/extend", "worlds": 4, "failed": 2, "problems": [{"rule": "claim: extends", "why": "w", "seed": 1, "command": "c"}]}`
	was := linesOf(broken, `{"story": "loss/extend", "worlds": 3, "failed": 0}`)
	if got := joinLines(was); !strings.HasPrefix(got, "go test -run TestLibraries/redsync # late/extend, claim: extends | seed=1 | worlds=4 | failed=2 | replay=c | told="+digest("w")+
		"\ngo test -run TestLibraries/redsync # suite | stories=2 | worlds=7 | by-story=") {
		t.Errorf("the lines are\n%s", got)
	}
	is := linesOf(broken, `{"story": "loss/extend", "worlds": 0, "failed": 0, "untold": "no reason"}`)
	if got := differingFacts(was, is); got != "worlds by-story" {
		t.Errorf("the facts %q differ, want \"worlds by-story\"", got)
	}
}

func TestBugLines(t *testing.T) {
	const text = `{"bug": "late", "module": "bad", "version": "v1.0.0", "broken": ["progress"],
		"told": [{"seed": 1, "trace": "aa", "broken": ["progress"]}, {"seed": 2, "trace": "bb", "broken": []}],
		"suite": [{"story": "loss/extend", "worlds": 7, "failed": 1, "problems": [{"rule": "progress", "why": "w", "seed": 1, "command": "c"}]}]}`
	lines, err := bugLines([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	const key = "go run ./trackrecord/run -check late # bad"
	want := key + ", story | version=v1.0.0 | broken=progress | failed=1 of 2 | by-world=" + digest([][]string{{"progress"}, {}}) + " | trace=" + digest([]string{"aa", "bb"}) +
		"\n" + key + ", suite: loss/extend, progress | seed=1 | worlds=7 | failed=1 | replay=c | told=" + digest("w")
	if got := joinLines(lines); got != want {
		t.Errorf("the lines are\n%s\nwant\n%s", got, want)
	}
	for _, bad := range []string{"", "{\n"} {
		if _, err := bugLines([]byte(bad)); err == nil {
			t.Errorf("bugLines accepts %q, want an error", bad)
		}
	}
}
