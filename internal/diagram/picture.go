package diagram

import (
	"html/template"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// A Strip is one figure of a picture, with its heading. A picture shows several strips, one
// below the other.
type Strip struct {
	Heading string
	Figure  Figure
}

// A sheet is the data of the template that writes a picture.
type sheet struct {
	Title         string
	Style         template.CSS
	Width, Height int
	Strips        []placedStrip
	KeyY          int
	Key           figureKey
}

// A placedStrip is a strip with its vertical position.
type placedStrip struct {
	Strip
	Y int
}

// Picture draws figures one below the other as a self-contained SVG document for slides and
// papers. At its end it explains the signs. The colours are those of the first rule of
// page, a style sheet, which are the colours of a light page.
func Picture(title string, strips []Strip, page string) []byte {
	const titleHeight, headingHeight = 44, 34
	s := sheet{Title: story.Visible(textwrap.OneLine(title)), Style: template.CSS(paperStyle(page)), Height: titleHeight}
	s.Width = textWidth(s.Title, 18) + 28
	for _, strip := range strips {
		s.Height += headingHeight
		s.Strips = append(s.Strips, placedStrip{strip, s.Height})
		s.Height += strip.Figure.Height
		s.Width = max(s.Width, strip.Figure.Width, textWidth(strip.Heading, 14)+28)
	}
	s.Key, s.KeyY = newKey(14), s.Height
	s.Height += s.Key.Height
	s.Width = max(s.Width, s.Key.Width)
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + string(fill("svg.html", s)))
}

var (
	// rootRule matches the first rule of a style sheet, colour the definition of a colour
	// in it, and colourUse a reference to a colour.
	rootRule  = lazy.Regexp(`(?s)^[^{]*:root \{(.*?)\}`)
	colour    = lazy.Regexp(`--([a-z0-9-]+): (#[0-9a-f]+)`)
	colourUse = lazy.Regexp(`var\(--([a-z0-9-]+)\)`)
)

// paperStyle returns the style of a self-contained picture. It replaces the variables for
// colours by the values of a light page, because programs for slides and papers do not
// support variables.
func paperStyle(page string) string {
	values := map[string]string{}
	for _, style := range []string{page, asset("diagram-colours.css")} {
		for _, c := range colour().FindAllStringSubmatch(rootRule().FindString(style), -1) {
			values[c[1]] = c[2]
		}
	}
	style := colourUse().ReplaceAllStringFunc(asset("diagram.css"), func(reference string) string {
		return values[colourUse().FindStringSubmatch(reference)[1]]
	})
	const headings = ".title { font: 700 18px sans-serif; } .heading { font: 600 14px sans-serif; }\n"
	return strings.TrimSpace(style) + "\n" + headings
}
