package reports

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	g "maragu.dev/gomponents"

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

// asset returns the contents of a file in the folder html.
func asset(name string) string {
	data, err := htmlFiles.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}
