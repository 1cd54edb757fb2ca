package reports

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// runWithVerdict returns a run with a verdict and some violated properties. It has no
// schedule.
func runWithVerdict(fencing, verdict string, violated ...checks.Property) scenarios.RunResult {
	v := &checks.Verdict{Verdict: verdict}
	for _, p := range checks.Properties() {
		if p == checks.OncePerPeriod || p.Card().Subject == checks.SubjectMisconduct && !slices.Contains(violated, p) {
			continue
		}
		f := checks.Finding{Property: p, Outcome: checks.Holds}
		if slices.Contains(violated, p) {
			f.Outcome = checks.Violated
		}
		v.Findings = append(v.Findings, f)
	}
	return scenarios.RunResult{
		Variant: &scenarios.Variant{}, Lock: "redlock", Fencing: fencing,
		History: history.New(&trace.Trace{}), Verdict: v, Expected: &scenarios.Expectation{},
	}
}

// cell returns the results of a scenario with a lock, without and with fencing.
func cell(lock string, without, with scenarios.RunResult) Cell {
	return Cell{Lock: lock, Runs: []scenarios.RunResult{without, with}}
}

// The runs, and the properties that a late write violates, and that two leases at the same time
// violate.
var (
	off, on = scenarios.Off, scenarios.On

	lateWrite = []checks.Property{checks.SectionExclusion, checks.GrantOrder, checks.WriteOrder, checks.NoLostUpdate, checks.SerialSections}
	twice     = append([]checks.Property{checks.LeaseExclusion}, lateWrite...)
)

// brokenCell returns a cell in which the run without fencing is unsafe, and the run with
// fencing has overlapping sections.
func brokenCell(lock string) Cell {
	return cell(lock, runWithVerdict(off, checks.Unsafe, lateWrite...), runWithVerdict(on, checks.Safe, checks.SectionExclusion))
}

// safeCell returns a cell in which both runs are safe.
func safeCell(lock string) Cell {
	return cell(lock, runWithVerdict(off, checks.Safe), runWithVerdict(on, checks.Safe))
}

// rows returns the rows of a scenario, one for each variant. A variant is given as
// "NAME=WHY".
func rows(group, name, assumption string, cells map[string][]Cell, variants ...string) []Row {
	s := &scenarios.Scenario{Name: name, Group: group, File: "scenarios/" + name + ".yaml", Title: "About " + name}
	var rows []Row
	for _, variant := range variants {
		variant, why, _ := strings.Cut(variant, "=")
		v := &scenarios.Variant{
			Scenario: name, Name: variant, Title: "About " + variant, Lock: "redlock",
			Narrative: scenarios.Narrative{Assumption: assumption, Why: why},
		}
		s.Variants = append(s.Variants, v)
		rows = append(rows, Row{Scenario: s, Variant: v, Cells: cells[variant]})
	}
	return rows
}

// sampleMatrix returns a matrix with a row of every sort. Its rows are not in the order of
// the catalogue.
func sampleMatrix() *Matrix {
	unseen := runWithVerdict(on, checks.Undecided)
	unseen.Verdict.Reasons = reasonsOf(`the witness "client-1 wrote" was not seen`)
	order := runWithVerdict(on, checks.Safe, checks.GrantOrder)
	return &Matrix{Seed: 7, Rows: slices.Concat(
		rows("examples", "no-faults", "none", map[string][]Cell{"": {safeCell("redlock")}}, "=nothing breaks"),
		rows("fencing", "fencing-gap", "process", map[string][]Cell{
			"": {cell("redlock", runWithVerdict(off, checks.Safe, checks.GrantOrder), order)},
		}, "=nobody has shown the newer token yet."),
		rows("fencing", "fencing-lost-update", "process", map[string][]Cell{
			"": {cell("redlock", runWithVerdict(off, checks.Unsafe, lateWrite...), runWithVerdict(on, checks.Unsafe, checks.NoLostUpdate, checks.SerialSections))},
		}, "=the newer holder has read but not written, so the storage does not know its token"),
		rows("debate", "clock-jump", "clock", map[string][]Cell{
			"": {cell("redlock", runWithVerdict(off, checks.Unsafe, twice...), runWithVerdict(on, checks.Safe, checks.SectionExclusion))},
		}, "=two majorities share one node"),
		rows("debate", "delayed-write", "network", map[string][]Cell{
			"waits": {brokenCell("redlock")}, "gives-up": {safeCell("redlock")},
		}, "waits=the write comes late", "gives-up="),
		rows("single-instance", "majority-down", "lock memory", map[string][]Cell{
			"": {cell("redlock", runWithVerdict(off, checks.Unsafe, checks.NoLostUpdate), runWithVerdict(on, checks.Safe, checks.TokenOrder, checks.Progress))},
		}, "="),
		rows("", "of-mine", "", map[string][]Cell{"": {cell("redlock", unseen, unseen)}}, "="),
	)}
}

func TestMatrixAsText(t *testing.T) {
	wantText(t, `
                                   exclusion       fencing tokens
 scenario             assumption   lease  section  without    with
───────────────────────────────────────────────────────────────────────
The debate
 delayed-write
   waits              network      ✓      ✗        ✗ unsafe   ✓ safe
   gives-up           network      ✓      ✓        ✓ safe     ✓ safe
 clock-jump           clock        ✗→✓    ✗        ✗ unsafe   ✓ safe

Single instance and replication
 majority-down        lock memory  ✓      ✓        ✗ unsafe   ! safe tp

Where fencing itself breaks
 fencing-gap          process      ✓      ✓        ! safe g   ! safe g
 fencing-lost-update  process      ✓      ✗→✓      ✗ unsafe   ✗ unsafe

Examples
 no-faults            none         ✓      ✓        ✓ safe     ✓ safe

Without a group
 of-mine                           ✓      ✓        ? unknown  ? unknown

  assumption  what breaks: process (one is stopped), network (a message is late
              or lost), clock (one is wrong), lock memory or storage memory (a
              server forgets)
  lease       lease-exclusion: no two clients hold a lease at the same time
  section     section-exclusion: no two clients are in their critical sections
              at the same time
  ✓ ✗         ✓ holds, ✗ is violated, ✗→✓ is violated without fencing tokens and
              holds with them
  without     the verdict of the run in which the storage checks no fencing
              tokens
  with        the verdict of the same run if the storage checks them
  unsafe      a property of the data is violated: write-order, no-lost-update,
              serial-sections or once-per-period
  safe        all properties of the data hold
  ! safe t    all properties of the data hold, but token-order (every grant's
              fencing token is greater than those of earlier grants) is violated
  ! safe g    all properties of the data hold, but grant-order (no write of an
              older grant is applied after a newer grant) is violated
  ! safe p    all properties of the data hold, but progress (after the last
              fault, some client gets its work done) is violated
  unknown     the run is inconclusive; the list below says why

Breaks without fencing tokens (3)

  delayed-write, waits: the write comes late
  clock-jump: two majorities share one node
  majority-down: with fencing tokens token-order and progress are violated

Breaks even with fencing tokens, and why (1)

  fencing-lost-update: the newer holder has read but not written, so the storage
    does not know its token; violated: no-lost-update and serial-sections

Safe without fencing tokens, and why (3)

  delayed-write, gives-up
  fencing-gap: nobody has shown the newer token yet; but grant-order is violated
  no-faults: nothing breaks

Unknown, and why (1)

  of-mine: the witness "client-1 wrote" was not seen
`, matrix(t, "text", sampleMatrix()))
}

// matrix returns the report on a matrix in a format.
func matrix(t *testing.T, format string, m *Matrix) string {
	t.Helper()
	return matrixIn(t, format, m, Options{})
}

// matrixIn returns the report on a matrix in a format, with options.
func matrixIn(t *testing.T, format string, m *Matrix, o Options) string {
	t.Helper()
	for _, f := range Matrices.Formats() {
		if f.Name == format {
			var b bytes.Buffer
			if err := f.Write(&b, m, o); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
	}
	t.Fatalf("no format %q", format)
	return ""
}

func TestMatrixAsMarkdown(t *testing.T) {
	m := sampleMatrix()
	m.Rows = append(m.Rows, rows("debate", "a|b", "process", map[string][]Cell{"": {brokenCell("redlock")}}, "=a <b> *c*")...)
	got := matrix(t, "markdown", m)
	wantInOrder(t, got,
		"| scenario | assumption | lease-exclusion | section-exclusion | without fencing | with fencing |\n|---|---|---|---|---|---|\n",
		"| **The debate** | | | | | |\n",
		"| [delayed-write](scenarios/delayed-write.yaml) | | | | | |\n",
		"| &emsp;waits | network | ✓ | ✗ | **unsafe** | safe |\n",
		"| &emsp;gives-up | network | ✓ | ✓ | safe | safe |\n",
		"| [clock-jump](scenarios/clock-jump.yaml) | clock | ✗→✓ | ✗ | **unsafe** | safe |\n",
		"| [a\\|b](<scenarios/a%7Cb.yaml>) | process | ✓ | ✗ | **unsafe** | safe |\n",
		"| [majority-down](scenarios/majority-down.yaml) | lock memory | ✓ | ✓ | **unsafe** | safe, ✗ token-order and progress |\n",
		"| [fencing-gap](scenarios/fencing-gap.yaml) | process | ✓ | ✓ | safe, ✗ grant-order | safe, ✗ grant-order |\n",
		"| [of-mine](scenarios/of-mine.yaml) | | ✓ | ✓ | unknown | unknown |\n",
		"\n- **lease-exclusion**: no two clients hold a lease at the same time\n",
		"\n- **safe, ✗ grant-order**: all properties of the data hold, but grant-order (",
		"\n**Breaks without fencing tokens (4)**\n\n- **delayed-write, waits**: the write comes late\n",
		"- **a\\|b**: a &lt;b> \\*c\\*\n",
		"\n**Breaks even with fencing tokens, and why (1)**\n",
		"- **delayed-write, gives-up**\n",
	)
	for range longList {
		m.Rows = append(m.Rows, m.Rows[0])
	}
	wantInOrder(t, matrix(t, "markdown", m), "<details><summary><b>Safe without fencing tokens, and why (23)</b></summary>\n\n- **", "\n\n</details>\n")
}

func TestMatrixAsJSON(t *testing.T) {
	var got struct {
		Schema string
		Seed   uint64
		Locks  []string
		Rows   []struct {
			Scenario, Variant, Group, Title, File, Assumption, Why string
			Cells                                                  []struct {
				Lock       string
				Own        bool
				AsExpected *bool `json:"as_expected"`
				Untold     string
				Runs       []struct {
					Fencing, Verdict string
					Reasons          []string
					Properties       map[checks.Property]checks.Outcome
				}
			}
		}
	}
	m := sampleMatrix()
	m.Rows[0].Cells = append(m.Rows[0].Cells, Cell{Lock: "single", NotApplicable: "it has no nodes"})
	text := matrix(t, "json", m)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != "locksim/matrix/v1" || got.Seed != 7 || got.Locks == nil || len(got.Locks) != 0 || len(got.Rows) != 8 {
		t.Fatalf("the document is %+v", got)
	}
	first, last := got.Rows[0], got.Rows[6]
	if first.Scenario != "delayed-write" || first.Variant != "waits" || first.Group != "debate" || first.Title != "About waits" ||
		first.File != "scenarios/delayed-write.yaml" || first.Assumption != "network" || first.Why != "the write comes late" {
		t.Errorf("the first row is %+v", first)
	}
	c := first.Cells[0]
	if c.Lock != "redlock" || !c.Own || c.AsExpected == nil || !*c.AsExpected || c.Untold != "" || len(c.Runs) != 2 {
		t.Errorf("the cell of the first row is %+v", c)
	}
	run := c.Runs[0]
	if run.Fencing != "off" || run.Verdict != "unsafe" || len(run.Properties) != len(checks.Properties())-1-len(checks.PropertiesOf(checks.SubjectMisconduct)) ||
		run.Properties["write-order"] != "violated" || run.Properties["lease-exclusion"] != "holds" {
		t.Errorf("the first run of the first row is %+v", run)
	}
	if last.Scenario != "no-faults" || len(last.Cells) != 2 || last.Cells[1].Own || last.Cells[1].Untold != "it has no nodes" ||
		last.Cells[1].Runs == nil || last.Cells[1].AsExpected != nil {
		t.Errorf("the row of no-faults is %+v", last)
	}
	if mine := got.Rows[7]; mine.Cells[0].Runs[0].Reasons[0] != `the witness "client-1 wrote" was not seen` {
		t.Errorf("the last row is %+v", mine)
	}
	if matrix(t, "json", m) != text {
		t.Error("the same matrix gives another document the second time")
	}
}

// With --lock there is a column for each lock. An entry of a list names its locks, unless
// these are all locks.
func TestMatrixOfLocks(t *testing.T) {
	unseen := runWithVerdict(on, checks.Undecided)
	unseen.Verdict.Reasons = reasonsOf("nobody came")
	unforeseen := brokenCell("redsync")
	for i := range unforeseen.Runs {
		unforeseen.Runs[i].Expected = nil
	}
	m := &Matrix{Locks: []string{"single", "redlock", "redsync"}, Rows: slices.Concat(
		rows("debate", "gc-pause", "process", map[string][]Cell{
			"": {brokenCell("single"), brokenCell("redlock"), unforeseen},
		}, "=the pause outlasts the lease"),
		rows("debate", "clock-jump", "clock", map[string][]Cell{
			"": {{Lock: "single", NotApplicable: "the lock has one node"}, cell("redlock", runWithVerdict(off, checks.Unsafe, twice...), runWithVerdict(on, checks.Safe, twice[:2]...)), cell("redsync", unseen, unseen)},
		}, "=two majorities share one node"),
		rows("fencing", "fencing-gap", "process", map[string][]Cell{
			"": {safeCell("single"), safeCell("redlock"), cell("redsync", runWithVerdict(off, checks.Unsafe, lateWrite...), runWithVerdict(on, checks.Safe, checks.Progress))},
		}, "=nobody has shown the newer token yet"),
	)}
	got := matrix(t, "text", m)
	wantText(t, `
 scenario     single  redlock  redsync
──────────────────────────────────────
The debate
 gc-pause     ✓✗ ✗→✓  ✓✗ ✗→✓   ✓✗ ✗→✓
 clock-jump   n/a     ✗✗ ✗→✓   ?

Where fencing itself breaks
 fencing-gap  ✓✓ ✓    ✓✓ ✓     ✓✗ ✗→!p
`, got[:strings.Index(got, "\n\n  ✓✗ ")+1])
	wantInOrder(t, got,
		"\n  !p data   all properties of the data hold, but progress",
		"\n  ?         the run is inconclusive",
		"\n  n/a       the scenario does not apply to this lock",
		"\nBreaks without fencing tokens (3)\n",
		"\n  gc-pause: the pause outlasts the lease\n"+
			"  clock-jump (redlock): two majorities share one node\n"+
			"  fencing-gap (redsync): nobody has shown the newer token yet; but with fencing\n    tokens progress is violated\n",
		"Safe without fencing tokens, and why (1)\n\n  fencing-gap (single, redlock): nobody has shown the newer token yet\n",
		"Unknown, and why (1)\n\n  clock-jump (redsync): nobody came\n",
		"Not applicable to this lock, and why (1)\n\n  clock-jump (single): the lock has one node\n",
	)
	wantInOrder(t, matrix(t, "markdown", m),
		"| scenario | single | redlock | redsync |\n|---|---|---|---|\n",
		"| [clock-jump](scenarios/clock-jump.yaml) | n/a | ✗✗ **unsafe** → safe | unknown |\n",
		"✓✗ **unsafe** → safe, ✗ progress |\n",
		"\n- **a → b**: ",
	)
}

// The scenario's own explanation is given only for locks of which the scenario expects
// something.
func TestExplanationIsOnlyForExpectedLocks(t *testing.T) {
	c := brokenCell("redsync")
	c.Runs[0].Expected = nil
	m := &Matrix{Locks: []string{"redsync"}, Rows: rows("debate", "gc-pause", "process", map[string][]Cell{"": {c}}, "=the pause outlasts the lease")}
	wantInOrder(t, matrix(t, "text", m), "tokens (1)\n\n  gc-pause\n")
	m.Rows[0].Cells[0].Lock = "redlock" // this is the scenario's own lock
	wantInOrder(t, matrix(t, "text", m), "tokens (1)\n\n  gc-pause: the pause outlasts the lease\n")
}

func TestMatrixNamesUnexpectedVerdicts(t *testing.T) {
	m := sampleMatrix()
	if m.AsExpected() {
		t.Error("a verdict on a scenario's own lock is unknown, but the matrix is as expected")
	}
	m.Rows = m.Rows[:len(m.Rows)-1]
	if !m.AsExpected() {
		t.Error("nothing differs, but the matrix is not as expected")
	}
	if strings.Contains(matrix(t, "text", m), "Not as") {
		t.Error("nothing differs, but the matrix lists something as not expected")
	}
	m.Rows[0].Cells[0].Runs[1].Differences = append(reasonsOf("the verdict is safe, expected unsafe"),
		checks.Reason{Code: "cut-off-too-early", Args: []any{time.Second + 1, history.Never}})
	if m.AsExpected() {
		t.Error("a run differs, but the matrix is as expected")
	}
	wantInOrder(t, matrix(t, "text", m),
		"\nNot as its scenario expects (1)\n\n  no-faults, with fencing: the verdict is safe, expected unsafe; the run was cut\n    off at 1.000s, before the bound for progress at the end of the run\n",
		"\nBreaks without fencing tokens (3)\n")
}

// An unknown verdict is an error only with the scenario's own lock. With another lock only
// expectations of the scenario count.
func TestUnknownVerdictOfAnotherLockIsNoError(t *testing.T) {
	unseen := runWithVerdict(on, checks.Undecided)
	m := &Matrix{Locks: []string{"single", "redsync"}, Rows: rows("debate", "gc-pause", "process", map[string][]Cell{
		"": {cell("single", unseen, unseen), {Lock: "redsync", NotApplicable: "no"}},
	}, "=")}
	if !m.AsExpected() {
		t.Error("nothing is expected of the lock single, but the matrix is not as expected")
	}
	m.Rows[0].Cells[1].Lock = "redlock"
	if m.AsExpected() {
		t.Error("a scenario does not apply to its own lock, but the matrix is as expected")
	}
}

func TestColouredMatrixSaysTheSame(t *testing.T) {
	for _, m := range []*Matrix{sampleMatrix(), {}} {
		plain, coloured := matrix(t, "text", m), matrixIn(t, "text", m, Options{Palette: Colour})
		if len(m.Rows) > 0 && plain == coloured {
			t.Error("the coloured matrix has no colour")
		}
		if stripColours(coloured) != plain {
			t.Errorf("without its colours the coloured matrix is\n%s\nwant\n%s", stripColours(coloured), plain)
		}
	}
}

// The longest names, assumptions and verdicts of the catalogue fit the narrowest terminals
// in use.
func TestMatrixFitsThePage(t *testing.T) {
	m := &Matrix{}
	for _, s := range scenarios.Embedded() {
		for _, v := range s.Variants {
			c := brokenCell(v.Lock)
			if len(m.Rows) == 0 {
				c = cell(v.Lock, runWithVerdict(off, checks.Unsafe, twice...), runWithVerdict(on, checks.Safe, checks.TokenOrder, checks.Progress))
			}
			m.Rows = append(m.Rows, Row{Scenario: s, Variant: v, Cells: []Cell{c}})
		}
	}
	for line := range strings.Lines(matrix(t, "text", m)) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > pageWidth {
			t.Errorf("a line is %d columns wide: %s", n, line)
		}
	}
}

// A cell without runs because its lock is not linked into the program counts neither as
// expected nor as unexpected.
func TestCellsThatAreNotRun(t *testing.T) {
	const why = "the lock abacus is not linked into this program"
	m := &Matrix{Rows: slices.Concat(
		rows("examples", "no-faults", "none", map[string][]Cell{"": {safeCell("redlock")}}, "=nothing breaks"),
		rows("debate", "counted", "clock", map[string][]Cell{"": {{Lock: "redlock", NotRun: why}}}, "="),
	)}
	if !m.AsExpected() || m.NotRun() != 1 {
		t.Errorf("the matrix is as expected: %v, with %d cells not run; want true and 1", m.AsExpected(), m.NotRun())
	}
	for format, says := range map[string][]string{
		"text": {"n/a", "Not run, and why (1)", "the lock abacus is not linked"}, "markdown": {"n/a", "Not run, and why (1)", why},
		"html": {"n/a", ", 1 not run", why}, "json": {`"not_run": 1,`, `"not_run": "` + why + `"`, `"as_expected": null`},
	} {
		got := matrix(t, format, m)
		for _, want := range says {
			if !strings.Contains(got, want) {
				t.Errorf("the format %s does not contain %q:\n%s", format, want, got)
			}
		}
	}
	tally := NewTally([]*scenarios.Scenario{m.Rows[1].Scenario}, []string{"abacus"}, 1)
	tally.Rows[0].Cells[0].NotRun = why
	for format, says := range map[string]string{"text": "abacus: 1 variant: ", "markdown": why, "html": "Not run, and why", "json": `"not_run": 1,`} {
		f, _ := Tallies.Lookup(format)
		var b strings.Builder
		if err := f.Write(&b, tally, Options{}); err != nil || !strings.Contains(b.String(), says) {
			t.Errorf("the comparison in the format %s does not contain %q: %v\n%s", format, says, err, &b)
		}
	}
}
