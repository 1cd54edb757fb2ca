package png

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// The fonts of Go have Latin, Greek and Cyrillic letters, but no marks for right and wrong. The
// marks are drawn as lines, and any other character that the fonts lack is drawn as a box.
var (
	regularFont = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(goregular.TTF) })
	boldFont    = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(gobold.TTF) })
)

// marks are the characters that the fonts lack, with their shapes: lines in a square whose
// side is the font's size. The origin is on the baseline.
var marks = map[rune][][4]float64{
	'✓': {{.12, -.32, .32, -.08}, {.32, -.08, .70, -.68}},
	'✗': {{.14, -.66, .66, -.04}, {.66, -.66, .14, -.04}},
}

// box is the mark for a character that the fonts lack and that has no other mark.
var box = [][4]float64{{.12, 0, .12, -.7}, {.12, -.7, .72, -.7}, {.72, -.7, .72, 0}, {.72, 0, .12, 0}}

// markAdvance is the width of a mark, as a part of the font's size.
const markAdvance = .84

// drawText draws a text element.
func (p *painter) drawText(e *element, s style) error {
	n, err := e.numbers("x", "y")
	if err != nil {
		return err
	}
	// The matrix would scale letters as images, so letters are placed in pixels of the image.
	x, y := p.context.TransformPoint(n[0], n[1])
	size := s.fontSize * p.factor
	face, err := faceOf(s.isBold, size)
	if err != nil {
		return err
	}
	defer face.Close()
	text := strings.TrimSpace(e.text)
	switch width := advance(face, size, text); s.anchor {
	case "middle":
		x -= width / 2
	case "end":
		x -= width
	}
	p.context.Push()
	defer p.context.Pop()
	p.context.Identity()
	p.context.SetFontFace(face)
	outline, err := p.paint(s.stroke, s, s.strokeOpacity)
	if err != nil {
		return err
	}
	if outline != nil && s.strokesFirst {
		const directions = 16
		radius := s.strokeWidth * p.factor / 2
		for i := range directions {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / directions)
			p.drawLetters(face, text, x+radius*cos, y+radius*sin, size, s.isBold, outline)
		}
	}
	if fill, err := p.paint(s.fill, s, s.fillOpacity); err != nil {
		return err
	} else if fill != nil {
		p.drawLetters(face, text, x, y, size, s.isBold, fill)
	}
	return nil
}

// faceOf returns a font with letters of a size in pixels of the image.
func faceOf(isBold bool, size float64) (font.Face, error) {
	load := regularFont
	if isBold {
		load = boldFont
	}
	loaded, err := load()
	if err != nil {
		return nil, fmt.Errorf("the font: %w", err)
	}
	return opentype.NewFace(loaded, &opentype.FaceOptions{Size: size, DPI: 72})
}

// advance returns the width of a text.
func advance(face font.Face, size float64, text string) float64 {
	width := 0.0
	for _, part := range splitMarks(face, text) {
		if part.mark != nil {
			width += markAdvance * size
			continue
		}
		width += float64(font.MeasureString(face, part.text)) / 64
	}
	return width
}

// drawLetters draws a text that begins at x on the baseline y.
func (p *painter) drawLetters(face font.Face, text string, x, y, size float64, isBold bool, paint gg.Pattern) {
	p.context.SetFillStyle(paint) // letters have the colour of fillings
	p.context.SetStrokeStyle(paint)
	p.context.SetLineCapRound()
	p.context.SetDash()
	p.context.SetLineWidth(size * .1)
	if isBold {
		p.context.SetLineWidth(size * .15)
	}
	for _, part := range splitMarks(face, text) {
		if part.mark == nil {
			p.context.DrawString(part.text, x, y)
			x += float64(font.MeasureString(face, part.text)) / 64
			continue
		}
		for _, line := range part.mark {
			p.context.DrawLine(x+line[0]*size, y+line[1]*size, x+line[2]*size, y+line[3]*size)
		}
		p.context.Stroke()
		x += markAdvance * size
	}
}

// A textPart is a part of a text that the fonts can draw, or one mark.
type textPart struct {
	text string
	mark [][4]float64
}

func splitMarks(face font.Face, text string) []textPart {
	var parts []textPart
	begin := 0
	for i, r := range text {
		mark, ok := marks[r]
		if !ok {
			if _, hasGlyph := face.GlyphAdvance(r); hasGlyph {
				continue
			}
			mark = box
		}
		if begin < i {
			parts = append(parts, textPart{text: text[begin:i]})
		}
		parts = append(parts, textPart{mark: mark})
		begin = i + len(string(r))
	}
	if begin < len(text) {
		parts = append(parts, textPart{text: text[begin:]})
	}
	return parts
}
