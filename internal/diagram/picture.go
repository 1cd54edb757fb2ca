package diagram

import (
	"strings"

	g "maragu.dev/gomponents"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/svg"
	"github.com/locksim/locksim/internal/textwrap"
)

// A Strip is one figure of a picture, with its heading. A picture shows several strips, one
// below the other.
type Strip struct {
	Heading string
	Figure  Figure
}

// Picture draws figures one below the other as a self-contained SVG document for slides and
// papers. At its end it explains the signs. page is a style sheet whose first rule has the
// colours of a light page. The picture has these colours.
func Picture(title string, strips []Strip, page string) []byte {
	const titleHeight, headingHeight = 44, 34
	title = story.Visible(textwrap.OneLine(title))
	width, height := textWidth(title, 18)+28, titleHeight
	var drawn g.Group
	for _, strip := range strips {
		height += headingHeight
		drawn = append(drawn, g.Text("\n"), svg.Text("heading", 14, height-10, strip.Heading), g.Text("\n"), svg.Shifted("", height, strip.Figure.SVG()))
		height += strip.Figure.Height
		width = max(width, strip.Figure.Width, textWidth(strip.Heading, 14)+28)
	}
	key, keyY := newKey(14), height
	width, height = max(width, key.Width), height+key.Height
	return svg.Document("img", title, paperStyle(page), width, height,
		g.Raw(patterns), svg.Paper(width, height), svg.Text("title", 14, 30, title),
		drawn, g.Text("\n"), svg.Shifted("diagram", keyY, key.draw()))
}

var (
	// lightRule matches the first rule of a style sheet, with the colours of a light page, and
	// darkRule the rule for a dark page. colour matches the definition of a colour in them, and
	// colourUse a reference to a colour.
	lightRule = lazy.Regexp(`(?s)^[^{]*:root \{(.*?)\}`)
	darkRule  = lazy.Regexp(`(?s)\(prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}`)
	colour    = lazy.Regexp(`--([a-z0-9-]+): (#[0-9a-f]+)`)
	colourUse = lazy.Regexp(`var\(--([a-z0-9-]+)\)`)
)

// paperStyle returns the style of a self-contained picture, with the colours of a light page.
func paperStyle(page string) string {
	const headings = ".title { font: 700 18px sans-serif; } .heading { font: 600 14px sans-serif; }\n"
	return strings.TrimSpace(withColours(rules, page, lightRule().FindString)) + "\n" + headings
}

// PaperStyle returns the style of a self-contained picture that has figures in a further style.
// page is a style sheet with the colours of a light and of a dark page. The picture has the dark
// colours only in a program that prefers dark pages.
func PaperStyle(page, style string) string {
	style = rules + style
	light, dark := withColours(style, page, lightRule().FindString), withColours(style, page, darkRule().FindString)
	return light + "@media (prefers-color-scheme: dark) {\n" + dark + "}\n"
}

// withColours replaces the variables for colours in a style by their values, because programs for
// slides and papers do not support variables. The values are in one rule of page and in one rule
// of the diagram's own style sheet. rule returns this rule of a style sheet.
func withColours(style, page string, rule func(string) string) string {
	values := map[string]string{}
	for _, sheet := range []string{page, colours} {
		for _, c := range colour().FindAllStringSubmatch(rule(sheet), -1) {
			values[c[1]] = c[2]
		}
	}
	return colourUse().ReplaceAllStringFunc(style, func(reference string) string {
		return values[colourUse().FindStringSubmatch(reference)[1]]
	})
}
