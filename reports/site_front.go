package reports

import (
	"fmt"
	"io"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/webpage"
	"github.com/locksim/locksim/scenarios"
)

// A front is the front page of a site, or the page of a single matrix.
type front struct {
	Options
	matrixTable
	results []*scenarios.Result
	// hasPages reports whether the cells of the matrix link to pages with diagrams.
	hasPages bool
	// searches are the entries about searches that have a page.
	searches g.Group
}

const frontTitle = "What breaks the lock"

// frontSigns are the signs that the front page explains above the matrix.
var frontSigns = []badge{{"good", "✓", "holds"}, {"bad", "✗", "is violated"}, {"doubt", "!", "another property is violated"}}

// writeMatrixHTML writes the matrix as a single page.
func writeMatrixHTML(w io.Writer, m *Matrix, o Options) error {
	page := front{Options: o.forPublication(), matrixTable: matrixTable{m, noPage}, results: resultsOf(m).inOrder(m)}
	_, err := w.Write(page.page().HTML())
	return err
}

// front returns the front page of the site.
func (s *site) front() webpage.Page {
	f := front{Options: s.Options, matrixTable: matrixTable{s.matrix, s.linkToResult}, results: s.results, hasPages: true}
	for i, r := range s.Explored {
		entry := g.Group{webpage.A(s.searches[i], exploredTitle(r)), h.Br(), h.Span(h.Class("soft"), g.Text(exploredSummary(r, nil)))}
		if maps := heatmaps(r); len(maps) > 0 {
			entry = append(entry, maps[0].thumbnail())
		}
		f.searches = append(f.searches, h.Li(entry))
	}
	page := f.page()
	if len(f.Rows) > 0 {
		page.Links = append(page.Links, webpage.Link{To: "#matrix", Text: "Matrix"})
	}
	if len(f.searches) > 0 {
		page.Links = append(page.Links, webpage.Link{To: "#searches", Text: "Danger maps"})
	}
	page.Links = s.withSite(page.Links)
	return page
}

// page returns the page.
func (f front) page() webpage.Page {
	about := "Each row is a scenario: clients share a lock, and something goes wrong or seems to. It runs twice with the same seed, once with a storage that checks no fencing tokens and once with one that does."
	if f.hasPages {
		about += " Each cell links to the diagram of its run."
	}
	page := webpage.New(frontTitle, h.Div(h.Class("front"), onLines(
		h.H1(g.Text(frontTitle)),
		lead(about),
		g.If(len(f.Rows) > 0, f.chapters()),
		g.If(len(f.searches) > 0, onLines(heading("searches", "What searches found"), h.Ul(h.Class("searches"), onLines(f.searches...)))),
		g.If(len(f.Rows) > 0, f.making()),
	)), asset("matrix.css"), asset("explored.css"))
	page.Script = asset("matrix.js")
	return page
}

// chapters returns the chapters about the matrix: the rows that need attention, the table, and
// lists that say why the other rows are as they are.
func (f front) chapters() g.Group {
	table := f.html()
	if len(f.Locks) > 0 {
		table = scrollable("scroll both", "The matrix", table)
	}
	return onLines(
		h.P(h.Class("standing"), wideBadge(f.mood(), f.summary())),
		f.alarmBox("surprises", "Not as expected", NotAsExpected),
		f.alarmBox("unknown", "Unknown", Undecided),
		heading("matrix", "The matrix"),
		f.filter(),
		h.P(h.Class("signs soft"),
			g.Map(frontSigns, func(b badge) g.Node { return g.Group{h.Span(h.B(h.Class(b.Class), g.Text(b.Text()))), g.Text(" ")} }),
			h.A(h.Href("#legend"), g.Text("How to read it")),
		),
		table,
		h.Details(h.Class("why"), h.ID("legend"), h.Summary(g.Text("How to read it")), facts(f.legend(pageSpelling())).legend()),
		f.reasons(),
	)
}

// filter returns the form with which a reader chooses rows of the matrix. Its script shows it.
func (f front) filter() g.Node {
	choice := func(key, label string, count int, more ...g.Node) g.Node {
		return h.Label(h.Input(h.Type("radio"), h.Name("sort"), h.Value(key), g.Group(more)), g.Text(" "),
			h.Span(g.Text(label+" "), h.B(g.Text(strconv.Itoa(count)))))
	}
	choices := g.Group{h.Legend(h.Class("unseen"), g.Text("Show")), choice("", "all", len(f.Rows), h.Checked())}
	counts := countKinds(f.Rows)
	for kind, k := range listKinds {
		if n := counts[listKind(kind)]; n > 0 {
			choices = append(choices, choice(k.key, k.label, n))
		}
	}
	return h.Form(h.Class("filter screen"), h.Role("search"), g.Attr("hidden"), onLines(
		h.Label(h.Class("words"), g.Text("Filter "), h.Input(h.Type("search"), h.Name("words"), h.AutoComplete("off"), g.Attr("spellcheck", "false"))),
		h.FieldSet(onLines(choices...)),
		h.P(h.Class("soft"), h.Role("status")),
	))
}

// reasons returns the lists that say why the rows are as they are, without the rows that
// have a box; nil if there are none.
func (f front) reasons() g.Node {
	var lists g.Group
	for _, l := range f.lists() {
		if l.Sort == unexpectedResult || l.Sort == unknownResult {
			continue
		}
		lists = append(lists, collapsed(l.Title, len(l.Items), h.Dl(g.Map(l.Items, func(r remark) g.Node {
			return h.Div(h.Dt(g.Text(r.About.String())), g.If(r.Text != "", h.Dd(g.Text(r.Text.String()))))
		}))))
	}
	return g.If(len(lists) > 0, onLines(heading("why", "Why"), onLines(lists...)))
}

// collapsed returns a list that the reader opens. Its title says how many items it has.
func collapsed(title string, items int, list g.Node) g.Node {
	return h.Details(h.Class("why"), h.Summary(g.Textf("%s (%d)", title, items)), list)
}

// making says what was run, with the commands that run it again.
func (f front) making() g.Group {
	made := duration(f.results, 0)
	if seed, isSame := seedOf(f.results); isSame {
		made += fmt.Sprintf(", with the seed %d", seed)
	}
	var commands []string
	for _, r := range f.results {
		commands = append(commands, replay(r, f.Options))
	}
	return onLines(
		heading("made", "How it was made"),
		h.P(g.Text(made+". The same seed gives the same runs on every machine.")),
		collapsed("Commands that run it again", len(commands), preformatted(lines(commands))),
	)
}

// seedOf returns the seed of the results. isSame is false if there are several seeds or no
// results.
func seedOf(results []*scenarios.Result) (seed uint64, isSame bool) {
	for _, r := range results {
		if r.Seed != results[0].Seed {
			return 0, false
		}
		seed, isSame = r.Seed, true
	}
	return seed, isSame
}
