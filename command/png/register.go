package png

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/reports"
)

func init() {
	register(reports.Runs, "slides in programs that show no svg: the same pictures as images")
	register(reports.Sweeps, "slides in programs that show no svg: the bands of both runs as an image")
}

// register adds a format to a subject that has the format svg: the same pictures as PNG
// images.
func register[S any](subject *reports.Subject[S], title string) {
	svg, _ := subject.Lookup("svg")
	png := reports.Format[S]{Name: "png", Title: title, Most: svg.Most}
	png.Write = func(w io.Writer, s S, o reports.Options) error {
		var picture bytes.Buffer
		if err := svg.Write(&picture, s, o); err != nil {
			return err
		}
		_, err := w.Write(imageOf(picture.Bytes()))
		return err
	}
	if svg.Pages != nil {
		png.Pages = func(s S, o reports.Options) []reports.Page {
			pages := svg.Pages(s, o)
			for i, page := range pages {
				pages[i] = reports.Page{Name: imageName(page.Name), Data: imageOf(page.Data)}
			}
			return pages
		}
		png.Names = func(s S, o reports.Options) []string {
			names := svg.Names(s, o)
			for i, name := range names {
				names[i] = imageName(name)
			}
			return names
		}
	}
	subject.Register(png)
}

// imageOf draws a picture of package reports.
func imageOf(svg []byte) []byte {
	data, err := encode(svg)
	if err != nil {
		panic(fmt.Sprintf("png: %v", err)) // the styles and shapes of all pictures are tested
	}
	return data
}

// imageName returns the name of the image of a picture.
func imageName(svg string) string { return strings.TrimSuffix(svg, ".svg") + ".png" }
