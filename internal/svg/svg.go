// Package svg has the parts of SVG that the pictures of locksim consist of.
package svg

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// Namespace returns the attribute that declares the outermost element of a picture as SVG.
func Namespace() g.Node { return g.Attr("xmlns", "http://www.w3.org/2000/svg") }

// ViewBox returns the attribute that lets a picture of this size be scaled.
func ViewBox(width, height int) g.Node {
	return g.Attr("viewBox", "0 0 "+strconv.Itoa(width)+" "+strconv.Itoa(height))
}

// Number returns an attribute with a number.
func Number(name string, value int) g.Node { return g.Attr(name, strconv.Itoa(value)) }

// Size returns the attributes with the size of an element in pixels.
func Size(width, height int) g.Node {
	return g.Group{Number("width", width), Number("height", height)}
}

// class returns the attribute with the CSS classes of an element; nil if it has none.
func class(names string) g.Node { return g.If(names != "", h.Class(names)) }

// Group returns elements that belong together.
func Group(classes string, parts ...g.Node) g.Node {
	return g.El("g", class(classes), g.Group(parts))
}

// Shifted returns elements that are moved down by y pixels.
func Shifted(classes string, y int, parts ...g.Node) g.Node {
	return Group(classes, g.Attr("transform", "translate(0 "+strconv.Itoa(y)+")"), g.Group(parts))
}

// Paper returns the background of a picture.
func Paper(width, height int) g.Node {
	return g.El("rect", class("paper"), Size(width, height))
}

// Rect returns a rectangle. more are further attributes.
func Rect(classes string, x, y, width, height int, more ...g.Node) g.Node {
	return g.El("rect", class(classes), Number("x", x), Number("y", y), Size(width, height), g.Group(more))
}

// Path returns a line. course is its attribute d, and more are further parts, such as a
// title.
func Path(classes, course string, more ...g.Node) g.Node {
	return g.El("path", class(classes), g.Attr("d", course), g.Group(more))
}

// Text returns one line of text. y is its baseline, and more are further attributes.
func Text(classes string, x, y int, text string, more ...g.Node) g.Node {
	return g.El("text", class(classes), Number("x", x), Number("y", y), g.Group(more), g.Text(text))
}

// Centred returns one line of text whose middle is at x.
func Centred(classes string, x, y int, text string) g.Node {
	return Text(classes, x, y, text, g.Attr("text-anchor", "middle"))
}

// Title returns a title for an element: a text that appears when a reader points at the
// element.
func Title(text string) g.Node { return h.TitleEl(g.Text(text)) }

// Lines draws all things, each on its own line of the file, so that a change of a picture is easy
// to review.
func Lines[T any](all []T, draw func(T) g.Node) g.Group {
	return g.Map(all, func(t T) g.Node { return g.Group{g.Text("\n"), draw(t)} })
}

// Document returns a self-contained picture with a title and a style. role is how screen readers
// treat it: as an image, or as a group of elements.
func Document(role, title, style string, width, height int, parts ...g.Node) []byte {
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + g.Group{h.SVG(
		Namespace(), ViewBox(width, height), Size(width, height), h.Role(role), h.Aria("label", title),
		Title(title), h.StyleEl(g.Raw(style)), g.Group(parts),
	)}.String() + "\n")
}
