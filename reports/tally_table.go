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

// A tallyTable answers one question.
type tallyTable struct {
	ID, Title, About string
	Table            table
}

// A tallyRow is about a lock, or about a lock in one of several stories.
type tallyRow struct {
	name        string
	story, lock int
}

// A tallyColumn is what a table says of each row.
type tallyColumn struct {
	head span
	says func(tallyRow) span
}

// tallyTables lays a tally out in tables. A cell leads to the page on the story and the lock
// that it is about.
type tallyTables struct {
	*Tally
	pages wayIn
}

// all are the tables in which the tally says what it has to say.
func (t tallyTables) all() []tallyTable {
	of := func(p checks.Property) tallyTable {
		return t.ofStories(capital(p.Title()), "How often "+string(p)+" was violated.", func(c Count) span {
			return often(c.Violated[p][0], c.Judged[p][0].N)
		})
	}
	tables := slices.Concat(t.summary(), []tallyTable{
		of(checks.LeaseExclusion),
		of(checks.SectionExclusion),
		t.ofStories("The data is right", "How often it was not, without fencing tokens → with them.", wrongData),
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
	ids := pageNames{}
	for i := range tables {
		tables[i].ID = ids.name("table", tables[i].Title)
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

// locks has a row for each lock, in a story.
func (t *Tally) locks(i int) []tallyRow {
	var rows []tallyRow
	for lock, name := range t.Locks {
		rows = append(rows, tallyRow{story.Visible(name), i, lock})
	}
	return rows
}

// newTallyTable has what each of its columns says of each row.
func newTallyTable(title, about string, rows []tallyRow, columns []tallyColumn) tallyTable {
	out := table{Heads: heads("lock"), narrow: true}
	for _, c := range columns {
		out.Heads = append(out.Heads, c.head)
	}
	for _, r := range rows {
		cells := []tableCell{plainCell(r.name)}
		for _, c := range columns {
			cells = append(cells, tableCell{c.says(r)})
		}
		out.add(cells...)
	}
	return tallyTable{Title: title, About: about, Table: out}
}

// ofStories has a column for each story.
func (t tallyTables) ofStories(title, about string, of func(Count) span) tallyTable {
	var columns []tallyColumn
	for i := range t.Rows {
		columns = append(columns, t.ofStory(i, of))
	}
	return newTallyTable(title, about, t.locks(0), columns)
}

// ofStory is what something comes to in one story, if the story can be told with the lock and
// all know what it came to. Its head leads to the story's file.
func (t tallyTables) ofStory(i int, of func(Count) span) tallyColumn {
	return tallyColumn{t.head(i), func(r tallyRow) span {
		says := span{Text: "n/a", Tone: "soft"}
		switch c := t.Counts[i][r.lock]; {
		case c.Seeds == 0:
		case c.Undecided[0].N > 0 || c.Undecided[1].N > 0:
			says = span{Text: "?", Tone: "doubt"}
		default:
			says = of(c)
		}
		return t.leading(says, i, r.lock)
	}}
}

// head is that of the column of a story.
func (t *Tally) head(i int) span {
	return span{Text: t.shortNames()[i], Tone: plain, Link: t.Rows[i].Scenario.File}
}

// leading leads to the page on a story with a lock.
func (t tallyTables) leading(s span, row, lock int) span {
	s.Link = t.pages(t.Rows[row], lock).To
	return s
}

// often says how often something that nobody wants was so, of how many times it could
// have been: never, always, or a number.
func often(t Times, of int) span {
	switch {
	case of == 0:
		return span{Text: "–", Tone: "soft"}
	case t.N == 0:
		return span{Text: "✓", Tone: "good"}
	case t.N == of:
		return span{Text: "✗", Tone: "bad"}
	}
	return span{Text: fmt.Sprintf("%d/%d", t.N, of), Tone: "bad"}
}

// wrongData says how often the data was not right, without fencing tokens and with them.
func wrongData(c Count) span {
	without, with := often(c.Unsafe[0], c.Seeds), often(c.Unsafe[1], c.Seeds)
	if without.Text != with.Text {
		without.Text += " → " + with.Text
	}
	return without
}

// costs are the measures that a story names, a table for each of them.
func (t tallyTables) costs(i int, r Row) []tallyTable {
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
					columns = append(columns, t.figure(s.Figure, measure, s.Figure))
				}
			}
		}
		if len(columns) > 0 {
			tables = append(tables, newTallyTable(t.shortNames()[i]+": "+measure, about, t.locks(i), columns))
		}
	}
	return tables
}

// figure is a figure of the row's story.
func (t tallyTables) figure(head, measure, figure string) tallyColumn {
	return tallyColumn{heads(head)[0], func(r tallyRow) span {
		says := span{Text: "–", Tone: "soft"}
		if s := t.Counts[r.story][r.lock].sample(measure, figure); len(s.Values) > 0 {
			says = span{Text: s.told()}
		}
		return t.leading(says, r.story, r.lock)
	}}
}

// sideBySide is one table of what several versions of a story measure: a row for each of
// them with each lock, and the figures that are enough.
func (t tallyTables) sideBySide(variants []int) []tallyTable {
	var columns []tallyColumn
	s := t.Rows[variants[0]]
	for _, m := range checks.MeasureNames() {
		if slices.Contains(s.Variant.Measures, m) {
			for _, figure := range checks.Headline(m) {
				columns = append(columns, t.figure(m+": "+figure, m, figure))
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
	return []tallyTable{newTallyTable(story.Visible(s.Scenario.Name), "What it costs, by lock and by version of the story.", rows, columns)}
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
	rows := facts{remarkOn("✓, ✗", "never, and on each seed; 3/20 is on three of twenty; – is nothing to judge, n/a a story that cannot be told with the lock or was not run, ? a run of which nobody can tell")}
	rows = append(rows, remarkOn("numbers", "the median over the seeds, and the 99th percentile where that is another"))
	rows = append(rows, remarkOn("seeds", fmt.Sprintf("%s, from %d on; the same seeds give the same table on every machine", t.seeds(), t.Seed)))
	rows = append(rows, remarkOn("every cell", fmt.Sprintf("is of its story with its lock, as in %s; where it took another seed, that is said below", t.shows(0, 0, t.Seed, o))))
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
				all = append(all, remarkOn(t.Rows[i].name()+", "+story.Visible(t.Locks[column]), strings.Join(says, ", ")+": "+t.shows(i, column, seed, o)))
			}
		}
	}
	return all
}

// shows is the command that runs a story with a lock on a seed.
func (t *Tally) shows(row, column int, seed uint64, o Options) string {
	r := t.Rows[row]
	ran := scenarios.RunOptions{Seed: seed, Lock: t.Locks[column]}
	return replayOf("run", r.Scenario, []*scenarios.Variant{r.Variant}, "", ran, o)
}

// capital begins with a capital letter what is a part of a sentence elsewhere.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
