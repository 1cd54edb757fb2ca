package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// annotated is a scenario file. Each line with an expectation ends with a comment that
// names the runs whose expectation is on that line.
const annotated = `title: What is expected, and where it is said
lock: {kind: redlock, ttl: 10s, nodes: 3}
clients:
  client-1: {}
expect:
  off:                                                      # shared-off own-off
    verdict: safe
    violated: []
  on: {verdict: safe, violated: []}                         # shared-on
expect-with:
  redsync:                                                  # shared-on-redsync
    off: {verdict: safe, violated: []}                      # shared-off-redsync
variants:
  shared:
    title: It says nothing of its own
  own:
    title: It says some of it itself
    expect:
      on: {verdict: safe, violated: []}                     # own-on
    expect-with: {single: {on: {verdict: safe, violated: []}}} # own-on-single
`

func TestExpectationLine(t *testing.T) {
	s, err := scenarios.Parse("annotated.yaml", []byte(annotated))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(annotated, "\n")
	for _, test := range []struct {
		variant       int // 0 is shared, 1 is own
		lock, fencing string
		want          string // a word of the comment on the line
	}{
		{0, "", scenarios.Off, "shared-off"},
		{0, "redlock", scenarios.On, "shared-on"},
		{0, "redsync", scenarios.Off, "shared-off-redsync"},
		{0, "redsync", scenarios.On, "shared-on-redsync"}, // the file expects nothing of this run
		{1, "", scenarios.Off, "own-off"},
		{1, "", scenarios.On, "own-on"},
		{1, "single", scenarios.On, "own-on-single"},
	} {
		line := s.Variants[test.variant].ExpectationLine(test.lock, test.fencing)
		_, comment, _ := strings.Cut(lines[line-1], "#")
		if !slices.Contains(strings.Fields(comment), test.want) {
			t.Errorf("the expectation marked %s is found on line %d: %s", test.want, line, lines[line-1])
		}
	}
}

// If the file has no expectation, its line is the first. A variant without a file has line 0.
func TestExpectationLineWithoutExpectation(t *testing.T) {
	s, err := scenarios.Parse("silent.yaml", []byte("title: Nothing is expected\nlock: {kind: redlock, ttl: 10s}\nclients: {client-1: {}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if line := s.Variants[0].ExpectationLine("", scenarios.Off); line != 1 {
		t.Errorf("the line of a file that expects nothing is %d, want 1", line)
	}
	if line := (&scenarios.Variant{}).ExpectationLine("", scenarios.Off); line != 0 {
		t.Errorf("the line of a variant without a file is %d, want 0", line)
	}
}
