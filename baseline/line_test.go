package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReplacePart: replacePart keeps the lines of other parts, replaces those of the part,
// and sorts all of them. A value that contains a tab or a line break does not break its
// line in two.
func TestReplacePart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "known.txt")
	// put replaces the lines of a part, and returns the number of changed lines.
	put := func(part string, lines ...line) int {
		t.Helper()
		changed, err := replacePart(file, part, lines)
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	put("ways/single", line{"explore", []fact{{"fault", "lock"}}})
	put("bugs", line{"b", []fact{{"replay", "x\ty\nz=1"}}}, line{"a", []fact{{"trace", "1"}}}, line{"gone", nil})
	if changed := put("bugs", line{"b", []fact{{"replay", "x\ty\nz=1"}}}, line{"a", []fact{{"trace", "2"}}}); changed != 1 {
		t.Errorf("replacePart reports %d changed lines, want 1", changed)
	}
	text, err := os.ReadFile(file)
	if want := "bugs\ta\ttrace=2\nbugs\tb\treplay=x\\ty\\nz=1\nways/single\texplore\tfault=lock\n"; err != nil || string(text) != want {
		t.Errorf("the file is\n%s, %v, want\n%s", text, err, want)
	}
}

// TestChooseParts: a name selects all parts whose names begin with it. A slow part is selected
// only by its full name. The error for an unknown name lists the known ones.
func TestChooseParts(t *testing.T) {
	for only, want := range map[string]string{
		"scenarios/1":           "scenarios/1",
		"mutants,scenarios":     "mutants/suite mutants/explored scenarios/1 scenarios/2-20",
		"ways/redsync-retrying": "ways/redsync-retrying",
		"ways":                  "ways/redlock ways/single ways/redislock ways/redislock-defaults ways/rueidislock ways/rueidislock-strict ways/redsync",
	} {
		some, err := chooseParts(only)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range some {
			names = append(names, p.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("the name %s selects %s, want %s", only, got, want)
		}
	}
	if some, err := chooseParts(""); err != nil || len(some) != len(parts())-2 {
		t.Errorf("no name selects %d parts, with the error %v; want all %d parts except the two slow ones", len(some), err, len(parts()))
	}
	if _, err := chooseParts("wys"); err == nil || !strings.Contains(err.Error(), "there are scenarios/1, scenarios/2-20") {
		t.Errorf("the error for the unknown name wys is %v", err)
	}
}

// differingFacts returns the names of the facts in which two lists of lines differ. It returns
// "lines" if the lists are not equally long; "key" is for a line with another key.
func differingFacts(was, is []line) string {
	if len(was) != len(is) {
		return "lines"
	}
	var names []string
	for i := range was {
		if was[i].key != is[i].key {
			names = append(names, "key")
			continue
		}
		for _, f := range was[i].facts {
			if is[i].fact(f.name) != f.value {
				names = append(names, f.name)
			}
		}
	}
	return strings.Join(names, " ")
}

// replaceOnce replaces a part of a text; it fails the test if the text does not contain
// that part.
func replaceOnce(t *testing.T, text, old, new string) []byte {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the text does not contain %s", old)
	}
	return []byte(strings.Replace(text, old, new, 1))
}
