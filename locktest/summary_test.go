package locktest

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/trace"
)

// The summary shows each mistake once: with the number of its worlds, the example that is
// easiest to understand, and worlds of other test cases. Then it counts the test cases that
// did not fail, and with -v it lists them.
func TestSummary(t *testing.T) {
	late := func(story, lines string) testResult {
		problems := []problem{
			{
				Rule: checks.LeaseExclusion, Mistake: "removes-unchecked", Step: trace.Release, Follows: true,
				Why: "it follows", Address: address{TestCase: story, Seed: 1},
			},
			{
				Rule: checks.ReleaseOwnership, Mistake: "removes-unchecked", Step: trace.Release,
				Why: "client-1 removed client-2's key", Lines: lines, Address: address{TestCase: story, World: "late", Seed: 1},
			},
		}
		return testResult{Worlds: 2, Failed: 1, Problems: problems, Causes: causesOf(problems)}
	}
	hang := failedResult(address{TestCase: "claims/lease", Seed: 1}, checks.Hang, "it waits", "")
	inherent := excuse{checks.SectionExclusion, checks.BlameInherent}
	sum := &summary{subject: &subject{config: Config{Name: "a lock"}, test: "TestLock"}, lists: true}
	for _, tried := range []struct {
		story string
		testResult
	}{
		{"claims/lease", hang},
		{"claims/extend", testResult{Worlds: 1}},
		{"catalogue/gc-pause", testResult{Worlds: 2, Off: checks.Unsafe, On: checks.Safe, Excused: []excuse{inherent}}},
		{"catalogue/release-lua/late", late("catalogue/release-lua/late", "one\ntwo\n")},
		{"loss/release", late("loss/release", "one\ntwo\nthree\n")},
		{"catalogue/no-faults", testResult{Worlds: 2, Off: checks.Safe, On: checks.Safe}},
		{"catalogue/failover", testResult{NotApplicable: "it has no replica"}},
		{"loss/extend", testResult{NotApplicable: "it cannot be extended"}},
	} {
		sum.add(testCase{name: tried.story}, tried.testResult)
	}
	const want = `a lock: 2 mistakes make 3 of 8 test cases fail (10 worlds were run)

1  release removes the key of another acquisition, because it compares nothing
   in 2 worlds of 2 test cases; violates lease-exclusion, release-ownership

   client-1 removed client-2's key
   one
   two
   three

   remedy: let each acquire set a new random value, and remove the key only if it still has
   that value, in one script or by DELEX … IFEQ
   lesson: locksim explain release-without-check
   replay: LOCKSIM_REPLAY='loss/release/late' go test -run '^TestLock$'
   replay: LOCKSIM_REPLAY='catalogue/release-lua/late/late' go test -run '^TestLock$'

2  a call of the lock never returns
   in 1 world of 1 test case; violates hang

   it waits

   remedy: give every wait a context or a timeout
   replay: LOCKSIM_REPLAY='claims/lease' go test -run '^TestLock$'

other test cases: passes (1), holds without fencing tokens (1), breaks without fencing
  tokens (1), not applicable to this lock (2)
not the lock's fault: inherent: needs fencing (1)

  passes
    claims/extend

  holds without fencing tokens
    no-faults

  breaks without fencing tokens
    gc-pause

  not applicable to this lock
    failover, loss/extend`
	if got := sum.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A test in which every result is unknown does not pass: it says so first, with the most
// frequent reason. A method that declares nothing because of its type is named, too.
func TestSummaryOfNothing(t *testing.T) {
	const reason = "the simulated server does not know the function extract"
	unknown := func(story, why string) (testCase, testResult) {
		return testCase{name: story}, testResult{Worlds: 1, Unknown: why, Mistyped: []string{"Lost is a func() int"}}
	}
	sum := &summary{subject: &subject{config: Config{Name: "a lock"}, test: "TestLock"}}
	sum.add(unknown("claims/lease", reason))
	sum.add(unknown("loss/release", reason))
	sum.add(unknown("loss/extend", "another reason"))
	sum.add(testCase{name: "ttl/long"}, testResult{NotApplicable: "it cannot be extended"})
	const want = "a lock: nothing is known about this lock after 4 test cases in 3 worlds unknown: 3 test cases, 2 of them because " + reason
	got := sum.String()
	if words := strings.Join(strings.Fields(got), " "); !sum.showsNothing() || !strings.HasPrefix(words, want) {
		t.Errorf("got:\n%s\nwant it to begin with:\n%s", got, want)
	}
	if n := strings.Count(got, "not judged: a lease's method Lost is a func() int"); n != 1 {
		t.Errorf("the method is named %d times, want once:\n%s", n, got)
	}
	sum.add(testCase{name: "claims/extend"}, testResult{Worlds: 1})
	if sum.showsNothing() || strings.Contains(sum.String(), reason) {
		t.Errorf("with one result it still says that nothing is known:\n%s", sum)
	}
}
