package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// aRun is a run as locksim run --format json writes it, in short.
const aRun = `{
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

func factsOf(t *testing.T, text string) map[string]string {
	t.Helper()
	var r run
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	facts := map[string]string{}
	for _, f := range r.facts() {
		facts[f.name] = f.value
	}
	return facts
}

// TestFacts: each change of a run is seen in the fact that it belongs to, and in no other;
// what is new in the report is not looked at.
func TestFacts(t *testing.T) {
	before := factsOf(t, aRun)
	for _, c := range []struct{ name, old, new, changes string }{
		{"the same", "", "", ""},
		{"a member that is not known here", `"fencing": "off"`, `"fencing": "off", "weather": "fine"`, ""},
		{"members in another order", `"lease-exclusion": "holds", "section-exclusion": "violated"`, `"section-exclusion": "violated", "lease-exclusion": "holds"`, ""},
		{"the verdict", `"verdict": "unsafe"`, `"verdict": "safe"`, factVerdict},
		{"a property that holds now", `"write-order": "violated"`, `"write-order": "holds"`, factViolated + " " + factJudged},
		{"one that does not apply instead of holding", `"lease-exclusion": "holds"`, `"lease-exclusion": "n/a"`, factJudged},
		{"whose fault", `inherent: needs fencing`, `lock`, factJudged},
		{"which assumption", `inherent: needs fencing`, `assumption: clock`, factJudged},
		{"the moment", `7030205276`, `7030205277`, factJudged},
		{"a witness", `expired": true`, `expired": false`, factJudged},
		{"the assumption of a fault", `"assumption": "process"`, `"assumption": "clock"`, factJudged},
		{"a fault that did not act", `"assumption": "process"`, `"assumption": "process", "idle": "it was down"`, factJudged + " " + factTold},
		{"a torn section", `"section": 2`, `"section": 3`, factJudged},
		{"it ran on while paused", `"variant": ""`, `"variant": "", "ran_on_while_paused": true`, factJudged},
		{"it is not as expected", `"variant": ""`, `"variant": "", "differences": ["the verdict"]`, factJudged + " " + factTold},
		{"a measure", `"calls": 8`, `"calls": 9`, factMeasures},
		{"how long it took", `14026`, `14027`, factMeasures},
		{"how many events", `201`, `202`, factMeasures},
		{"the trace", `b879`, `b87a`, factTrace},
		{"a sentence", `client-2 entered too`, `client-2 came in, too`, factTold},
		{"the events that show it", `[125, 162]`, `[125, 163]`, factTold},
		{"a cycle", `"two"`, `"three"`, factTold},
		{"the words for a fault", `pause client-1`, `client-1 is paused`, factTold},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(aRun, c.old) {
				t.Fatalf("there is no %s", c.old)
			}
			after := factsOf(t, strings.Replace(aRun, c.old, c.new, 1))
			var changed []string
			for _, name := range []string{factVerdict, factViolated, factJudged, factMeasures, factTrace, factTold} {
				if before[name] != after[name] {
					changed = append(changed, name)
				}
			}
			if got := strings.Join(changed, " "); got != c.changes {
				t.Errorf("it changes %q, want %q", got, c.changes)
			}
		})
	}
}

// TestReadReport: a report that lacks what is compared is refused, not taken for one in
// which nothing has changed.
func TestReadReport(t *testing.T) {
	good := `{"schema": "locksim/report/v1", "results": [{"scenario": "gc-pause", "runs": [` + aRun + `]}]}`
	runs, err := readReport([]byte(good), 7)
	if err != nil {
		t.Fatal(err)
	}
	if i, ok := runs["gc-pause --lock redlock --fencing off --seed 7"]; !ok || i.fact(factTrace) != "b879e598d885" || i.fact(factViolated) != "section-exclusion,write-order" {
		t.Errorf("it reads %v", runs)
	}
	for _, c := range []struct{ old, new, says string }{
		{"report/v1", "report/v2", "locksim/report/v2"},
		{"trace_hash", "hash", "trace's hash"},
		{`"verdict"`, `"outcome"`, "the verdict"},
		{`"properties"`, `"rules"`, "the properties"},
		{"{", "", "invalid"},
	} {
		_, err := readReport([]byte(strings.Replace(good, c.old, c.new, 1)), 7)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("with %s for %s: %v, want that it says %q", c.new, c.old, err, c.says)
		}
	}
}

// TestSetup: a run has the arguments with which a shell gets to it.
func TestSetup(t *testing.T) {
	for _, c := range []struct {
		setup setup
		want  string
	}{
		{setup{"gc-pause", "", "redlock"}, "gc-pause --lock redlock --fencing on --seed 3"},
		{setup{"retry", "by hand", "single"}, "retry --variant 'by hand' --lock single --fencing on --seed 3"},
	} {
		if got := c.setup.key("on", 3); got != c.want {
			t.Errorf("%v has %q, want %q", c.setup, got, c.want)
		}
	}
}
