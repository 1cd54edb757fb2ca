package reports

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/webpage"
)

// htmlFiles contains the templates, styles and scripts of pages. html/template escapes the
// values that the templates show. Before that, invisible characters in names and texts are made
// visible, so that the name of a lock cannot change the direction of writing.
//
//go:embed html
var htmlFiles embed.FS

// templates returns the parsed templates of the folder html.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"render": render}).ParseFS(htmlFiles, "html/*.html"))
})

func init() {
	Runs.Register(Format[Results]{
		Name: "html", Title: "a browser: the space-time diagram to step through, the timeline beside it, and which properties broke; in a folder (-o site/) a site",
		Write: writeHTML, Most: 1, Pages: pagesOf(sitePages), Names: fileNamesOf(sitePages),
	})
	Matrices.Register(Format[*Matrix]{Name: "html", Title: "a browser; in a folder (-o site/) with a page for each scenario", Write: writeMatrixHTML, Pages: pagesOf(matrixPages), Names: fileNamesOf(matrixPages)})
	Searches.Register(Format[*explore.Result]{Name: "html", Title: "a browser", Write: writeExploredHTML})
	Tallies.Register(Format[*Tally]{Name: "html", Title: "a browser; in a folder (-o site/) with a page for each scenario and lock", Write: writeTallyHTML, Pages: pagesOf(tallyPages), Names: fileNamesOf(tallyPages)})
}

// fill returns the result of the template with the given name.
func fill(name string, data any) template.HTML {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("reports: %s: %v", name, err)) // a strings.Builder never fails, and the templates are tested
	}
	return template.HTML(b.String())
}

// render returns a piece of a page, for a template.
func render(piece g.Node) template.HTML { return template.HTML(webpage.Render(piece)) }

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

// asset returns the contents of a file in the folder html.
func asset(name string) string {
	data, err := htmlFiles.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}
