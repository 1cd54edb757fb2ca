package reports

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// summaryTally returns a tally of four scenarios with two locks. The scenarios are: one
// with a fault, one with a lost server, one with two lost servers, and one that only
// measures. The lock single stops working when its server is lost, and redlock when two
// servers are lost.
func summaryTally() *Tally {
	var compared []*scenarios.Scenario
	for _, v := range []*scenarios.Variant{
		{Scenario: "same-pause", Narrative: scenarios.Narrative{Assumption: "process"}},
		{Scenario: "same-one-down", Narrative: scenarios.Narrative{Assumption: "none"}},
		{Scenario: "same-two-down", Narrative: scenarios.Narrative{Assumption: "none"}},
		{Scenario: "same-alone", Narrative: scenarios.Narrative{Assumption: "none"}, Measures: []string{"traffic"}},
	} {
		v.Lock = "redlock"
		compared = append(compared, &scenarios.Scenario{Name: v.Scenario, File: v.Scenario + ".yaml", Variants: []*scenarios.Variant{v}})
	}
	t := NewTally(compared, []string{"redlock", "single"}, 1)
	t.Seeds = 1
	// add adds the runs of one cell. servers is the number of servers of the lock, and lost are the
	// servers that crash. The run without fencing violates the given properties.
	add := func(row, column, servers int, lost []string, violated ...checks.Property) {
		tr := &trace.Trace{Locks: []trace.LockInfo{{}}}
		for i := range servers {
			tr.Locks[0].Slots = append(tr.Locks[0].Slots, trace.SlotInfo{Node: string(rune('A' + i))})
		}
		for i, node := range lost {
			tr.Events = append(tr.Events, trace.Event{Seq: i + 1, Kind: trace.KindCrash, Process: node, Text: string(trace.Kill)})
		}
		without := runWithVerdict(off, checks.Safe, violated...)
		without.History = history.New(tr)
		without.Measures = []checks.Measure{{Name: "traffic", Figures: []checks.Figure{{Name: "messages per section", Value: int64(10 * servers)}}}}
		with := runWithVerdict(on, checks.Safe)
		with.History = history.New(&trace.Trace{Locks: tr.Locks, Events: []trace.Event{
			{Seq: 1, Kind: trace.KindBegin, Process: "c", Section: 1, Step: trace.Acquire},
			{Seq: 2, Kind: trace.KindEnd, Process: "c", Section: 1, Step: trace.Acquire, OK: true, Token: 1, Minted: column == 0},
		}})
		t.Add(row, column, 1, []scenarios.RunResult{without, with}, "")
	}
	add(0, 0, 3, nil, checks.LeaseExclusion)
	add(1, 0, 3, []string{"A"})
	add(2, 0, 3, []string{"A", "B"}, checks.Progress)
	add(3, 0, 3, nil)
	add(0, 1, 1, nil)
	add(1, 1, 1, []string{"A"}, checks.Progress)
	add(2, 1, 1, []string{"A", "Z"}, checks.Progress) // Z is not a server of the lock
	add(3, 1, 1, nil)
	return t
}

func TestSummaryOfTally(t *testing.T) {
	var b bytes.Buffer
	if err := writeTallyText(&b, summaryTally(), Options{}); err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, b.String(),
		"same-pause.yaml --seed 1;",
		"Summary\n",
		"  redlock  ✗, ✓   yes        1 of 3    30\n  single   ✓, ✓   no         0 of 1    10\n",
	)
	b.Reset()
	if err := writeTallyJSON(&b, summaryTally(), Options{}); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Summary []jsonTallyLock }
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	redlock, single := doc.Summary[0], doc.Summary[1]
	if !*redlock.OwnTokens || *redlock.MayLose != 1 || redlock.Servers != 3 || redlock.Replay != "locksim run same-two-down.yaml --seed 1" {
		t.Errorf("the summary of redlock is %+v", redlock)
	}
	if *single.OwnTokens || *single.MayLose != 0 || single.Servers != 1 || single.Replay != "locksim run same-one-down.yaml --seed 1 --lock single" {
		t.Errorf("the summary of single is %+v", single)
	}
}

// The number of servers that a lock may lose is the largest number that it lost while it
// continued to work. It counts only if the lock also continued to work with every smaller
// number.
func TestMayLose(t *testing.T) {
	works := func(lost int) Count {
		return Count{Seeds: 2, Lost: lost, Servers: 5, Judged: map[checks.Property][2]times{checks.Progress: {{N: 2}}}}
	}
	stops := func(lost int) Count {
		c := works(lost)
		c.Violated = map[checks.Property][2]times{checks.Progress: {{N: 1}}}
		return c
	}
	breaks := works(1)
	breaks.Violated = map[checks.Property][2]times{checks.LeaseExclusion: {{N: 1}}}
	unjudged := stops(1)
	unjudged.Judged = nil
	for _, test := range []struct {
		name   string
		counts []Count // one for each row of the tally
		lost   int     // how many servers the lock may lose
		row    int     // which row shows it; -1 if no row loses a server
	}{
		{"no server is lost", []Count{works(0)}, 0, -1},
		{"the lock works without two servers", []Count{works(2)}, 2, 0},
		{"the lock stops working without three servers", []Count{works(1), works(2), stops(3)}, 2, 2},
		{"the lock stops working in one of two rows without one server", []Count{works(1), stops(1), works(2)}, 0, 1},
		{"two clients hold the lock at the same time without one server", []Count{breaks, works(2)}, 0, 0},
		{"progress is not judged in the row without one server", []Count{unjudged, works(2)}, 2, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			tally := &Tally{Matrix: Matrix{Locks: []string{"redlock"}}}
			for _, c := range test.counts {
				tally.Rows = append(tally.Rows, Row{})
				tally.Counts = append(tally.Counts, []Count{c})
			}
			lost, _, row := tally.maxLost(0)
			if lost != test.lost || row != test.row {
				t.Errorf("the lock may lose %d servers, which row %d shows; want %d and row %d", lost, row, test.lost, test.row)
			}
		})
	}
}

// The measures of a scenario's variants are in one table, with the most important figures.
func TestVariantsAreComparedInOneTable(t *testing.T) {
	measures := []string{"fairness", "attempts"}
	s := &scenarios.Scenario{Name: "crowd", File: "crowd.yaml", Variants: []*scenarios.Variant{
		{Scenario: "crowd", Name: "of-1", Lock: "redlock", Measures: measures},
		{Scenario: "crowd", Name: "of-2", Lock: "redlock", Measures: measures},
	}}
	tally := NewTally([]*scenarios.Scenario{s}, []string{"redlock", "etcd"}, 1)
	tally.Seeds = 1
	for row := range 2 {
		for column := range 2 {
			run := runWithVerdict(off, checks.Safe)
			run.Measures = []checks.Measure{{Name: "attempts", Figures: []checks.Figure{
				{Name: "calls", Value: 77}, {Name: "per grant", Unit: checks.Hundredths, Value: int64(100 + 50*row)},
			}}}
			if row > 0 {
				run.Measures = append(run.Measures, checks.Measure{Name: "fairness", Figures: []checks.Figure{{Name: "Jain index", Unit: checks.Percent, Value: 90}}})
			}
			tally.Add(row, column, 1, []scenarios.RunResult{run, runWithVerdict(on, checks.Safe)}, "")
		}
	}
	tables := tallyTables{tally, noPage}.tables()
	last := tables[len(tables)-1].Table
	var got [][]string
	for _, r := range last.Rows {
		var row []string
		for _, c := range r.Cells {
			row = append(row, c[0].Text)
		}
		got = append(got, row)
	}
	want := [][]string{
		{"redlock, of-1", "1", "–", "–"}, {"redlock, of-2", "1.5", "90 %", "–"},
		{"etcd, of-1", "1", "–", "–"}, {"etcd, of-2", "1.5", "90 %", "–"},
	}
	if a, b := asJSON(t, got), asJSON(t, want); a != b {
		t.Errorf("the rows are %s, want %s", a, b)
	}
	if a, b := asJSON(t, last.Heads), asJSON(t, heads("lock", "attempts: per grant", "fairness: Jain index", "fairness: most overtaken")); a != b {
		t.Errorf("the columns are %s, want %s", a, b)
	}
}

// asJSON returns a value as JSON, so that tests can compare and print it.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
