package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// sampleRun is a shortened run in the format of locksim run --format json.
const sampleRun = `{
	"variant": "", "fencing": "off", "lock": "redlock", "verdict": "unsafe",
	"properties": {"lease-exclusion": "holds", "section-exclusion": "violated", "write-order": "violated"},
	"findings": [
		{"property": "section-exclusion", "outcome": "violated", "reason": "client-2 entered too", "fault": "inherent: needs fencing", "at_ns": 7030205276, "events": [125, 162]},
		{"property": "write-order", "outcome": "violated", "reason": "it replaced a newer write", "at_ns": 14024158672, "cycle": ["one", "two"]},
		{"property": "lease-exclusion", "outcome": "holds", "reason": "as far as one can see"}
	],
	"witnesses": {"client-1's keys expired": true},
	"measures": {"attempts": {"calls": 8, "failed": 3}},
	"faults": [{"text": "pause client-1", "assumption": "process"}],
	"torn": [{"client": "client-1", "section": 2, "reason": "it was cut short"}],
	"trace_hash": "b879e598d8858214bea1f843169c391e", "virtual_ms": 14026, "events": 201
}`

// readRun returns a line with the facts of a run. text is in the format of sampleRun.
func readRun(t *testing.T, text []byte) []line {
	t.Helper()
	var r run
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return []line{{facts: r.facts()}}
}

// TestFacts: each change in the report of a run changes the fact that it belongs to, and no
// other fact. A new field in the report changes nothing.
func TestFacts(t *testing.T) {
	before := readRun(t, []byte(sampleRun))
	for _, c := range []struct {
		name     string
		old, new string // new replaces old in sampleRun
		changes  string // the names of the facts that change
	}{
		{"nothing changes", "", "", ""},
		{"a field that is not compared is added", `"fencing": "off"`, `"fencing": "off", "weather": "fine"`, ""},
		{"fields have another order", `"lease-exclusion": "holds", "section-exclusion": "violated"`, `"section-exclusion": "violated", "lease-exclusion": "holds"`, ""},
		{"the verdict changes", `"verdict": "unsafe"`, `"verdict": "safe"`, "verdict"},
		{"a violated property now holds", `"write-order": "violated"`, `"write-order": "holds"`, "violated judged"},
		{"a property that held no longer applies", `"lease-exclusion": "holds"`, `"lease-exclusion": "n/a"`, "judged"},
		{"the blame changes to the lock", `inherent: needs fencing`, `lock`, "judged"},
		{"the blame changes to an assumption", `inherent: needs fencing`, `assumption: clock`, "judged"},
		{"the time of a violation changes", `7030205276`, `7030205277`, "judged"},
		{"a witness is not seen", `expired": true`, `expired": false`, "judged"},
		{"a fault breaks another assumption", `"assumption": "process"`, `"assumption": "clock"`, "judged"},
		{"a fault does not act", `"assumption": "process"`, `"assumption": "process", "idle": "it was down"`, "judged told"},
		{"another section is torn", `"section": 2`, `"section": 3`, "judged"},
		{"a paused process keeps running", `"variant": ""`, `"variant": "", "ran_on_while_paused": true`, "judged"},
		{"the run is not as expected", `"variant": ""`, `"variant": "", "differences": ["the verdict"]`, "judged told"},
		{"a measure changes", `"calls": 8`, `"calls": 9`, "measures"},
		{"the virtual time changes", `14026`, `14027`, "measures"},
		{"the number of events changes", `201`, `202`, "measures"},
		{"the hash of the trace changes", `b879`, `b87a`, "trace"},
		{"the reason of a finding changes", `client-2 entered too`, `client-2 came in, too`, "told"},
		{"the events of a finding change", `[125, 162]`, `[125, 163]`, "told"},
		{"the cycle of a finding changes", `"two"`, `"three"`, "told"},
		{"the description of a fault changes", `pause client-1`, `client-1 is paused`, "told"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := differingFacts(before, readRun(t, replaceOnce(t, sampleRun, c.old, c.new))); got != c.changes {
				t.Errorf("the facts %q change, want %q", got, c.changes)
			}
		})
	}
}

// TestReadReport: a report without the values that are compared is an error. Otherwise it
// would look like a report in which nothing has changed.
func TestReadReport(t *testing.T) {
	good := `{"schema": "locksim/report/v1", "results": [{"scenario": "gc-pause", "runs": [` + sampleRun + `]}]}`
	runs, err := readReport([]byte(good), 7)
	if err != nil {
		t.Fatal(err)
	}
	facts := line{facts: runs[place{gcPauseOnRedlock, "off", 7}]}
	if facts.fact("trace") != "b879e598d885" || facts.fact("violated") != "section-exclusion,write-order" {
		t.Errorf("the facts that are read are %v", runs)
	}
	for _, c := range []struct{ old, new, says string }{
		{"report/v1", "report/v2", "locksim/report/v2"},
		{"trace_hash", "hash", "trace's hash"},
		{`"verdict"`, `"outcome"`, "the verdict"},
		{`"properties"`, `"rules"`, "the properties"},
		{"{", "", "invalid"},
	} {
		_, err := readReport(replaceOnce(t, good, c.old, c.new), 7)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("with %s in place of %s the error is %v, want one that contains %q", c.new, c.old, err, c.says)
		}
	}
}

var gcPauseOnRedlock = setup{"gc-pause", "", "redlock"}

// sharedLine returns the line of a scenario on the seeds 2 to 4, with these verdicts and
// traces. The traces with fencing tokens begin with "on-".
func sharedLine(verdicts, traces string) line {
	var runs [2][]line
	for i, prefix := range []string{"", "on-"} {
		for n, tr := range strings.Fields(traces) {
			runs[i] = append(runs[i], line{facts: []fact{{"verdict", strings.Fields(verdicts)[n]}, {"violated", "progress"}, {"trace", prefix + tr}}})
		}
	}
	return combineRuns(gcPauseOnRedlock.command()+" --seed 2-4", 2, runs)
}

// TestShare: a line for several runs counts the runs by verdict. Its marks show on which
// seeds the runs differ from those of another commit, even if the runs only have another
// order.
func TestShare(t *testing.T) {
	if got := sharedLine("safe unsafe safe", "aa bb cc"); got.key != "locksim run gc-pause --lock redlock --seed 2-4" || got.fact("verdict") != "safe:2,unsafe:1/safe:2,unsafe:1" {
		t.Errorf("the line for three seeds is %v", got)
	}
	was := sharedLine("safe safe safe", "aa bb cc")
	if got := was.fact("verdict"); got != "safe/safe" {
		t.Errorf("the verdicts of six safe runs are combined as %q, want \"safe/safe\"", got)
	}
	for traces, want := range map[string]string{"aa bb cc": "", "aa xx cc": "3", "aa cc bb": "3 4", "x y z": "2 3 4"} {
		is := sharedLine("safe safe safe", traces)
		var seeds []string
		for i, mark := range strings.Fields(was.fact("by-seed")) {
			if seed, _, _ := strings.Cut(mark, ":"); strings.Fields(is.fact("by-seed"))[i] != mark {
				seeds = append(seeds, seed)
			}
		}
		if got := strings.Join(seeds, " "); got != want {
			t.Errorf("the traces %s differ on the seeds %q, want %q", traces, got, want)
		}
		if same := was.fact("trace") == is.fact("trace"); same != (want == "") {
			t.Errorf("the traces %s: the digest of all traces is the same: %v, want the opposite", traces, same)
		}
	}
}

// TestErrorOfAFailedRun: the error contains the command that failed, and its message.
func TestErrorOfAFailedRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command here is a shell script")
	}
	script := filepath.Join(t.TempDir(), "locksim")
	if err := os.WriteFile(script, []byte(`#!/bin/sh
case "$1" in
list) echo '{"schema": "locksim/list/v1", "scenarios": [{"name": "stuck", "variants": [{"name": "", "locks": ["redlock"]}]}]}' ;;
*) echo "the world is stuck" >&2; exit 1 ;;
esac
`), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := makeScenarios(1, 1)(t.Context(), &checkout{command: script, jobs: 2})
	if err == nil || !strings.Contains(err.Error(), "run stuck --seed 1") || !strings.Contains(err.Error(), "the world is stuck") {
		t.Errorf("the error is %v, want one with the command and its message", err)
	}
}
