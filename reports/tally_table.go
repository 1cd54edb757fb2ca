package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A tallyTable is one table of a tally. It answers one question.
type tallyTable struct {
	ID, Title, About string
	Table            table
}

// A tallyRow is a row about one lock in one scenario. row is the index of the scenario's row in
// the matrix, and lock is the index of the lock's column. In tables with a column for each
// scenario, row is not used.
type tallyRow struct {
	name      string
	row, lock int
}

// A tallyColumn is a column, with a func that returns its cell in each row.
type tallyColumn struct {
	head span
	cell func(tallyRow) span
}

// tallyTables makes the tables of a tally. Each cell links to the page about its scenario
// and lock.
type tallyTables struct {
	*Tally
	pages pageFinder
}

// tables returns all tables of the tally.
func (t tallyTables) tables() []tallyTable {
	violationsTable := func(p checks.Property) tallyTable {
		return t.scenariosTable(capitalize(p.Title()), "How often "+string(p)+" was violated.", func(c Count) span {
			return frequency(c.Violated[p][0], c.Judged[p][0].N)
		})
	}
	tables := slices.Concat(t.summary(), []tallyTable{
		violationsTable(checks.LeaseExclusion),
		violationsTable(checks.SectionExclusion),
		t.scenariosTable("Wrong data", "How often the data was wrong, without fencing tokens → with them.", wrongData),
		violationsTable(checks.Progress),
	})
	for i, row := range t.Rows {
		switch variants := t.variantRows(row.Scenario); {
		case len(variants) == 1:
			tables = append(tables, t.costTables(i, row)...)
		case i == variants[0]:
			tables = append(tables, t.sideBySide(variants)...)
		}
	}
	ids := pageNames{}
	for i := range tables {
		tables[i].ID = ids.name("table", tables[i].Title)
	}
	return tables
}

// variantRows returns the indexes of the rows of one scenario.
func (t *Tally) variantRows(s *scenarios.Scenario) (rows []int) {
	for i, row := range t.Rows {
		if row.Scenario == s {
			rows = append(rows, i)
		}
	}
	return rows
}

// lockRows returns a table row for each lock, all about the scenario in matrix row i.
func (t *Tally) lockRows(i int) []tallyRow {
	var rows []tallyRow
	for lock, name := range t.Locks {
		rows = append(rows, tallyRow{story.Visible(name), i, lock})
	}
	return rows
}

// newTallyTable returns a table with the given rows and columns.
func newTallyTable(title, about string, rows []tallyRow, columns []tallyColumn) tallyTable {
	out := table{Heads: heads("lock"), narrow: true}
	for _, c := range columns {
		out.Heads = append(out.Heads, c.head)
	}
	for _, r := range rows {
		cells := []tableCell{plainCell(r.name)}
		for _, c := range columns {
			cells = append(cells, tableCell{c.cell(r)})
		}
		out.add(cells...)
	}
	return tallyTable{Title: title, About: about, Table: out}
}

// scenariosTable returns a table with a column for each scenario. makeCell returns the
// content of a cell from its counts.
func (t tallyTables) scenariosTable(title, about string, makeCell func(Count) span) tallyTable {
	var columns []tallyColumn
	for i := range t.Rows {
		columns = append(columns, t.scenarioColumn(i, makeCell))
	}
	return newTallyTable(title, about, t.lockRows(0), columns)
}

// scenarioColumn returns the column of one scenario. Its cell is "n/a" if the scenario does
// not apply to the lock, and "?" if the verdict of a run is unknown. Otherwise makeCell
// returns it. The head links to the scenario's file.
func (t tallyTables) scenarioColumn(i int, makeCell func(Count) span) tallyColumn {
	return tallyColumn{t.columnHead(i), func(r tallyRow) span {
		result := span{Text: "n/a", Tone: "soft"}
		switch c := t.Counts[i][r.lock]; {
		case c.Seeds == 0:
		case c.Undecided[0].N > 0 || c.Undecided[1].N > 0:
			result = span{Text: "?", Tone: "doubt"}
		default:
			result = makeCell(c)
		}
		return t.linkTo(result, i, r.lock)
	}}
}

// columnHead returns the head of the column for a scenario.
func (t *Tally) columnHead(i int) span {
	return span{Text: t.shortNames()[i], Tone: plain, Link: t.Rows[i].Scenario.File}
}

// linkTo adds a link to the page about a scenario with a lock.
func (t tallyTables) linkTo(s span, row, lock int) span {
	s.Link = t.pages(t.Rows[row], lock).To
	return s
}

// frequency says how often something bad happened, out of the given number of times: never
// (✓), always (✗), or a fraction.
func frequency(t times, total int) span {
	switch {
	case total == 0:
		return span{Text: "–", Tone: "soft"}
	case t.N == 0:
		return span{Text: "✓", Tone: "good"}
	case t.N == total:
		return span{Text: "✗", Tone: "bad"}
	}
	return span{Text: fmt.Sprintf("%d/%d", t.N, total), Tone: "bad"}
}

// wrongData says how often the data was wrong, without and with fencing tokens.
func wrongData(c Count) span {
	without, with := frequency(c.Unsafe[0], c.Seeds), frequency(c.Unsafe[1], c.Seeds)
	if without.Text != with.Text {
		without.Text += " → " + with.Text
	}
	return without
}

// costTables returns a table for each measure that a scenario asks for.
func (t tallyTables) costTables(i int, r Row) []tallyTable {
	var tables []tallyTable
	for _, measure := range checks.MeasureNames() {
		if !slices.Contains(r.Variant.Measures, measure) {
			continue
		}
		about, named := "", map[string]bool{}
		var columns []tallyColumn
		for _, c := range t.Counts[i] {
			for _, s := range c.Figures {
				if s.Measure == measure && !named[s.Figure] {
					about, named[s.Figure] = s.Title, true
					columns = append(columns, t.figureColumn(s.Figure, measure, s.Figure))
				}
			}
		}
		if len(columns) > 0 {
			tables = append(tables, newTallyTable(t.shortNames()[i]+": "+measure, about, t.lockRows(i), columns))
		}
	}
	return tables
}

// figureColumn returns a column with a figure of a measure. It is about the scenario of
// each row.
func (t tallyTables) figureColumn(head, measure, figure string) tallyColumn {
	return tallyColumn{heads(head)[0], func(r tallyRow) span {
		result := span{Text: "–", Tone: "soft"}
		if s := t.Counts[r.row][r.lock].sample(measure, figure); len(s.Values) > 0 {
			result = span{Text: s.format()}
		}
		return t.linkTo(result, r.row, r.lock)
	}}
}

// sideBySide returns one table that compares the measures of a scenario's variants. It has
// a row for each variant with each lock, and columns for the most important figures.
func (t tallyTables) sideBySide(variants []int) []tallyTable {
	var columns []tallyColumn
	s := t.Rows[variants[0]]
	for _, m := range checks.MeasureNames() {
		if slices.Contains(s.Variant.Measures, m) {
			for _, figure := range checks.Headline(m) {
				columns = append(columns, t.figureColumn(m+": "+figure, m, figure))
			}
		}
	}
	if len(columns) == 0 {
		return nil
	}
	var rows []tallyRow
	for lock, name := range t.Locks {
		for _, i := range variants {
			rows = append(rows, tallyRow{story.Visible(name) + ", " + story.Visible(t.Rows[i].Variant.Name), i, lock})
		}
	}
	return []tallyTable{newTallyTable(story.Visible(s.Scenario.Name), "The cost, by lock and by variant of the scenario.", rows, columns)}
}

// write returns a value with its unit.
func (s figureSample) write(v int64) string {
	switch s.Unit {
	case checks.Nanoseconds:
		return story.ProseSpan(time.Duration(v))
	case checks.Hundredths:
		return strconv.FormatFloat(float64(v)/100, 'f', -1, 64)
	case checks.Percent:
		return fmt.Sprintf("%d %%", v)
	}
	return fmt.Sprint(v)
}

// format returns the median of the sample, and after it the 99th percentile if that
// differs: "5.1s", or "5.1s, 7.2s".
func (s figureSample) format() string {
	usual, rare := s.write(s.percentile(50)), s.write(s.percentile(99))
	if usual == rare {
		return usual
	}
	return usual + ", " + rare
}

// shortNames returns the names of the rows. If all names begin with the same text up to the
// first hyphen, it leaves that text out.
func (t *Tally) shortNames() []string {
	var names []string
	for _, r := range t.Rows {
		names = append(names, r.name())
	}
	if len(names) < 2 {
		return names
	}
	begin, _, hyphen := strings.Cut(names[0], "-")
	begin += "-"
	if !hyphen || slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, begin) }) {
		return names
	}
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], begin)
	}
	return names
}

// legend explains the cells of the tables.
func (t *Tally) legend(o Options) facts {
	var issuing, notIssuing []string
	for column, lock := range t.Locks {
		switch hasTokens, known := t.ownTokens(column); {
		case !known:
		case hasTokens:
			issuing = append(issuing, story.Visible(lock))
		default:
			notIssuing = append(notIssuing, story.Visible(lock))
		}
	}
	rows := append(facts(changesOf(t.Rows)), remarkOn("cells", "✓ never, ✗ on every seed, 3/20 on three of twenty; – nothing to judge; n/a the scenario does not apply to the lock or was not run; ? unknown, because a run was inconclusive"))
	rows = append(rows, remarkOn("numbers", "the median over the seeds, and the 99th percentile if it differs"))
	rows = append(rows, remarkOn("seeds", fmt.Sprintf("%s, from %d on; the same seeds give the same table on every machine", t.seedWords(), t.Seed)))
	rows = append(rows, remarkOn("every cell", fmt.Sprintf("to see a run behind it, run its scenario with its lock: for example %s; the results of a cell that differ between seeds are listed below its table, with a command", t.replayCommand(0, 0, t.Seed, o))))
	if len(issuing) > 0 {
		rows = append(rows, remarkOn("own tokens", story.List(issuing)+": each grant comes with a fencing token"))
	}
	if len(notIssuing) > 0 {
		rows = append(rows, remarkOn("no tokens", story.List(notIssuing)+": the runs with fencing use tokens of the simulator, as if a counter were added to the lock"))
	}
	return rows
}

// unusual lists the cells whose results differ between seeds or are unknown. Each entry has
// a command that shows such a run.
func (t *Tally) unusual(o Options) entries {
	var all entries
	for i, row := range t.Counts {
		for column, c := range row {
			var texts []string
			var seed uint64
			add := func(what string, n times, total int, evenAlways bool) {
				if n.N == 0 || n.N == total && !evenAlways {
					return
				}
				texts = append(texts, fmt.Sprintf("%s %d/%d", what, n.N, total))
				if seed == 0 {
					seed = n.Seed
				}
			}
			for run, label := range []string{"without fencing", "with fencing"} {
				add("unknown "+label, c.Undecided[run], c.Seeds, true)
				add("unsafe "+label, c.Unsafe[run], c.Seeds, false)
			}
			for _, p := range checks.Properties() {
				if p.Card().ReportOnly {
					continue // the reports of its runs and the JSON format show it
				}
				add(string(p), c.Violated[p][0], c.Judged[p][0].N, false)
			}
			if len(texts) > 0 {
				all = append(all, remarkOn(t.Rows[i].name()+", "+story.Visible(t.Locks[column]), strings.Join(texts, ", ")+": "+t.replayCommand(i, column, seed, o)))
			}
		}
	}
	return all
}

// replayCommand returns the command that runs a variant with a lock and a seed.
func (t *Tally) replayCommand(row, column int, seed uint64, o Options) string {
	r := t.Rows[row]
	runOptions := scenarios.RunOptions{Seed: seed, Lock: t.Locks[column]}
	return replayOf("run", r.Scenario, []*scenarios.Variant{r.Variant}, "", runOptions, o)
}

// capitalize returns s with a capital first letter.
func capitalize(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
