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

// A tallyTable answers one question, with a row for each lock.
type tallyTable struct {
	Title, About string
	// Head are the columns after that of the lock.
	Head []tallyHead
	Rows []tallyRow
}

// A tallyHead is a column: what it is called, and the file of its story if it is about one.
type tallyHead struct{ Name, File string }

// A tallyRow is what a table says of one lock, or of one lock in one of several stories.
type tallyRow struct {
	Lock  string
	Cells []tallyCell
}

// A tallyCell is a number or a sign, with the class of its colour.
type tallyCell struct {
	Class, Text string
	// row and column are the cell of the matrix that it is about, and seed shows it.
	row, column int
	seed        uint64
}

// tables are all that the tally has to say.
func (t *Tally) tables() []tallyTable {
	of := func(p checks.Property) tallyTable {
		return t.table(capital(p.Title()), "How often "+string(p)+" was violated.", func(c Count) (string, string, uint64) {
			return often(c.Violated[p][0], c.Judged[p][0].N)
		})
	}
	tables := slices.Concat(t.summary(), []tallyTable{
		of(checks.LeaseExclusion),
		of(checks.SectionExclusion),
		t.table("The data is right", "How often it was not, without fencing tokens → with them.", wrongData),
		of(checks.Progress),
	})
	for i, row := range t.Rows {
		switch variants := t.variants(row.Scenario); {
		case len(variants) == 1:
			tables = append(tables, t.costs(i, row)...)
		case i == variants[0]:
			tables = append(tables, t.sideBySide(variants)...)
		}
	}
	return tables
}

// variants are the places of the rows of one scenario.
func (t *Tally) variants(s *scenarios.Scenario) (rows []int) {
	for i, row := range t.Rows {
		if row.Scenario == s {
			rows = append(rows, i)
		}
	}
	return rows
}

// wrongData says how often the data was not right, without fencing tokens and with them.
func wrongData(c Count) (class, text string, seed uint64) {
	class, without, seed := often(c.Unsafe[0], c.Seeds)
	worse, with, _ := often(c.Unsafe[1], c.Seeds)
	if without == with {
		return worse, with, seed
	}
	return class, without + " → " + with, seed
}

// table has a column for each story.
func (t *Tally) table(title, about string, of func(Count) (class, text string, seed uint64)) tallyTable {
	out := tallyTable{Title: title, About: about}
	for i := range t.Rows {
		out.Head = append(out.Head, t.head(i))
	}
	for column, lock := range t.Locks {
		row := tallyRow{Lock: story.Visible(lock)}
		for i := range t.Rows {
			row.Cells = append(row.Cells, t.cell(i, column, of))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// head is that of the column of a story.
func (t *Tally) head(i int) tallyHead { return tallyHead{t.shortNames()[i], t.Rows[i].Scenario.File} }

// cell is what something comes to in one story with one lock, if the story can be told with
// it and all know what it came to.
func (t *Tally) cell(i, column int, of func(Count) (class, text string, seed uint64)) tallyCell {
	cell := tallyCell{row: i, column: column, Class: "soft", Text: "n/a"}
	switch c := t.Counts[i][column]; {
	case c.Seeds == 0:
	case c.Undecided[0].N > 0 || c.Undecided[1].N > 0:
		first := c.Undecided[0]
		if first.N == 0 {
			first = c.Undecided[1]
		}
		cell.Class, cell.Text, cell.seed = "doubt", "?", first.Seed
	default:
		cell.Class, cell.Text, cell.seed = of(c)
	}
	return cell
}

// often says how often something that nobody wants was so, of how many times it could
// have been: never, always, or a number; and a seed that shows it.
func often(t Times, of int) (class, text string, seed uint64) {
	switch {
	case of == 0:
		return "soft", "–", 0
	case t.N == 0:
		return "good", "✓", 0
	case t.N == of:
		return "bad", "✗", t.Seed
	}
	return "bad", fmt.Sprintf("%d/%d", t.N, of), t.Seed
}

// costs are the measures that a story names, a table for each of them.
func (t *Tally) costs(i int, r Row) []tallyTable {
	var tables []tallyTable
	for _, measure := range checks.MeasureNames() {
		if !slices.Contains(r.Variant.Measures, measure) {
			continue
		}
		out := tallyTable{Title: t.shortNames()[i] + ": " + measure}
		for _, c := range t.Counts[i] {
			for _, s := range c.Figures {
				if head := (tallyHead{Name: s.Figure}); s.Measure == measure && !slices.Contains(out.Head, head) {
					out.Head, out.About = append(out.Head, head), s.Title
				}
			}
		}
		if len(out.Head) == 0 {
			continue
		}
		for column, lock := range t.Locks {
			row := tallyRow{Lock: story.Visible(lock)}
			for _, figure := range out.Head {
				row.Cells = append(row.Cells, t.number(i, column, measure, figure.Name))
			}
			out.Rows = append(out.Rows, row)
		}
		tables = append(tables, out)
	}
	return tables
}

// number is a figure of a story with one lock.
func (t *Tally) number(i, column int, measure, figure string) tallyCell {
	cell := tallyCell{row: i, column: column, Class: "soft", Text: "–"}
	if s := t.Counts[i][column].sample(measure, figure); len(s.Values) > 0 {
		cell.Class, cell.Text, cell.seed = "", s.told(), t.Seed
	}
	return cell
}

// sideBySide is one table of what several versions of a story measure: a row for each of
// them with each lock, and the figures that are enough.
func (t *Tally) sideBySide(variants []int) []tallyTable {
	type figure struct{ measure, name string }
	var figures []figure
	r := t.Rows[variants[0]]
	out := tallyTable{Title: story.Visible(r.Scenario.Name), About: "What it costs, by lock and by version of the story."}
	for _, m := range checks.MeasureNames() {
		if !slices.Contains(r.Variant.Measures, m) {
			continue
		}
		for _, name := range checks.Headline(m) {
			figures = append(figures, figure{m, name})
			out.Head = append(out.Head, tallyHead{Name: m + ": " + name})
		}
	}
	if len(figures) == 0 {
		return nil
	}
	for column, lock := range t.Locks {
		for _, i := range variants {
			row := tallyRow{Lock: story.Visible(lock) + ", " + story.Visible(t.Rows[i].Variant.Name)}
			for _, f := range figures {
				row.Cells = append(row.Cells, t.number(i, column, f.measure, f.name))
			}
			out.Rows = append(out.Rows, row)
		}
	}
	return []tallyTable{out}
}

// told is the sample as people read it: "5.1s", or "5.1s, 7.2s" if the 99th percentile
// is another.
func (s Sample) told() string {
	write := func(v int64) string {
		switch s.Unit {
		case checks.Nanoseconds:
			return story.About(time.Duration(v))
		case checks.Hundredths:
			return strconv.FormatFloat(float64(v)/100, 'f', -1, 64)
		case checks.Percent:
			return fmt.Sprintf("%d %%", v)
		}
		return fmt.Sprint(v)
	}
	usual, rare := write(s.Percentile(50)), write(s.Percentile(99))
	if usual == rare {
		return usual
	}
	return usual + ", " + rare
}

// shortNames are the names of the rows without what they all begin with, up to a hyphen.
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

// legend explains the cells.
func (t *Tally) legend(o Options) facts {
	var own, none []string
	for column, lock := range t.Locks {
		switch comes, known := t.ownTokens(column); {
		case !known:
		case comes:
			own = append(own, story.Visible(lock))
		default:
			none = append(none, story.Visible(lock))
		}
	}
	rows := facts{remarkOn("✓, ✗", "never, and on each seed; 3/20 is on three of twenty; – is nothing to judge, n/a a story that cannot be told with the lock, ? a run of which nobody can tell")}
	rows = append(rows, remarkOn("numbers", "the median over the seeds, and the 99th percentile where that is another"))
	rows = append(rows, remarkOn("seeds", fmt.Sprintf("%s, from %d on; the same seeds give the same table on every machine", t.seeds(), t.Seed)))
	rows = append(rows, remarkOn("every cell", fmt.Sprintf("is of its story with its lock, as in %s; where it took another seed, that is said below", t.shows(tallyCell{seed: t.Seed}, o))))
	if len(own) > 0 {
		rows = append(rows, remarkOn("own tokens", story.List(own)+": a fencing token comes with the grant"))
	}
	if len(none) > 0 {
		rows = append(rows, remarkOn("no tokens", story.List(none)+": the runs with fencing have the simulator's, as if a counter stood beside the lock"))
	}
	return rows
}

// unusual are the cells of which something is neither always nor never so, or unknown,
// with the command that shows one such run.
func (t *Tally) unusual(o Options) entries {
	var all entries
	for i, row := range t.Counts {
		for column, c := range row {
			var says []string
			var seed uint64
			add := func(what string, n Times, of int, also bool) {
				if n.N == 0 || n.N == of && !also {
					return
				}
				says = append(says, fmt.Sprintf("%s %d/%d", what, n.N, of))
				if seed == 0 {
					seed = n.Seed
				}
			}
			for run, how := range []string{"without fencing", "with fencing"} {
				add("unknown "+how, c.Undecided[run], c.Seeds, true)
				add("unsafe "+how, c.Unsafe[run], c.Seeds, false)
			}
			for _, p := range checks.Properties() {
				if p.Card().ReportOnly {
					continue // the reports of its runs tell it, and JSON counts it
				}
				add(string(p), c.Violated[p][0], c.Judged[p][0].N, false)
			}
			if len(says) > 0 {
				cell := tallyCell{row: i, column: column, seed: seed}
				all = append(all, remarkOn(t.Rows[i].name()+", "+story.Visible(t.Locks[column]), strings.Join(says, ", ")+": "+t.shows(cell, o)))
			}
		}
	}
	return all
}

// shows is the command that runs what a cell is about.
func (t *Tally) shows(c tallyCell, o Options) string {
	r := t.Rows[c.row]
	ran := scenarios.RunOptions{Seed: max(c.seed, t.Seed), Lock: t.Locks[c.column]}
	return replayOf("run", r.Scenario, []*scenarios.Variant{r.Variant}, "", ran, o)
}

// capital begins with a capital letter what is a part of a sentence elsewhere.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
