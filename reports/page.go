package reports

import (
	"embed"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// htmlFiles contains the styles and scripts of pages. The texts of pages are escaped by the
// functions that make their nodes. Before that, invisible characters in names and texts are made
// visible, so that the name of a lock cannot change the direction of writing.
//
//go:embed html
var htmlFiles embed.FS

func init() {
	Runs.Register(Format[Results]{
		Name: "html", Title: "a browser: the space-time diagram to step through, the timeline beside it, and which properties broke; in a folder (-o site/) a site",
		Write: writeHTML, Most: 1, Pages: pagesOf(sitePages), Names: fileNamesOf(sitePages),
	})
	Matrices.Register(Format[*Matrix]{Name: "html", Title: "a browser; in a folder (-o site/) with a page for each scenario", Write: writeMatrixHTML, Pages: pagesOf(matrixPages), Names: fileNamesOf(matrixPages)})
	Searches.Register(Format[*explore.Result]{Name: "html", Title: "a browser", Write: writeExploredHTML})
	Tallies.Register(Format[*Tally]{Name: "html", Title: "a browser; in a folder (-o site/) with a page for each scenario and lock", Write: writeTallyHTML, Pages: pagesOf(tallyPages), Names: fileNamesOf(tallyPages)})
}

// asset returns the contents of a file in the folder html.
func asset(name string) string {
	data, err := htmlFiles.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// onLines returns parts of a page, each on its own line, so that a change of a page is easy to
// review. Parts that are nil are left out, and groups keep the lines that they have.
func onLines(parts ...g.Node) g.Group {
	var all g.Group
	for _, part := range parts {
		switch part := part.(type) {
		case nil:
		case g.Group:
			all = append(all, part...)
		default:
			all = append(all, part, g.Text("\n"))
		}
	}
	return all
}

// lead returns the paragraph below the title of a page.
func lead(text string) g.Node { return h.P(h.Class("lead"), g.Text(text)) }

// heading returns the heading of a part of a page, to which links with the ID lead.
func heading(id, title string) g.Node { return h.H2(h.ID(id), g.Text(title)) }

// visibleLine returns a text as one line, with its invisible characters made visible.
func visibleLine(text string) string { return story.Visible(textwrap.OneLine(text)) }

// unseen returns a text that only screen readers read.
func unseen(text string) g.Node { return h.Span(h.Class("unseen"), g.Text(text)) }

// hidden returns a text that screen readers leave out, such as a sign.
func hidden(text string) g.Node { return h.Span(h.Aria("hidden", "true"), g.Text(text)) }

// scrollable returns a part of a page that readers can scroll, with the mouse or with the keys.
// label is its name for screen readers.
func scrollable(class, label string, parts ...g.Node) g.Node {
	return h.Div(h.Class(class), h.TabIndex("0"), h.Role("region"), h.Aria("label", label), g.Group(parts))
}

// wideBadge returns a text on a coloured ground. It may take several lines.
func wideBadge(class, text string) g.Node {
	return h.Span(h.Class("badge "+class+" wide"), g.Text(text))
}

// columnHead returns the head of a column of a table.
func columnHead(parts ...g.Node) g.Node { return h.Th(h.Scope("col"), g.Group(parts)) }

// rowHead returns the head of a row of a table.
func rowHead(parts ...g.Node) g.Node { return h.Th(h.Scope("row"), g.Group(parts)) }
