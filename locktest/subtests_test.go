package locktest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/locksim/locksim/locktest"
)

// The processes that run the worlds find a subtest whatever its name is. Go itself appends a
// number to the name of a subtest that has no name, or the name of an earlier one.
func TestSubtestsOfAnyName(t *testing.T) {
	for _, name := range []string{"", "twice", "twice", "redis#1", "two words", "a/b"} {
		t.Run(name, func(t *testing.T) {
			worlds := 0
			for f := range locktest.Survey(t, locktest.Config{Stories: func(name string) bool { return name == "undisturbed" }}, constructorOf(t, "single")) {
				worlds += f.Worlds
				for _, p := range f.Problems {
					t.Errorf("%s: %s", p.Rule, p.Why)
				}
			}
			if worlds == 0 {
				t.Error("no world was run")
			}
		})
	}
}

// If a test does something else in the processes that run the worlds, the error says so, and
// does not blame the lock.
func TestSubtestThatIsSkippedInAWorker(t *testing.T) {
	if os.Getenv("LOCKSIM_WORKER") != "" {
		t.Skip("as a test that is skipped at night might do")
	}
	problems := 0
	for f := range locktest.Survey(t, locktest.Config{Stories: func(name string) bool { return name == "undisturbed" }}, constructorOf(t, "single")) {
		for _, p := range f.Problems {
			problems++
			if p.Rule != "error" || !strings.Contains(p.Why, "in processes of its own") {
				t.Errorf("the problem is %s: %s", p.Rule, p.Why)
			}
		}
	}
	if problems == 0 {
		t.Error("no problem is reported")
	}
}
