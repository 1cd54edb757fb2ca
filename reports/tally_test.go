package reports

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// sampleTally returns a tally of one scenario with three locks and three seeds. With etcd
// nothing breaks. With redlock the data breaks with the second and the third seed. The
// scenario does not apply to single.
func sampleTally() *Tally {
	v := &scenarios.Variant{Scenario: "same-pause", Title: "On every system, a pause", Lock: "redlock", Measures: []string{"attempts"}}
	s := &scenarios.Scenario{Name: "same-pause", File: "scenarios/same-pause.yaml", Variants: []*scenarios.Variant{v}}
	t := NewTally([]*scenarios.Scenario{s}, []string{"redlock", "single", "etcd"}, 7)
	t.Seeds = 3
	calls := func(run scenarios.RunResult, n int64) scenarios.RunResult {
		run.Measures = []checks.Measure{{Name: "attempts", Title: "calls of acquire", Figures: []checks.Figure{{Name: "calls", Value: n}, {Name: "waited", Unit: checks.Nanoseconds, Value: n * int64(time.Second)}}}}
		return run
	}
	for i, n := range []int64{5, 9, 1} {
		seed := t.Seed + uint64(i)
		if i == 0 {
			t.Add(0, 0, seed, []scenarios.RunResult{calls(runWithVerdict(off, checks.Safe), n), runWithVerdict(on, checks.Safe)}, "")
		} else {
			t.Add(0, 0, seed, []scenarios.RunResult{calls(runWithVerdict(off, checks.Unsafe, lateWrite...), n), runWithVerdict(on, checks.Safe, checks.SectionExclusion)}, "")
		}
		t.Add(0, 1, seed, nil, "there is one node")
		t.Add(0, 2, seed, []scenarios.RunResult{calls(runWithVerdict(off, checks.Safe), 2), runWithVerdict(on, checks.Safe)}, "")
	}
	return t
}

// For a result that differs between seeds, the report has the command that runs the first
// seed with that result.
func TestTallyAsText(t *testing.T) {
	var b bytes.Buffer
	if err := writeTallyText(&b, sampleTally(), Options{}); err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, b.String(),
		"How often section-exclusion was violated.",
		"  redlock  2/3\n  single   n/a\n  etcd     ✓\n",
		"How often the data was wrong, without fencing tokens → with them.",
		"  redlock  2/3 → ✓\n",
		"same-pause: attempts\n\n  calls of acquire\n",
		"  redlock  5, 9   5s, 9s\n  single   –      –\n  etcd     2      2s\n",
		"same-pause, redlock: unsafe without fencing 2/3, section-exclusion 2/3,",
		"locksim run scenarios/same-pause.yaml --seed 8",
	)
}

func TestTallyAsJSON(t *testing.T) {
	var b bytes.Buffer
	if err := writeTallyJSON(&b, sampleTally(), Options{}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Stories []struct {
			Cells []struct {
				Seeds   int
				Untold  string
				Runs    []struct{ Unsafe jsonTimes }
				Figures []jsonSample
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	redlock, single := doc.Stories[0].Cells[0], doc.Stories[0].Cells[1]
	if want := (jsonTimes{2, 3, "locksim run scenarios/same-pause.yaml --seed 8"}); redlock.Runs[0].Unsafe != want {
		t.Errorf("without fencing redlock is unsafe %+v, want %+v", redlock.Runs[0].Unsafe, want)
	}
	if want := (jsonTimes{0, 3, ""}); redlock.Runs[1].Unsafe != want {
		t.Errorf("with fencing redlock is unsafe %+v, want %+v", redlock.Runs[1].Unsafe, want)
	}
	if want := (jsonSample{"attempts", "calls", "", 3, 1, 5, 9, 9}); redlock.Figures[0] != want {
		t.Errorf("the first figure of redlock is %+v, want %+v", redlock.Figures[0], want)
	}
	if single.Seeds != 0 || single.Untold != "there is one node" {
		t.Errorf("the cell of single, to which the scenario does not apply, is %+v", single)
	}
}

// A run that is not as its scenario expects is reported, with whatever seed it was run.
func TestTallyIsAsExpected(t *testing.T) {
	tally := sampleTally()
	if !tally.AsExpected() {
		t.Error("no run differs, but the tally is not as expected")
	}
	odd := runWithVerdict(off, checks.Safe)
	odd.Differences = reasonsOf("the verdict is safe, expected unsafe")
	tally.Add(0, 2, 10, []scenarios.RunResult{odd, runWithVerdict(on, checks.Safe)}, "")
	if tally.AsExpected() {
		t.Error("a run differs, but the tally is as expected")
	}
}

func TestPercentile(t *testing.T) {
	for _, test := range []struct {
		values []int64
		p      int
		want   int64
	}{
		{[]int64{4}, 50, 4},
		{[]int64{1, 2}, 50, 1},
		{[]int64{1, 2, 3}, 50, 2},
		{[]int64{1, 2, 3, 9}, 99, 9},
		{[]int64{1, 2, 3, 9}, 0, 1},
	} {
		if got := (figureSample{Values: test.values}).percentile(test.p); got != test.want {
			t.Errorf("percentile %d of %v is %d, want %d", test.p, test.values, got, test.want)
		}
	}
}

func TestShortNames(t *testing.T) {
	names := func(all ...string) []string {
		tally := &Tally{}
		for _, name := range all {
			tally.Rows = append(tally.Rows, Row{Scenario: &scenarios.Scenario{Name: name}, Variant: &scenarios.Variant{}})
		}
		return tally.shortNames()
	}
	for _, test := range []struct{ have, want []string }{
		{[]string{"same-gc-pause", "same-alone"}, []string{"gc-pause", "alone"}},
		{[]string{"same-gc-pause"}, []string{"same-gc-pause"}},
		{[]string{"same-gc-pause", "gc-pause"}, []string{"same-gc-pause", "gc-pause"}},
		{[]string{"failover", "failover-acks"}, []string{"failover", "failover-acks"}},
	} {
		if got := names(test.have...); !slices.Equal(got, test.want) {
			t.Errorf("the scenarios %q have the short names %q, want %q", test.have, got, test.want)
		}
	}
}
