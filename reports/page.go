package reports

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	"github.com/locksim/locksim/internal/explore"
)

// htmlFiles contains the templates and styles of every page. html/template escapes what
// they show. Names and texts are made visible first, as everywhere, so that no lock can
// change the direction of writing.
//
//go:embed html
var htmlFiles embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(htmlFiles, "html/*.html"))
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

// A sheet is one self-contained HTML page.
type sheet struct {
	Title  string
	Links  []pageLink
	Style  template.CSS
	Script template.JS
	Body   template.HTML
}

// A pageLink is a link to another page of the site.
type pageLink struct{ To, Text string }

// newSheet returns a page with the common style, followed by its own styles.
func newSheet(title string, body template.HTML, styles ...string) sheet {
	var css strings.Builder
	for _, style := range append([]string{asset("page.css")}, styles...) {
		css.WriteString(style)
	}
	return sheet{Title: title, Body: body, Style: template.CSS(css.String())}
}

// html renders the page.
func (s sheet) html() []byte { return []byte(fill("page.html", s)) }

// fill fills in a template.
func fill(name string, data any) template.HTML {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("reports: %s: %v", name, err)) // a strings.Builder never fails, and the templates are tested
	}
	return template.HTML(b.String())
}

// asset returns a file of the folder html.
func asset(name string) string {
	data, err := htmlFiles.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}
