package reports

import (
	"slices"

	"github.com/locksim/locksim/scenarios"
)

// variantResults maps the variant of each row of a matrix to its results. It has one result
// for each column, or nil if nothing was run there.
type variantResults map[*scenarios.Variant][]*scenarios.Result

// inOrder returns the results in the order of the matrix's rows, each once.
func (b variantResults) inOrder(m *Matrix) []*scenarios.Result {
	var all []*scenarios.Result
	seen := map[*scenarios.Result]bool{nil: true}
	for _, row := range m.inOrder() {
		for _, r := range b[row.Variant] {
			if !seen[r] {
				seen[r] = true
				all = append(all, r)
			}
		}
	}
	return all
}

// A resultGroup contains the results of one scenario with several locks, at most one for
// each lock.
type resultGroup []*scenarios.Result

// withLock returns the result with the given lock; nil if there is none.
func (t resultGroup) withLock(lock string) *scenarios.Result {
	i := slices.IndexFunc(t, func(r *scenarios.Result) bool { return r.Lock == lock })
	if i < 0 {
		return nil
	}
	return t[i]
}

// groupResults groups the results of each scenario and seed. If there are two results with
// the same lock, they are put into different groups, so that both are reported.
func groupResults(results []*scenarios.Result) []resultGroup {
	type groupKey struct {
		name, file string
		seed       uint64
	}
	var all []resultGroup
	places := map[groupKey][]int{}
	for _, r := range results {
		key := groupKey{r.Scenario.Name, r.Scenario.File, r.Seed}
		free := slices.IndexFunc(places[key], func(i int) bool { return all[i].withLock(r.Lock) == nil })
		if free < 0 {
			places[key] = append(places[key], len(all))
			all = append(all, resultGroup{r})
			continue
		}
		i := places[key][free]
		all[i] = append(all[i], r)
	}
	return all
}

// matrixOf makes a matrix of results. It has a column for each lock if some scenario was
// run with several locks.
func matrixOf(results []*scenarios.Result) (*Matrix, variantResults) {
	m, b := &Matrix{}, variantResults{}
	if len(results) > 0 {
		m.Seed = results[0].Seed
	}
	all := groupResults(results)
	if slices.ContainsFunc(all, func(t resultGroup) bool { return len(t) > 1 }) {
		for _, r := range results {
			if !slices.Contains(m.Locks, r.Lock) {
				m.Locks = append(m.Locks, r.Lock)
			}
		}
	}
	for _, t := range all {
		columns := t
		if len(m.Locks) > 0 {
			columns = nil
			for _, lock := range m.Locks {
				columns = append(columns, t.withLock(lock))
			}
		}
		for _, v := range t.variants() {
			row := Row{Scenario: t[0].Scenario, Variant: v}
			for i, r := range columns {
				row.Cells = append(row.Cells, cellOf(r, v))
				if len(m.Locks) > 0 {
					row.Cells[i].Lock = m.Locks[i]
				}
			}
			m.Rows = append(m.Rows, row)
			b[v] = columns
		}
	}
	return m, b
}

// variants returns the variants that were run with any of the locks.
func (t resultGroup) variants() []*scenarios.Variant {
	var all []*scenarios.Variant
	for _, r := range t {
		for _, run := range r.Runs {
			if !slices.ContainsFunc(all, func(v *scenarios.Variant) bool { return v.Name == run.Variant.Name }) {
				all = append(all, run.Variant)
			}
		}
	}
	return all
}

// cellOf returns the cell for a variant in a result. The result may be nil.
func cellOf(r *scenarios.Result, v *scenarios.Variant) Cell {
	var c Cell
	if r != nil {
		for _, run := range r.Runs {
			if run.Variant.Name == v.Name {
				c.Lock, c.Runs = run.Lock, append(c.Runs, run)
			}
		}
	}
	if !c.hasRuns() {
		c.NotApplicable = "it was not run"
	}
	return c
}

// resultsOf returns the results of a matrix, one for each scenario and column.
func resultsOf(m *Matrix) variantResults {
	type column struct {
		*scenarios.Scenario
		number int
	}
	b, results := variantResults{}, map[column]*scenarios.Result{}
	for _, row := range m.Rows {
		for i, c := range row.Cells {
			if !c.hasRuns() {
				b[row.Variant] = append(b[row.Variant], nil)
				continue
			}
			key := column{row.Scenario, i}
			r := results[key]
			if r == nil {
				r = &scenarios.Result{Scenario: row.Scenario, Lock: c.Lock, Seed: m.Seed}
				results[key] = r
			}
			r.Runs = append(r.Runs, c.Runs...)
			b[row.Variant] = append(b[row.Variant], r)
		}
	}
	for _, r := range results {
		*r = *scenarios.NewResult(r.Scenario, r.Lock, r.Seed, r.Runs)
	}
	return b
}
