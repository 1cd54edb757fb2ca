// Package webpage has the frame that all HTML pages of locksim share: the head, the links to
// other pages, and the style of texts and tables.
package webpage

import (
	_ "embed"
	"slices"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

//go:embed page.css
var style string

// Style returns the style that all pages have: their colours, texts and tables.
func Style() string { return style }

// A Page is one self-contained HTML page.
type Page struct {
	Title  string
	Links  []Link
	Style  string
	Script string
	Body   g.Node
}

// A Link is a link to another page of the same site.
type Link struct{ To, Text string }

// New returns a page with the style that all pages have, followed by further styles.
func New(title string, body g.Node, styles ...string) Page {
	return Page{Title: title, Body: body, Style: style + strings.Join(styles, "")}
}

// HTML returns the page in HTML.
func (p Page) HTML() []byte {
	return []byte(Render(h.Doctype(h.HTML(h.Lang("en"), p.head(), g.Text("\n"), p.body()))))
}

// head returns the head of the page.
func (p Page) head() g.Node {
	return h.Head(
		h.Meta(h.Charset("utf-8")),
		meta("viewport", "width=device-width, initial-scale=1"),
		meta("color-scheme", "light dark"),
		meta("generator", "locksim"),
		h.Link(h.Rel("icon"), h.Href("data:,")),
		h.TitleEl(g.Text(p.Title)),
		h.StyleEl(g.Raw(p.Style)),
	)
}

// meta returns an entry of the head.
func meta(name, content string) g.Node { return h.Meta(h.Name(name), h.Content(content)) }

// body returns what a reader sees: the links to other pages, and the report.
func (p Page) body() g.Node {
	return h.Body(
		h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to the report")), g.Text("\n"),
		h.Header(h.Class("site"),
			h.Span(h.Class("brand"), g.Text("locksim")), g.Text("\n"),
			g.If(len(p.Links) > 0, Nav(p.Links)),
		), g.Text("\n"),
		h.Main(h.ID("main"), p.Body), g.Text("\n"),
		g.If(p.Script != "", h.Script(g.Raw(p.Script))),
	)
}

// Nav returns the links to the other pages of a site.
func Nav(links []Link) g.Node {
	return h.Nav(h.Aria("label", "Site"), g.Map(links, func(l Link) g.Node { return A(l.To, l.Text) }))
}

// A returns a link with a text.
func A(address, text string) g.Node { return h.A(Href(address), g.Text(text)) }

// Href returns the attribute with the address of a link. It returns nil, which leaves a link
// that leads nowhere, for an address that could run a script, such as javascript:alert(1).
func Href(address string) g.Node {
	scheme, _, hasColon := strings.Cut(address, ":")
	isRelative := !hasColon || strings.ContainsAny(scheme, "/?#")
	if isRelative || slices.Contains([]string{"http", "https", "mailto"}, strings.ToLower(scheme)) {
		return h.Href(address)
	}
	return nil
}

// Render returns a piece of a page in HTML.
func Render(piece g.Node) string { return g.Group{piece}.String() }
