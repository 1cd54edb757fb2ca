package locktest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/locktest"
)

// Only the test cases that the Config selects are run, in their order.
func TestConfigSelectsTestCases(t *testing.T) {
	config := locktest.Config{OwnClock: true, Stories: func(name string) bool { return strings.HasPrefix(name, "loss/") || name == "claims/lease" }}
	var run []string
	for f := range locktest.Survey(t, config, constructorOf(t, "single")) {
		run = append(run, f.TestCase)
	}
	if len(run) < 3 || run[0] != "claims/lease" || slices.ContainsFunc(run[1:], func(name string) bool { return !strings.HasPrefix(name, "loss/") }) {
		t.Errorf("the test cases %q were run; want claims/lease and the test cases under loss/", run)
	}
}

// Survey yields the results of test cases in the order of Run, with the problems of each.
// It fails no test.
func TestSurvey(t *testing.T) {
	seen := 0
	for f := range locktest.Survey(t, locktest.Config{OwnClock: true, Command: "go test -tags redis"}, constructorOf(t, "single-plain-del")) {
		seen++
		if f.TestCase == "claims/lease" {
			if seen != 1 || f.Worlds != 1 || f.Failed != 0 || len(f.Problems) > 0 {
				t.Errorf("test case no. %d: %+v; want the first, in one world, without a problem", seen, f)
			}
			continue
		}
		if f.TestCase == "claims/extend" && (f.NotApplicable == "" || f.Worlds != 0) {
			t.Errorf("the finding is %+v; want not applicable to a lock that does not claim to extend", f)
		}
		if f.TestCase == "loss/release" {
			for _, p := range f.Problems {
				if p.Rule == "release-ownership" && p.Why != "" && p.Seed == 1 && p.Command == "LOCKSIM_REPLAY='"+p.Replay+"' go test -tags redis -run '^TestSurvey$'" {
					return // no other test case is needed here
				}
			}
			t.Errorf("the finding is %+v; want a violation of release-ownership on seed 1, with its replay command", f)
			return
		}
	}
	t.Errorf("loss/release was not among %d test cases", seen)
}

// One test can call Run several times, with different locks. Each call has its own workers.
func TestRunTwiceInOneTest(t *testing.T) {
	isUndisturbed := func(story string) bool { return story == "undisturbed" }
	locktest.Run(t, locktest.Config{Stories: isUndisturbed}, constructorOf(t, "single"))
	locktest.Run(t, locktest.Config{Nodes: 3, Stories: isUndisturbed}, constructorOf(t, "redlock"))
}
