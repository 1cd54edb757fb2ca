// Package slide writes storyboards as SVG, for pages and as documents of their own. Package
// storyboard has given each part its position. Only this package needs html/template: a program
// that draws storyboards in another way does not contain it.
package slide

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	g "maragu.dev/gomponents"

	"github.com/locksim/locksim/internal/diagram"
	"github.com/locksim/locksim/internal/storyboard"
)

// files contains the templates and the style. html/template escapes the values that the
// templates show.
//
//go:embed html
var files embed.FS

// templates returns the parsed templates of the folder html.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(files, "html/*.html"))
})

// fill returns the result of the template with the given name.
func fill(name string, data any) template.HTML {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("slide: %s: %v", name, err)) // a strings.Builder never fails, and the templates are tested
	}
	return template.HTML(b.String())
}

// Style returns the style sheet for the storyboards of a page. The page also has the style
// of package diagram.
func Style() string {
	css, err := files.ReadFile("html/storyboard.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(css)
}

// SVG draws a board, for a page that has the [Style], and the style and the patterns of
// package diagram.
func SVG(b *storyboard.Board) g.Node { return g.Raw(string(fill("storyboard.html", b))) }

// Picture returns boards, one below the other, as a self-contained SVG document with a title.
// page is a style sheet with the colours of a light and of a dark page. The document has the dark
// colours only if its reader prefers dark pages.
func Picture(title string, boards []*storyboard.Board, page string) []byte {
	type placed struct {
		SVG template.HTML
		Y   int
	}
	sheet := struct {
		Title    string
		Height   int
		Boards   []placed
		Style    template.CSS
		Patterns template.HTML
	}{Title: title, Height: storyboard.Height * len(boards), Patterns: template.HTML(g.Group{diagram.Patterns()}.String())}
	style := Style()
	for i, b := range boards {
		if !strings.Contains(style, b.Style) {
			style += b.Style
		}
		sheet.Boards = append(sheet.Boards, placed{fill("storyboard.html", b), i * storyboard.Height})
	}
	sheet.Style = template.CSS(diagram.PaperStyle(page, style))
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + string(fill("picture.html", sheet)))
}
