package diagram

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"sync"
)

// files contains the templates and styles. html/template escapes what the templates show.
// Names and texts are passed through [story.Visible] first, so that no lock can change the
// direction of writing.
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
		panic(fmt.Sprintf("diagram: %s: %v", name, err)) // a strings.Builder never fails, and the templates are tested
	}
	return template.HTML(b.String())
}

// asset returns a file of the folder html.
func asset(name string) string {
	data, err := files.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// Style returns the style of the figures of a page. It uses the page's colours for text
// (ink, soft), background (page) and focus.
func Style() string { return asset("diagram-colours.css") + asset("diagram.css") }

// Patterns returns the hatch patterns of the figures of a page. A page needs them once.
func Patterns() template.HTML { return fill("defs.html", nil) }
