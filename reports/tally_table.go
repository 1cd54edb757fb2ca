package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// A tallyTable answers one question, with a row for each lock.
type tallyTable struct {
	Title, About string
	// Head are the columns after that of the lock; Stories are their stories, if they
	// have one each.
	Head    []string
	Stories []Row
	Rows    []tallyRow
}

// A tallyRow is what a table says of one lock.
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
	tables := []tallyTable{
		of(checks.LeaseExclusion),
		of(checks.SectionExclusion),
		t.table("The data is right",
			"How often it was not, without fencing tokens → with them.", func(c Count) (string, string, uint64) {
				class, without, seed := often(c.Unsafe[0], c.Seeds)
				worse, with, _ := often(c.Unsafe[1], c.Seeds)
				if without == with {
					return worse, with, seed
				}
				return class, without + " → " + with, seed
			}),
		of(checks.Progress),
	}
	for i, row := range t.Rows {
		tables = append(tables, t.costs(i, row)...)
	}
	return tables
}

// table has a column for each story.
func (t *Tally) table(title, about string, of func(Count) (class, text string, seed uint64)) tallyTable {
	out := tallyTable{Title: title, About: about, Stories: t.Rows}
	names := t.shortNames()
	out.Head = names
	for column, lock := range t.Locks {
		row := tallyRow{Lock: story.Visible(lock)}
		for i := range t.Rows {
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
			row.Cells = append(row.Cells, cell)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
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
				if s.Measure == measure && !slices.Contains(out.Head, s.Figure) {
					out.Head, out.About = append(out.Head, s.Figure), s.Title
				}
			}
		}
		if len(out.Head) == 0 {
			continue
		}
		for column, lock := range t.Locks {
			row := tallyRow{Lock: story.Visible(lock)}
			for _, figure := range out.Head {
				cell := tallyCell{row: i, column: column, Class: "soft", Text: "–"}
				if s := t.Counts[i][column].sample(measure, figure); len(s.Values) > 0 {
					cell.Class, cell.Text, cell.seed = "", s.told(), t.Seed
				}
				row.Cells = append(row.Cells, cell)
			}
			out.Rows = append(out.Rows, row)
		}
		tables = append(tables, out)
	}
	return tables
}

// told is the sample as people read it: "5.1s", or "5.1s, 7.2s" if the 99th percentile
// is another.
func (s Sample) told() string {
	write := func(v int64) string {
		if s.Unit == checks.Nanoseconds {
			return story.About(time.Duration(v))
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
func (t *Tally) legend() facts {
	var own, none []string
	for column, lock := range t.Locks {
		grants, tokens := 0, 0
		for i := range t.Rows {
			grants += t.Counts[i][column].Grants
			tokens += t.Counts[i][column].OwnTokens
		}
		switch {
		case grants == 0:
		case tokens == grants:
			own = append(own, story.Visible(lock))
		default:
			none = append(none, story.Visible(lock))
		}
	}
	rows := facts{remarkOn("✓, ✗", "never, and on each seed; 3/20 is on three of twenty; – is nothing to judge, n/a a story that cannot be told with the lock, ? a run of which nobody can tell")}
	rows = append(rows, remarkOn("numbers", "the median over the seeds, and the 99th percentile where that is another"))
	rows = append(rows, remarkOn("seeds", fmt.Sprintf("%s, from %d on; the same seeds give the same table on every machine", t.seeds(), t.Seed)))
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
