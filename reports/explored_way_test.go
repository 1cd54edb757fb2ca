package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Every property has a short word for tables. For misconduct, and for damage that is no
// property, the word is its own name.
func TestEveryPropertyHasAShortWord(t *testing.T) {
	for _, p := range checks.Properties() {
		if got := breakageWords([]string{string(p)}); len(got) != 1 || (got[0] == string(p)) != (p.Card().Subject == checks.SubjectMisconduct) {
			t.Errorf("the short word for %s is %q", p, got)
		}
		if got := breakageLegend([]explore.Way{{On: []string{string(p)}}}); len(got) != 1 || !strings.Contains(string(got[0].Text), string(p)) {
			t.Errorf("the legend explains %s as %v, want one explanation that names the property", p, got)
		}
	}
	got := breakageWords([]string{"serial-sections", "goroutine leak", "lease-exclusion", "write-order"})
	if strings.Join(got, "; ") != "two leases; data; goroutine leak" {
		t.Errorf("the short words are %q", got)
	}
}

// The causes other than that of the example are listed. The first of them are named, and
// the rest is counted.
func TestOtherCauses(t *testing.T) {
	all := []explore.Cause{
		{Faults: "a pause and a crash", Worlds: 9}, {Faults: "a pause", Worlds: 1000},
		{Faults: "a crash", Worlds: 1}, {Faults: "x", Worlds: 1}, {Faults: "y", Worlds: 1}, {Faults: "z", Worlds: 1},
	}
	for _, c := range []struct {
		own  []string // the causes of the example
		n    int      // the way has the first n of all
		want string
	}{
		{nil, 0, ""},
		{[]string{"a pause", "a crash"}, 1, ""},
		{[]string{"a pause"}, 1, "a pause and a crash (9)"},
		{[]string{"a pause", "a crash"}, 4, "a pause (1,000), a crash (1), x (1)"},
		{[]string{"a pause"}, 6, "a pause and a crash (9), a crash (1), x (1), 2 more"},
	} {
		if got := otherCauses(explore.Way{Cause: c.own, Causes: all[:c.n]}); got != c.want {
			t.Errorf("the first %d causes besides %q are %q, want %q", c.n, c.own, got, c.want)
		}
	}
}

func TestStagesWords(t *testing.T) {
	for want, stages := range map[string][]string{
		"":                     nil,
		"during write":         {"write"},
		"during read or write": {"read", "write"},
		"during read, work or write, or between two steps": {"read", "work", "write", "between steps"},
		"between two steps": {"between steps"},
	} {
		if got := stagesWords(explore.Way{Stages: stages}); got != want {
			t.Errorf("the stages %q are described as %q, want %q", stages, got, want)
		}
	}
}

// A late write is nobody's fault if leases and sections did not overlap. For any other way
// without a blame, the blame is shown as unknown.
func TestBlameWords(t *testing.T) {
	none := checks.Blame{}
	late := []string{"grant-order", "write-order", "no-lost-update"}
	for _, c := range []struct {
		off, on []string
		fault   checks.Blame // the blame of the way
		want    string
	}{
		{late, nil, none, "nobody's"},
		{nil, late, none, "nobody's"},
		{late, nil, checks.BlameLock, "lock"},
		{late, nil, checks.BlameAssumption(trace.AssumeClock), "assumption: clock"},
		{append(late, "section-exclusion"), nil, none, "?"},
		{late, []string{"lease-exclusion"}, none, "?"},
		{[]string{"no-lost-update"}, nil, none, "?"},
		{[]string{"progress"}, []string{"progress"}, none, "?"},
	} {
		w := explore.Way{Off: c.off, On: c.on, Blame: c.fault}
		if got := blameWords(w); got != c.want {
			t.Errorf("a way that breaks %q without fencing and %q with it, and has the blame %q: the blame is shown as %q, want %q", c.off, c.on, c.fault, got, c.want)
		}
		about := strings.TrimSuffix(c.want, ": clock")
		if rows := faultLegend([]explore.Way{w}); len(rows) != 1 || string(rows[0].About) != about {
			t.Errorf("the blame %q is explained as %v, want one explanation", about, rows)
		}
	}
}

// A fault is described as in the report of a run, but its duration is not rounded.
func TestExploredFaultWords(t *testing.T) {
	w := runs.WorldSpec{Change: scenarios.Change{Persistence: map[string]sim.Persistence{"redis-1": "everysec"}}}
	for want, f := range map[string]runs.Fault{
		"pause client-1, before client-1 write, for 29.88s": pauseFor(29880 * ms),
		"partition client-1, from redis-4 and redis-5, at the start": {
			Fault: sim.Fault{Action: &sim.Partition{Process: "client-1", From: []string{"redis-4", "redis-5"}}},
		},
		"jump redis-3, by -31s, when client-1 read": {
			Fault: sim.Fault{Action: &sim.Jump{Process: "redis-3", By: -31 * s}, Strikes: strikesAt(trace.Action{Process: "client-1", Verb: trace.HasRead})},
		},
		"crash redis-1, at the start, for 1m, with persistence everysec": {
			Fault: sim.Fault{Action: &sim.CrashFault{Process: "redis-1"}, For: 60 * s},
		},
		"delay client-1, to storage, by 12.345s, at the start, for 12.345s": {
			Fault: sim.Fault{Action: &sim.Delay{Process: "client-1", To: "storage", By: 12345 * ms}, For: 12345 * ms},
		},
	} {
		if got := exploredFaultWords(w, f); got != want {
			t.Errorf("the fault is described as %q, want %q", got, want)
		}
	}
}

// A long stack is cut at its end. A long line in it is cut at its beginning.
func TestStack(t *testing.T) {
	if got := stack(explore.Way{}, exploredWidth); got != nil {
		t.Errorf("a way without a stack has the lines %q", got)
	}
	lines := "\t" + strings.Repeat("é", 95) + "end"
	for i := range 30 {
		lines += fmt.Sprintf("\n%d", i)
	}
	got := stack(explore.Way{Why: "panic: x", Stack: lines + "\n"}, exploredWidth)
	// There are 32 lines, of which 24 are shown. The second line has 2+95+3 columns, and
	// only 96 fit.
	if len(got) != 25 || got[1] != "…"+strings.Repeat("é", 92)+"end" || got[24] != "… and 8 more lines, see the JSON report" {
		t.Errorf("the lines of the stack are %q", got)
	}
}
