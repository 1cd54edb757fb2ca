package locktest

import (
	"testing"

	"github.com/locksim/locksim/checks"
)

// The summary lists what failed first, under the name of its subtest and nowhere else. Then
// it lists the scenarios of the catalogue, by their results.
func TestSummary(t *testing.T) {
	fails := []problem{{Rule: "release-ownership"}}
	inherent := excuse{checks.SectionExclusion, checks.FaultInherent}
	sum := &summary{subject: &subject{config: Config{Name: "a lock"}}}
	for _, told := range []struct {
		story string
		outcome
	}{
		{"claims/lease", outcome{Worlds: 1}},
		{"catalogue/gc-pause", outcome{Worlds: 2, Off: checks.Unsafe, On: checks.Safe, Excused: []excuse{inherent}}},
		{"catalogue/release-lua/late", outcome{Worlds: 2, Failed: 2, Problems: fails, Off: checks.Undecided, On: checks.Safe, Excused: []excuse{inherent}}},
		{"catalogue/release-lua/delayed", outcome{Worlds: 2, Failed: 1, Problems: fails, Off: checks.Safe, On: checks.Safe}},
		{"catalogue/no-faults", outcome{Worlds: 2, Off: checks.Safe, On: checks.Safe}},
		{"catalogue/failover", outcome{Untold: "it has no replica"}},
		{"loss/release", outcome{Worlds: 3, Failed: 1, Problems: fails}},
	} {
		sum.add(story{name: told.story}, told.outcome)
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
