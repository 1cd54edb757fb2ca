package main

import (
	"slices"
	"strings"
	"testing"
)

// testOutput is what go test -json prints, in short: two mutants, of which one is caught,
// and a library.
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

// asLines are items as the lines of a file.
func asLines(items []item) []string {
	var all []string
	for _, i := range items {
		all = append(all, i.part+" | "+i.key+" | "+inOneLine(i.facts))
	}
	return all
}

// TestMutantItems: a mutant that is not caught has an item, too.
func TestMutantItems(t *testing.T) {
	found, subtests, err := readTest(testOutput, "TestMutants")
	if err != nil {
		t.Fatal(err)
	}
	items, err := mutantItems("mutants/suite", found, subtests)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"mutants/suite | quorum/late | rule=lease-exclusion story=loss/extend seed=1 worlds=7 replay=LOCKSIM_REPLAY=x go test told=" + digest("both had it"),
		"mutants/suite | single/never | rule=not caught",
	}
	if got := asLines(items); !slices.Equal(got, want) {
		t.Errorf("the items are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLibraryItems: what is found has an item of its own; a story that cannot be told any
// more is seen in the item of the suite.
func TestLibraryItems(t *testing.T) {
	say := func(story string) told { return told{"redsync", []byte(story)} }
	broken := say(`{"story": "late/extend", "worlds": 4, "failed": 2, "problems": [{"rule": "claim: extends", "why": "w", "seed": 1, "command": "c"}]}`)
	sound := say(`{"story": "loss/extend", "worlds": 3, "failed": 0}`)
	untold := say(`{"story": "loss/extend", "worlds": 0, "failed": 0, "untold": "no reason"}`)
	was, err := libraryItems("libraries", []told{broken, sound}, []string{"redsync"})
	if err != nil {
		t.Fatal(err)
	}
	if got := asLines(was); len(got) != 2 ||
		got[0] != "libraries | redsync # late/extend, claim: extends | seed=1 worlds=4 failed=2 replay=c told="+digest("w") ||
		!strings.HasPrefix(got[1], "libraries | redsync # suite | stories=2 worlds=7 by-story=") {
		t.Errorf("the items are\n%s", strings.Join(got, "\n"))
	}
	is, err := libraryItems("libraries", []told{broken, untold}, []string{"redsync"})
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{"libraries": "x"}
	c := comparePart("libraries", baseline{parts, was}, baseline{parts, is})
	if got := c.String(); got != "libraries: 2 items, 1 the same; 1 differ in worlds, by-story" {
		t.Error(got)
	}
}

func TestBugItems(t *testing.T) {
	const line = `{"bug": "late", "module": "bad", "version": "v1.0.0", "broken": ["progress"],
		"told": [{"seed": 1, "trace": "aa", "broken": ["progress"]}, {"seed": 2, "trace": "bb", "broken": []}],
		"suite": [{"story": "loss/extend", "worlds": 7, "failed": 1, "problems": [{"rule": "progress", "why": "w", "seed": 1, "command": "c"}]}]}`
	items, err := bugItems("bugs", strings.ReplaceAll(line, "\n", " ")+"\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"bugs | late # bad, story | version=v1.0.0 broken=progress failed=1 of 2 by-world=" + digest([][]string{{"progress"}, {}}) + " trace=" + digest([]string{"aa", "bb"}),
		"bugs | late # bad, suite: loss/extend, progress | seed=1 worlds=7 failed=1 replay=c told=" + digest("w"),
	}
	if got := asLines(items); !slices.Equal(got, want) {
		t.Errorf("the items are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, bad := range []string{"", "{\n"} {
		if _, err := bugItems("bugs", bad); err == nil {
			t.Errorf("%q makes a part", bad)
		}
	}
}
