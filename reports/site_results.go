package reports

import (
	"slices"

	"github.com/locksim/locksim/scenarios"
)

// behind are the results behind the rows of a matrix: for each row, by its variant, one
// for each column, or nil where nothing was run.
type behind map[*scenarios.Variant][]*scenarios.Result

// inOrder lists the results in the order of the rows, and each once.
func (b behind) inOrder(m *Matrix) []*scenarios.Result {
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

// A telling is the results of one scenario, each with another lock.
type telling []*scenarios.Result

func (t telling) with(lock string) *scenarios.Result {
	i := slices.IndexFunc(t, func(r *scenarios.Result) bool { return r.Lock == lock })
	if i < 0 {
		return nil
	}
	return t[i]
}

// tellings puts the results of one scenario on one seed together. Two of these with the
// same lock are told apart: nothing says which of them counts.
func tellings(results []*scenarios.Result) []telling {
	type story struct {
		name, file string
		seed       uint64
	}
	var all []telling
	places := map[story][]int{}
	for _, r := range results {
		key := story{r.Scenario.Name, r.Scenario.File, r.Seed}
		free := slices.IndexFunc(places[key], func(i int) bool { return all[i].with(r.Lock) == nil })
		if free < 0 {
			places[key] = append(places[key], len(all))
			all = append(all, telling{r})
			continue
		}
		i := places[key][free]
		all[i] = append(all[i], r)
	}
	return all
}

// matrixOf puts results side by side. There is a column for each lock if some scenario
// was told with several.
func matrixOf(results []*scenarios.Result) (*Matrix, behind) {
	m, b := &Matrix{}, behind{}
	if len(results) > 0 {
		m.Seed = results[0].Seed
	}
	all := tellings(results)
	if slices.ContainsFunc(all, func(t telling) bool { return len(t) > 1 }) {
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
				columns = append(columns, t.with(lock))
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

// variants are those that were run with any lock.
func (t telling) variants() []*scenarios.Variant {
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

// cellOf is what a variant came to in a result; nil is none.
func cellOf(r *scenarios.Result, v *scenarios.Variant) Cell {
	var c Cell
	if r != nil {
		for _, run := range r.Runs {
			if run.Variant.Name == v.Name {
				c.Lock, c.Runs = run.Lock, append(c.Runs, run)
			}
		}
	}
	if !c.told() {
		c.Untold = "it was not run"
	}
	return c
}

// resultsOf are the results that a matrix was made of.
func resultsOf(m *Matrix) behind {
	type column struct {
		*scenarios.Scenario
		number int
	}
	b, results := behind{}, map[column]*scenarios.Result{}
	for _, row := range m.Rows {
		for i, c := range row.Cells {
			if !c.told() {
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
