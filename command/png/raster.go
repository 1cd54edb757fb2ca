// Package png adds the format png to the reports that have the format svg. It draws the same
// pictures as images, for programs that show no SVG. A program that imports this package has
// the format; it needs fonts, so not every program has it.
//
// The package knows the part of SVG and CSS that these pictures use: rectangles, circles,
// paths, texts, patterns, and style rules that select by element and class. Anything else is
// an error, so that a picture never lacks something silently.
// style.go reads the style sheet, tree.go the elements, and paint.go draws them.
package png

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"math"
	"slices"

	"git.sr.ht/~sbinet/gg"
)

// The size of an image. For each pixel of the picture, the image has scale pixels in each
// direction, because screens for slides show that many. It has fewer if it would otherwise have
// more than maxPixels.
const (
	scale     = 2
	maxPixels = 40e6
)

// encode returns an SVG picture as a PNG image with the colours of a light page.
func encode(picture []byte) ([]byte, error) {
	drawn, err := draw(picture, scale)
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be drawn as png: %w", err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, drawn); err != nil {
		return nil, err
	}
	return markAsPage(b.Bytes()), nil
}

// draw draws an SVG picture. For each pixel of the picture, the image has factor pixels in each
// direction, or fewer if it would otherwise have more than maxPixels.
func draw(picture []byte, factor float64) (image.Image, error) {
	root, rules, err := parse(picture)
	if err != nil {
		return nil, err
	}
	width, height, err := root.size()
	if err != nil {
		return nil, err
	}
	factor = min(factor, math.Sqrt(maxPixels/(width*height)))
	p := &painter{context: newContext(width, height, factor), sheet: rules, factor: factor, patterns: map[string]*element{}}
	p.context.SetRGB(1, 1, 1)
	p.context.Clear()
	return p.context.Image(), p.draw(root, nil, initialStyle)
}

// newContext returns an empty image for a picture of a size.
func newContext(width, height, factor float64) *gg.Context {
	c := gg.NewContext(int(math.Ceil(width*factor)), int(math.Ceil(height*factor)))
	c.Scale(factor, factor)
	return c
}

// headerLength is how many bytes a PNG image has before its first chunk after the header.
const headerLength = 8 + 25

// markAsPage adds to an image a text with the name of the program. By this text, [reports.IsPage]
// recognizes the image. The format of a chunk is in section 5.3 of the PNG specification,
// https://www.w3.org/TR/png-3/.
func markAsPage(data []byte) []byte {
	body := []byte("tEXt" + "Software\x00generator: locksim")
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	return slices.Concat(data[:headerLength], chunk, data[headerLength:])
}
