package diagram

import (
	"html/template"
	"strings"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// A Strip is a figure of a picture, and what stands above it.
type Strip struct {
	Heading string
	Figure  Figure
}

// A sheet is a picture laid out.
type sheet struct {
	Title         string
	Style         template.CSS
	Width, Height int
	Strips        []placedStrip
	KeyY          int
	Key           figureKey
}

type placedStrip struct {
	Strip
	Y int
}

// Picture draws figures one below the other as an SVG document that stands alone, for
// slides and papers, with a key at its end. The first rule of the page's style says what
// its colours are.
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
	firstColours = lazy.Regexp(`(?s)^[^{]*:root \{(.*?)\}`)
	colour       = lazy.Regexp(`--([a-z0-9-]+): (#[0-9a-f]+)`)
	useOfColour  = lazy.Regexp(`var\(--([a-z0-9-]+)\)`)
)

// paperStyle is the style of a picture that stands alone: with the colours of a light
// page written out, because programs that draw slides and papers know no variables.
func paperStyle(page string) string {
	value := map[string]string{}
	for _, style := range []string{page, asset("diagram-colours.css")} {
		for _, c := range colour().FindAllStringSubmatch(firstColours().FindString(style), -1) {
			value[c[1]] = c[2]
		}
	}
	style := useOfColour().ReplaceAllStringFunc(asset("diagram.css"), func(use string) string {
		return value[useOfColour().FindStringSubmatch(use)[1]]
	})
	const headings = ".title { font: 700 18px sans-serif; } .heading { font: 600 14px sans-serif; }\n"
	return strings.TrimSpace(style) + "\n" + headings
}
