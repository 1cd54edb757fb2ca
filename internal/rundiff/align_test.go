package rundiff_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/rundiff"
	"github.com/locksim/locksim/internal/story"
)

// steps makes steps from lines such as "3 client-1 waits": a time in seconds, a subject and a
// predicate.
func steps(lines ...string) []story.Clause {
	var all []story.Clause
	for _, line := range lines {
		var at int
		var subject string
		if _, err := fmt.Sscan(line, &at, &subject); err != nil {
			panic(err) // a mistake in the test
		}
		_, predicate, _ := strings.Cut(line, subject+" ")
		all = append(all, story.Clause{At: time.Duration(at) * time.Second, Subject: story.Raw(subject), Predicate: story.Raw(predicate)})
	}
	return all
}

// draw writes rows as "left = right", with a dash for a step that is missing.
func draw(rows []rundiff.Row) string {
	var lines []string
	word := func(c *story.Clause) string {
		if c == nil {
			return "-"
		}
		return fmt.Sprintf("%d %s %s", int(c.At.Seconds()), c.Subject, c.Predicate)
	}
	for _, r := range rows {
		sign := "|"
		if r.IsSame() {
			sign = "="
		}
		lines = append(lines, word(r.Left)+" "+sign+" "+word(r.Right))
	}
	return strings.Join(lines, "\n")
}

func TestAlign(t *testing.T) {
	for _, c := range []struct {
		name        string
		left, right []story.Clause
		want        string
	}{
		{"the same steps at other times are in one row", steps("1 a waits", "2 a works"), steps("3 a waits", "4 a works"),
			"1 a waits = 3 a waits\n2 a works = 4 a works"},
		{"a step with another number corresponds", steps("1 a reads version 3"), steps("1 a reads version 14"),
			"1 a reads version 3 | 1 a reads version 14"},
		{"a step of another process does not", steps("1 a waits"), steps("2 b waits"),
			"1 a waits | -\n- | 2 b waits"},
		{"a step that only one run has is alone", steps("1 a waits", "2 b stops", "3 a works"), steps("1 a waits", "5 a works"),
			"1 a waits = 1 a waits\n2 b stops | -\n3 a works = 5 a works"},
		{"the exact step is taken before one with another number", steps("1 a reads 1", "2 a reads 2"), steps("1 a reads 2"),
			"1 a reads 1 | -\n2 a reads 2 = 1 a reads 2"},
		{"steps that are alone are in the order of their times", steps("5 a waits", "9 c ends"), steps("3 b waits", "9 c ends"),
			"- | 3 b waits\n5 a waits | -\n9 c ends = 9 c ends"},
		{"no steps", nil, nil, ""},
	} {
		if got := draw(rundiff.Align(c.left, c.right)); got != c.want {
			t.Errorf("%s: the rows are\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// Steps are common until one differs, also if only its time differs.
func TestCommonSteps(t *testing.T) {
	left := steps("1 a waits", "2 a works", "3 a ends")
	for want, right := range map[int][]story.Clause{
		3: left,
		2: steps("1 a waits", "2 a works", "4 a ends"),
		1: steps("1 a waits", "2 a sleeps", "3 a ends"),
		0: steps("1 b waits", "2 a works", "3 a ends"),
	} {
		if got := rundiff.CommonSteps(left, right); got != want {
			t.Errorf("%d steps are common, want %d", got, want)
		}
	}
	if got := rundiff.CommonSteps(left, left[:2]); got != 2 {
		t.Errorf("%d steps are common with a shorter run, want 2", got)
	}
}
