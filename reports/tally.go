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
	// Matrix contains the runs with the first seed. It has a column for each lock.
	Matrix
	// Seeds is the number of seeds. The first of them is the seed of the matrix.
	Seeds int
	// Counts has a count for each cell of the matrix, by row and then by column.
	Counts [][]Count
}

// NewTally returns an empty tally for scenarios and locks. seed is the first seed.
func NewTally(catalogue []*scenarios.Scenario, locks []string, seed uint64) *Tally {
	t := &Tally{Matrix: Matrix{Seed: seed, Locks: locks}}
	for _, s := range catalogue {
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

// Add counts the result of one cell with one more seed. runs are the runs without and with
// fencing tokens. If there are none, whyNotApplicable is the reason.
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

// AsExpected reports whether all runs are as their scenarios expect.
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
	// Seeds is the number of seeds with which the variant was run. Each time it was run
	// without fencing tokens (index 0 in the arrays below) and with them (index 1).
	Seeds int
	// Unsafe and Undecided count verdicts.
	Unsafe, Undecided [2]times
	// Unexpected counts runs that differ from what the scenario expects of the lock.
	Unexpected times
	// Violated counts the runs that violate a property. Judged counts the runs to which the
	// property applies.
	Violated, Judged map[checks.Property][2]times
	// Grants counts the critical sections in runs with fencing. OwnTokens counts those
	// whose token the lock issued, and not the simulator.
	Grants, OwnTokens int
	// Servers is the number of servers that keep the lock, and Lost how many of these went
	// down permanently, in the run without fencing with the last seed. Lost is 0 if another
	// server replaced one.
	Lost, Servers int
	// Replaced counts the runs without fencing in which a replica took over from a server.
	Replaced int
	// Figures are the figures of all measures in runs without fencing, in the order of
	// [checks.MeasureNames].
	Figures []figureSample
}

// times says how often something happened. Seed is the first seed with which it happened.
type times struct {
	N    int
	Seed uint64
}

// plus returns the count after one more occurrence, with the given seed.
func (t times) plus(seed uint64) times {
	if t.N == 0 {
		t.Seed = seed
	}
	t.N++
	return t
}

// A figureSample contains the values of one figure of a measure, one for each seed that has it.
type figureSample struct {
	Measure, Title, Figure string
	Unit                   checks.Unit
	// Values are in ascending order.
	Values []int64
}

// percentile returns the smallest value that is greater than or equal to at least p percent
// of the values. There must be at least one value.
func (s figureSample) percentile(p int) int64 {
	return s.Values[max(0, (len(s.Values)*p+99)/100-1)]
}

// add counts the runs with one more seed.
func (c *Count) add(seed uint64, runs []scenarios.RunResult) {
	c.Seeds++
	if c.Violated == nil {
		c.Violated, c.Judged = map[checks.Property][2]times{}, map[checks.Property][2]times{}
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
	if len(runs[0].History.Promotions()) > 0 {
		c.Replaced++
	}
	for _, s := range runs[1].History.Sections() {
		c.Grants++
		if len(s.Minted) > 0 {
			c.OwnTokens++
		}
	}
	for _, m := range runs[0].Measures {
		for _, f := range m.Figures {
			c.addFigure(m, f)
		}
	}
}

// countMore adds one to the count of a property in a run (0 or 1).
func countMore(counts map[checks.Property][2]times, p checks.Property, run int, seed uint64) {
	t := counts[p]
	t[run] = t[run].plus(seed)
	counts[p] = t
}

// addFigure adds the value of a figure to its sample.
func (c *Count) addFigure(m checks.Measure, f checks.Figure) {
	i := slices.IndexFunc(c.Figures, func(s figureSample) bool { return s.Measure == m.Name && s.Figure == f.Name })
	if i < 0 {
		i = len(c.Figures)
		c.Figures = append(c.Figures, figureSample{Measure: m.Name, Title: m.Title, Figure: f.Name, Unit: f.Unit})
	}
	s := &c.Figures[i]
	at, _ := slices.BinarySearch(s.Values, f.Value)
	s.Values = slices.Insert(s.Values, at, f.Value)
}

// sample returns the sample of a figure. It has no Values if no run has the figure.
func (c Count) sample(measure, figure string) figureSample {
	for _, s := range c.Figures {
		if s.Measure == measure && s.Figure == figure {
			return s
		}
	}
	return figureSample{}
}

// seedWords returns the number of seeds in words: "20 seeds".
func (t *Tally) seedWords() string { return story.Count(t.Seeds, "seed") }
