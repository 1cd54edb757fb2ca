package diagram

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	g "maragu.dev/gomponents"
)

// files contains the templates and styles. html/template escapes the values that the
// templates show. Names and texts have passed through [story.Visible] before, so that the
// name of a lock cannot contain invisible characters that change the direction of writing.
//
//go:embed html
var files embed.FS

// templates returns the parsed templates of the folder html.
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

// fill returns the result of the template with the given name.
func fill(name string, data any) template.HTML {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("diagram: %s: %v", name, err)) // a strings.Builder never fails, and the templates are tested
	}
	return template.HTML(b.String())
}

// asset returns the contents of a file in the folder html.
func asset(name string) string {
	data, err := files.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// Style returns the style sheet for the figures of a page. It uses these colours of the
// page: ink and soft for text, page for the background, and focus.
func Style() string { return asset("diagram-colours.css") + asset("diagram.css") }

// Patterns returns the hatch patterns that figures refer to. A page must contain them once.
func Patterns() g.Node { return g.Raw(string(fill("defs.html", nil))) }
