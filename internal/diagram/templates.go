package diagram

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"sync"
)

// What the templates show is escaped by html/template; names and texts come through
// [story.Visible] first, so that nobody's lock can turn the direction of writing.
//
//go:embed html
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"add": sum}).ParseFS(files, "html/*.html"))
})

// sum adds up coordinates.
func sum(numbers ...int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}

// fill fills in a template.
func fill(name string, data any) template.HTML {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("diagram: %s: %v", name, err)) // a strings.Builder takes everything, and the templates are tested
	}
	return template.HTML(b.String())
}

// asset is a file of the folder html.
func asset(name string) string {
	data, err := files.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// Style is the style of the figures of a page. It uses colours of the page: of its text
// (ink, soft), its ground (page) and what has the focus.
func Style() string { return asset("diagram-colours.css") + asset("diagram.css") }

// Patterns are what the figures of a page are hatched with. A page has them once.
func Patterns() template.HTML { return fill("defs.html", nil) }
