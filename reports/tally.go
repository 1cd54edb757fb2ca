package reports

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A Tally counts the results of scenarios with several locks over many seeds.
type Tally struct {
	// Matrix has the runs of the first seed, with a column for each lock.
	Matrix
	// Seeds is the number of seeds, the first of which is that of the matrix.
	Seeds int
	// Counts are the counts for the matrix's cells: by row, then by column.
	Counts [][]Count
}

// NewTally returns a tally without any counts.
func NewTally(stories []*scenarios.Scenario, locks []string, seed uint64) *Tally {
	t := &Tally{Matrix: Matrix{Seed: seed, Locks: locks}}
	for _, s := range stories {
		for _, v := range s.Variants {
			row := Row{Scenario: s, Variant: v}
			for _, lock := range locks {
				row.Cells = append(row.Cells, Cell{Lock: lock})
			}
			t.Rows = append(t.Rows, row)
			t.Counts = append(t.Counts, make([]Count, len(locks)))
		}
	}
	return t
}

// Add counts the result of a row with the lock of a column on one more seed: the runs
// without and with fencing tokens, or the reason why there are none.
func (t *Tally) Add(row, column int, seed uint64, runs []scenarios.RunResult, whyNotApplicable string) {
	cell, count := &t.Rows[row].Cells[column], &t.Counts[row][column]
	if len(runs) == 0 {
		cell.NotApplicable = cmp.Or(cell.NotApplicable, whyNotApplicable)
		return
	}
	if seed == t.Seed {
		cell.Runs = runs
	}
	count.add(seed, runs)
}

// AsExpected reports whether no run differs from what its scenario expects.
func (t *Tally) AsExpected() bool {
	for _, row := range t.Counts {
		if slices.ContainsFunc(row, func(c Count) bool { return c.Unexpected.N > 0 }) {
			return false
		}
	}
	return true
}

// A Count counts the results of one variant with one lock.
type Count struct {
	// Seeds is the number of seeds on which the variant was run, each time without fencing
	// tokens (index 0 below) and with them (index 1).
	Seeds int
	// Unsafe and Undecided count verdicts.
	Unsafe, Undecided [2]Times
	// Unexpected counts runs that differ from what the scenario expects of this lock.
	Unexpected Times
	// Violated and Judged count the runs in which a property was violated, and in which it
	// was judged at all.
	Violated, Judged map[checks.Property][2]Times
	// Grants counts the sections of the runs with fencing, and OwnTokens those whose token
	// came with the lock and not from the simulator.
	Grants, OwnTokens int
	// Lost is how many of the Servers that keep the lock went down permanently, without
	// fencing, on the last seed; 0 if another server replaced one.
	Lost, Servers int
	// Figures are the figures of every measure without fencing, in the order of
	// [checks.MeasureNames].
	Figures []Sample
}

// Times counts how often something happened; Seed is the first seed on which it did.
type Times struct {
	N    int
	Seed uint64
}

func (t Times) plus(seed uint64) Times {
	if t.N == 0 {
		t.Seed = seed
	}
	t.N++
	return t
}

// A Sample contains one figure of a measure for all seeds that have it.
type Sample struct {
	Measure, Title, Figure string
	Unit                   checks.Unit
	// Values are in ascending order.
	Values []int64
}

// Percentile returns the smallest value that at least p percent of the values do not
// exceed.
func (s Sample) Percentile(p int) int64 {
	return s.Values[max(0, (len(s.Values)*p+99)/100-1)]
}

func (c *Count) add(seed uint64, runs []scenarios.RunResult) {
	c.Seeds++
	if c.Violated == nil {
		c.Violated, c.Judged = map[checks.Property][2]Times{}, map[checks.Property][2]Times{}
	}
	for i, run := range runs {
		switch run.Verdict.Verdict {
		case checks.Unsafe:
			c.Unsafe[i] = c.Unsafe[i].plus(seed)
		case checks.Undecided:
			c.Undecided[i] = c.Undecided[i].plus(seed)
		}
		if len(run.Differences) > 0 {
			c.Unexpected = c.Unexpected.plus(seed)
		}
		for _, p := range checks.PropertiesOf(checks.SubjectMisconduct) {
			countMore(c.Judged, p, i, seed)
		}
		for _, f := range run.Verdict.Findings {
			if f.Outcome != checks.NotApplicable && f.Property.Card().Subject != checks.SubjectMisconduct {
				countMore(c.Judged, f.Property, i, seed)
			}
			if f.Outcome == checks.Violated {
				countMore(c.Violated, f.Property, i, seed)
			}
		}
	}
	c.Lost, c.Servers = runs[0].History.LostServers()
	for _, s := range runs[1].History.Sections() {
		c.Grants++
		if len(s.Minted) > 0 {
			c.OwnTokens++
		}
	}
	for _, m := range runs[0].Measures {
		for _, f := range m.Figures {
			c.figure(m, f)
		}
	}
}

func countMore(times map[checks.Property][2]Times, p checks.Property, run int, seed uint64) {
	t := times[p]
	t[run] = t[run].plus(seed)
	times[p] = t
}

// figure adds a number to its sample.
func (c *Count) figure(m checks.Measure, f checks.Figure) {
	i := slices.IndexFunc(c.Figures, func(s Sample) bool { return s.Measure == m.Name && s.Figure == f.Name })
	if i < 0 {
		i = len(c.Figures)
		c.Figures = append(c.Figures, Sample{Measure: m.Name, Title: m.Title, Figure: f.Name, Unit: f.Unit})
	}
	s := &c.Figures[i]
	at, _ := slices.BinarySearch(s.Values, f.Value)
	s.Values = slices.Insert(s.Values, at, f.Value)
}

// sample returns the sample of a figure; it has no Values if no run has the figure.
func (c Count) sample(measure, figure string) Sample {
	for _, s := range c.Figures {
		if s.Measure == measure && s.Figure == figure {
			return s
		}
	}
	return Sample{}
}

// seeds returns the number of seeds in words: "20 seeds".
func (t *Tally) seeds() string { return story.Count(t.Seeds, "seed") }
