// Package webpage has the frame that all HTML pages of locksim share: the head, the links to
// other pages, and the style of texts and tables.
package webpage

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"sync"
)

//go:embed page.css
var style string

//go:embed page.html
var frame string

// frameTemplate returns the parsed frame.
var frameTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(frame)) })

// Style returns the style that all pages have: their colours, texts and tables.
func Style() string { return style }

// A Page is one self-contained HTML page.
type Page struct {
	Title  string
	Links  []Link
	Style  template.CSS
	Script template.JS
	Body   template.HTML
}

// A Link is a link to another page of the same site.
type Link struct{ To, Text string }

// New returns a page with the style that all pages have, followed by further styles.
func New(title string, body template.HTML, styles ...string) Page {
	return Page{Title: title, Body: body, Style: template.CSS(style + strings.Join(styles, ""))}
}

// HTML returns the page in HTML.
func (p Page) HTML() []byte {
	var b strings.Builder
	if err := frameTemplate().Execute(&b, p); err != nil {
		panic(fmt.Sprintf("webpage: %v", err)) // a strings.Builder never fails, and the frame is tested
	}
	return []byte(b.String())
}
