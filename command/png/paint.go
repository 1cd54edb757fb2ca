package png

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"git.sr.ht/~sbinet/gg"
)

// A painter draws elements into an image.
type painter struct {
	context *gg.Context
	sheet   sheet
	// factor is the number of image pixels for each pixel of the picture.
	factor   float64
	patterns map[string]*element
}

// draw draws an element and what is in it. around are the elements around it, from the
// outermost, and outer is the style of the last.
func (p *painter) draw(e *element, around []*element, outer style) error {
	switch e.name {
	case "title", "desc", "style":
		return nil
	case "defs":
		for _, pattern := range e.children {
			p.patterns[pattern.attributes["id"]] = pattern
		}
		return nil
	}
	s, err := p.sheet.styleOf(e, around, outer)
	if err != nil {
		return err
	}
	switch e.name {
	case "svg", "g":
		return p.drawGroup(e, around, s)
	case "rect":
		err = p.addRectangle(e)
	case "circle":
		var n []float64
		if n, err = e.numbers("cx", "cy", "r"); err == nil {
			p.context.DrawCircle(n[0], n[1], n[2])
		}
	case "path":
		err = p.addPath(e.attributes["d"])
	case "text":
		return p.drawText(e, s)
	default:
		return fmt.Errorf("the element %s is not known", e.name)
	}
	if err != nil {
		return err
	}
	return p.fillAndStroke(s)
}

// drawGroup draws the children of an element.
func (p *painter) drawGroup(e *element, around []*element, s style) error {
	n, err := e.numbers("x", "y")
	if err != nil {
		return err
	}
	if transform, ok := e.attributes["transform"]; ok {
		var x, y float64
		if _, err := fmt.Sscanf(transform, "translate(%g %g)", &x, &y); err != nil {
			return fmt.Errorf("transform=%q is not known", transform)
		}
		n[0], n[1] = n[0]+x, n[1]+y
	}
	if width, height, err := e.size(); err == nil && e.name == "svg" && len(around) > 0 {
		// An inner svg element shows nothing beyond its edges, so it is drawn as an image of its
		// own.
		window := *p
		window.context = newContext(width, height, p.factor)
		x, y := p.context.TransformPoint(n[0], n[1])
		err := window.drawChildren(e, around, s)
		p.context.Push()
		defer p.context.Pop()
		p.context.Identity()
		p.context.DrawImage(window.context.Image(), int(x), int(y))
		return err
	}
	p.context.Push()
	defer p.context.Pop()
	p.context.Translate(n[0], n[1])
	return p.drawChildren(e, around, s)
}

// drawChildren draws what is in an element. s is the style of the element.
func (p *painter) drawChildren(e *element, around []*element, s style) error {
	around = append(slices.Clip(around), e)
	for _, child := range e.children {
		if err := p.draw(child, around, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *painter) addRectangle(e *element) error {
	n, err := e.numbers("x", "y", "width", "height", "rx")
	if err != nil {
		return err
	}
	if corner := min(n[4], n[2]/2, n[3]/2); corner > 0 {
		p.context.DrawRoundedRectangle(n[0], n[1], n[2], n[3], corner)
	} else {
		p.context.DrawRectangle(n[0], n[1], n[2], n[3])
	}
	return nil
}

// fillAndStroke draws the path that was added.
func (p *painter) fillAndStroke(s style) error {
	defer p.context.ClearPath()
	fill, err := p.paint(s.fill, s, s.fillOpacity)
	if err != nil {
		return err
	}
	if fill != nil {
		p.context.SetFillStyle(fill)
		p.context.FillPreserve()
	}
	stroke, err := p.paint(s.stroke, s, s.strokeOpacity)
	if err != nil || stroke == nil {
		return err
	}
	p.context.SetStrokeStyle(stroke)
	p.context.SetLineCapButt()
	p.context.SetLineWidth(s.strokeWidth * p.factor)
	dashes := make([]float64, len(s.dashes))
	for i, n := range s.dashes {
		dashes[i] = n * p.factor
	}
	p.context.SetDash(dashes...)
	p.context.StrokePreserve()
	return nil
}

// paint returns the pattern that draws a paint (see [style]); nil if the paint draws nothing.
func (p *painter) paint(paint string, s style, opacity float64) (gg.Pattern, error) {
	opacity *= s.opacity
	if paint == "none" || opacity == 0 {
		return nil, nil
	}
	if id, ok := strings.CutPrefix(paint, "url(#"); ok {
		return p.newTile(strings.TrimSuffix(id, ")"))
	}
	c, err := s.colour(paint, opacity)
	return gg.NewSolidPattern(c), err
}

// colour returns the colour of a paint.
func (s style) colour(paint string, opacity float64) (color.NRGBA, error) {
	if paint == "currentColor" {
		paint = s.color
	}
	digits := strings.TrimPrefix(paint, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 {
		return color.NRGBA{}, fmt.Errorf("%q is not a colour", paint)
	}
	return color.NRGBA{byte(n >> 16), byte(n >> 8), byte(n), byte(math.Round(255 * opacity))}, nil
}

// A tile is a pattern that repeats an image.
type tile struct {
	image         *image.RGBA
	width, height float64
	// factor is the number of image pixels for each pixel of the picture. sin and cos are those of
	// the angle by which a point of the image is turned to find it in the tile.
	factor   float64
	sin, cos float64
}

// tileScale is the number of pixels in a tile for each pixel of the picture.
const tileScale = 8

// newTile draws the pattern with the given id.
func (p *painter) newTile(id string) (gg.Pattern, error) {
	pattern, ok := p.patterns[id]
	if !ok {
		return nil, fmt.Errorf("there is no pattern %q", id)
	}
	n, err := pattern.numbers("width", "height")
	if err != nil {
		return nil, err
	}
	degrees := 0.0
	if transform, ok := pattern.attributes["patternTransform"]; ok {
		if _, err := fmt.Sscanf(transform, "rotate(%g)", &degrees); err != nil {
			return nil, fmt.Errorf("patternTransform=%q is not known", transform)
		}
	}
	inner := &painter{context: newContext(n[0], n[1], tileScale), sheet: p.sheet, factor: tileScale}
	// A shape that crosses an edge of the tile is visible in the neighbouring tiles, too.
	for _, dx := range []float64{-n[0], 0, n[0]} {
		for _, dy := range []float64{-n[1], 0, n[1]} {
			inner.context.Push()
			inner.context.Translate(dx, dy)
			for _, child := range pattern.children {
				if err := inner.draw(child, []*element{pattern}, initialStyle); err != nil {
					return nil, err
				}
			}
			inner.context.Pop()
		}
	}
	sin, cos := math.Sincos(gg.Radians(-degrees))
	return tile{inner.context.Image().(*image.RGBA), n[0], n[1], p.factor, sin, cos}, nil
}

// ColorAt returns the colour of a pixel of the image: the mean of the pixels of the tile
// that it covers.
func (t tile) ColorAt(x, y int) color.Color {
	const samples = 3
	var r, g, b, a uint32 // sums of premultiplied values
	for i := range samples {
		for j := range samples {
			px := (float64(x) + (float64(i)+.5)/samples) / t.factor
			py := (float64(y) + (float64(j)+.5)/samples) / t.factor
			u, v := px*t.cos-py*t.sin, px*t.sin+py*t.cos
			u, v = u-math.Floor(u/t.width)*t.width, v-math.Floor(v/t.height)*t.height
			c := t.image.RGBAAt(int(u*tileScale), int(v*tileScale))
			r, g, b, a = r+uint32(c.R), g+uint32(c.G), b+uint32(c.B), a+uint32(c.A)
		}
	}
	const n = samples * samples
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), uint8(a / n)}
}
