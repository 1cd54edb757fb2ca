package locktest

import (
	"testing"

	"github.com/locksim/locksim/checks"
)

// The summary first lists the test cases that failed, each under the name of its subtest
// and only there. Then it lists the scenarios of the catalogue, by their results.
func TestSummary(t *testing.T) {
	fails := []problem{{Rule: "release-ownership"}}
	inherent := excuse{checks.SectionExclusion, checks.BlameInherent}
	sum := &summary{subject: &subject{config: Config{Name: "a lock"}}}
	for _, told := range []struct {
		story string
		testResult
	}{
		{"claims/lease", testResult{Worlds: 1}},
		{"catalogue/gc-pause", testResult{Worlds: 2, Off: checks.Unsafe, On: checks.Safe, Excused: []excuse{inherent}}},
		{"catalogue/release-lua/late", testResult{Worlds: 2, Failed: 2, Problems: fails, Off: checks.Undecided, On: checks.Safe, Excused: []excuse{inherent}}},
		{"catalogue/release-lua/delayed", testResult{Worlds: 2, Failed: 1, Problems: fails, Off: checks.Safe, On: checks.Safe}},
		{"catalogue/no-faults", testResult{Worlds: 2, Off: checks.Safe, On: checks.Safe}},
		{"catalogue/failover", testResult{NotApplicable: "it has no replica"}},
		{"loss/release", testResult{Worlds: 3, Failed: 1, Problems: fails}},
	} {
		sum.add(testCase{name: told.story}, told.testResult)
	}
	const want = `a lock: 7 test cases in 12 worlds, 3 failed

  failed (3)
    catalogue/release-lua/late, catalogue/release-lua/delayed, loss/release

  holds without fencing tokens (1)
    no-faults

  breaks without fencing tokens (1)
    gc-pause

  not applicable to this lock (1)
    failover

  not the lock's fault, inherent: needs fencing (1)
    gc-pause`
	if got := sum.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
