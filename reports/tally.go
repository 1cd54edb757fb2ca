package reports

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A Tally is what stories came to with several locks, counted over many seeds.
type Tally struct {
	// Matrix has the runs of the first seed, with a column for each lock.
	Matrix
	// Seeds is how many seeds there are, from that of the matrix on.
	Seeds int
	// Counts are those of the matrix's cells: by row, then by column.
	Counts [][]Count
}

// NewTally is a tally in which nothing has been counted yet.
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

// Add counts what a row came to with the lock of a column on one more seed: the runs
// without fencing tokens and with them, or why there are none.
func (t *Tally) Add(row, column int, seed uint64, runs []scenarios.Outcome, untold string) {
	cell, count := &t.Rows[row].Cells[column], &t.Counts[row][column]
	if len(runs) == 0 {
		cell.Untold = cmp.Or(cell.Untold, untold)
		return
	}
	if seed == t.Seed {
		cell.Runs = runs
	}
	count.add(seed, runs)
}

// AsExpected is false when some run came to something else than its scenario expects.
func (t *Tally) AsExpected() bool {
	for _, row := range t.Counts {
		if slices.ContainsFunc(row, func(c Count) bool { return c.Unexpected.N > 0 }) {
			return false
		}
	}
	return true
}

// A Count is how often a story came to what with one lock.
type Count struct {
	// Seeds is on how many seeds the story was told: each time without fencing tokens
	// (0 below) and with them (1).
	Seeds int
	// Unsafe and Undecided are verdicts.
	Unsafe, Undecided [2]Times
	// Unexpected are runs that differ from what the scenario expects of this lock.
	Unexpected Times
	// Violated and Judged are in how many runs a property was violated, and was judged at
	// all.
	Violated, Judged map[checks.Property][2]Times
	// Grants are the sections of the runs with fencing, and OwnTokens those with a token
	// that came from the lock or with it, and not from the simulator.
	Grants, OwnTokens int
	// Lost is how many of the Servers that keep the lock went down for good, without
	// fencing, on the last of the seeds; 0 if another took the place of one.
	Lost, Servers int
	// Figures are the numbers of every measure without fencing, in the order of
	// [checks.MeasureNames].
	Figures []Sample
}

// Times is how often something was so, and the seed on which it was so first.
type Times struct {
	N    int
	Seed uint64
}

func (t Times) more(seed uint64) Times {
	if t.N == 0 {
		t.Seed = seed
	}
	t.N++
	return t
}

// A Sample is one figure of a measure over the seeds on which there was one.
type Sample struct {
	Measure, Title, Figure string
	Unit                   checks.Unit
	// Values are in ascending order.
	Values []int64
}

// Percentile is the least value that at least p percent of the values do not exceed.
func (s Sample) Percentile(p int) int64 {
	return s.Values[max(0, (len(s.Values)*p+99)/100-1)]
}

func (c *Count) add(seed uint64, runs []scenarios.Outcome) {
	c.Seeds++
	if c.Violated == nil {
		c.Violated, c.Judged = map[checks.Property][2]Times{}, map[checks.Property][2]Times{}
	}
	for i, run := range runs {
		switch run.Verdict.Verdict {
		case checks.Unsafe:
			c.Unsafe[i] = c.Unsafe[i].more(seed)
		case checks.Undecided:
			c.Undecided[i] = c.Undecided[i].more(seed)
		}
		if len(run.Differences) > 0 {
			c.Unexpected = c.Unexpected.more(seed)
		}
		for _, p := range checks.PropertiesOf(checks.OfMisconduct) {
			more(c.Judged, p, i, seed)
		}
		for _, f := range run.Verdict.Findings {
			if f.Outcome != checks.NotApplicable && f.Property.Card().Of != checks.OfMisconduct {
				more(c.Judged, f.Property, i, seed)
			}
			if f.Outcome == checks.Violated {
				more(c.Violated, f.Property, i, seed)
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

func more(times map[checks.Property][2]Times, p checks.Property, run int, seed uint64) {
	t := times[p]
	t[run] = t[run].more(seed)
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

// sample finds a figure; its Values are none if no run gave one.
func (c Count) sample(measure, figure string) Sample {
	for _, s := range c.Figures {
		if s.Measure == measure && s.Figure == figure {
			return s
		}
	}
	return Sample{}
}

// seeds is how many there are: "20 seeds".
func (t *Tally) seeds() string { return story.Count(t.Seeds, "seed") }
