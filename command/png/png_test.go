package png

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/storyboard"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// drawn returns the image of what is in an svg element of 40 × 20 pixels.
func drawn(t *testing.T, inside string) image.Image {
	t.Helper()
	data, err := encode([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">` + inside + `</svg>`))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size != (image.Point{40 * scale, 20 * scale}) {
		t.Fatalf("the image has %v pixels", size)
	}
	return img
}

// at returns the colour of a pixel of the picture, as #rrggbb.
func at(img image.Image, x, y int) string {
	c := color.NRGBAModel.Convert(img.At(x*scale, y*scale)).(color.NRGBA)
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

const (
	white = "#ffffff"
	red   = "#ff0000"
	blue  = "#0000ff"
)

func TestShapes(t *testing.T) {
	tests := map[string]struct {
		inside string
		want   map[[2]int]string
	}{
		"a rectangle": {
			`<rect x="10" y="5" width="10" height="10" fill="#ff0000"/>`,
			map[[2]int]string{{15, 10}: red, {25, 10}: white, {15, 17}: white},
		},
		"round corners": {
			`<rect x="0" y="0" width="20" height="20" rx="10" fill="#f00"/>`,
			map[[2]int]string{{10, 10}: red, {1, 1}: white},
		},
		"an outline without a filling": {
			`<style>rect { fill: none; stroke: #f00; stroke-width: 4 }</style><rect x="10" y="5" width="20" height="10"/>`,
			map[[2]int]string{{10, 10}: red, {20, 10}: white, {20, 5}: red},
		},
		"dashes": {
			`<style>path { stroke: #f00; stroke-width: 4; stroke-dasharray: 10 10 }</style><path d="M0 10H40"/>`,
			map[[2]int]string{{5, 10}: red, {15, 10}: white, {25, 10}: red},
		},
		"relative lines that end where they began": {
			`<path fill="#f00" d="M10 5h10v10l-10 0z"/>`,
			map[[2]int]string{{15, 10}: red, {25, 10}: white},
		},
		"half the opacity": {
			`<style>g { opacity: .5 } rect { fill-opacity: .5 }</style><g><rect width="40" height="20" fill="#000"/></g>`,
			map[[2]int]string{{10, 10}: "#bfbfbf"},
		},
		"a group that is moved": {
			`<g transform="translate(20 0)"><rect width="20" height="20" fill="#f00"/></g>`,
			map[[2]int]string{{10, 10}: white, {30, 10}: red},
		},
		"an inner picture hides what reaches over its edges": {
			`<svg x="10" width="10" height="10"><rect width="40" height="20" fill="#f00"/></svg>`,
			map[[2]int]string{{5, 5}: white, {15, 5}: red, {25, 5}: white, {15, 15}: white},
		},
		"a pattern": {
			`<defs><pattern id="p" width="10" height="10"><rect width="5" height="10" fill="#00f"/></pattern></defs>
			 <style>.p { fill: url(#p) }</style><rect class="p" width="40" height="20"/>`,
			map[[2]int]string{{2, 10}: blue, {7, 10}: white, {12, 10}: blue, {37, 10}: white},
		},
		"a pattern that is turned": {
			`<defs><pattern id="p" width="10" height="10" patternTransform="rotate(90)"><rect width="5" height="10" fill="#00f"/></pattern></defs>
			 <style>.p { fill: url(#p) }</style><rect class="p" width="40" height="20"/>`,
			map[[2]int]string{{2, 2}: blue, {7, 2}: blue, {2, 7}: white, {7, 7}: white},
		},
		"currentColor is the colour of the nearest element that has one": {
			`<style>.a { color: #f00 } .b { color: #00f } rect { fill: currentColor }</style>
			 <g class="a"><g class="b"><rect width="20" height="20"/></g><rect x="20" width="20" height="20"/></g>`,
			map[[2]int]string{{10, 10}: blue, {30, 10}: red},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			img := drawn(t, test.inside)
			for p, want := range test.want {
				if got := at(img, p[0], p[1]); got != want {
					t.Errorf("the pixel %v is %s, want %s", p, got, want)
				}
			}
		})
	}
}

// TestRules checks which of several rules sets the colour of a rectangle.
func TestRules(t *testing.T) {
	tests := map[string]struct{ sheet, want string }{
		"the last of equal rules":           {`rect { fill: #f00 } rect { fill: #00f }`, blue},
		"a class counts more":               {`.in { fill: #00f } rect { fill: #f00 }`, blue},
		"two classes count more than one":   {`.in.bar { fill: #00f } .in { fill: #f00 }`, blue},
		"an element around it":              {`.out rect { fill: #00f } rect { fill: #f00 }`, blue},
		"no such element around it":         {`.other rect { fill: #f00 }`, "#000000"},
		"an outer element in between":       {`.out .in { fill: #00f }`, blue},
		"one of several selectors":          {`circle, rect { fill: #00f }`, blue},
		"inherited":                         {`g { fill: #00f }`, blue},
		"its own rule before the inherited": {`rect { fill: #00f } .out { fill: #f00 }`, blue},
		"only for dark pages":               {`rect { fill: #00f } @media (prefers-color-scheme: dark) { rect { fill: #f00 } }`, blue},
		"a comment":                         {`/* rect { fill: #f00 } */ rect { fill: #00f }`, blue},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			img := drawn(t, `<style>`+test.sheet+`</style><g class="out"><g><rect class="in bar" width="40" height="20"/></g></g>`)
			if got := at(img, 20, 10); got != test.want {
				t.Errorf("the rectangle is %s, want %s", got, test.want)
			}
		})
	}
}

// inked returns the first and last columns of the picture with anything but white.
func inked(img image.Image) (first, last int) {
	first, last = -1, -1
	for x := range img.Bounds().Dx() / scale {
		for y := range img.Bounds().Dy() / scale {
			if at(img, x, y) != white {
				if first < 0 {
					first = x
				}
				last = x
			}
		}
	}
	return first, last
}

func TestTextsAreAnchored(t *testing.T) {
	for _, text := range []string{"token", "✓✗", "→", "锁"} {
		write := func(attributes string) (int, int) {
			return inked(drawn(t, `<text y="15" font-size="10" `+attributes+`>`+text+`</text>`))
		}
		if first, last := write(`x="0"`); first < 0 || first > 4 || last > 35 {
			t.Errorf("%s at 0 has the columns %d to %d", text, first, last)
		}
		if first, last := write(`x="40" text-anchor="end"`); last < 35 || first < 5 {
			t.Errorf("%s that ends at 40 has the columns %d to %d", text, first, last)
		}
		if first, last := write(`x="20" text-anchor="middle"`); first+last < 34 || first+last > 44 {
			t.Errorf("%s around 20 has the columns %d to %d", text, first, last)
		}
	}
}

func TestUnknownPartsAreErrors(t *testing.T) {
	for inside, want := range map[string]string{
		`<ellipse/>`: `the element ellipse is not known`,
		`<style>rect { filter: blur }</style><rect/>`:                   `style "filter: blur": this property is not known`,
		`<style>g &gt; rect { fill: none }</style>`:                     `the selector "g > rect" is of a kind that is not known`,
		`<style>rect { fill: red }</style><rect width="2" height="2"/>`: `"red" is not a colour`,
		`<path d="M0 0A1 1 0 0 0 2 2"/>`:                                `a path has the command A with 7 numbers`,
		`<rect x="1em"/>`:                                               `x="1em" of rect is not a number`,
		`<g transform="scale(2)"/>`:                                     `transform="scale(2)" is not known`,
		`<rect fill="url(#none)" width="2" height="2"/>`:                `there is no pattern "none"`,
	} {
		_, err := encode([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">` + inside + `</svg>`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %s", inside, err, want)
		}
	}
}

func TestImageIsAPage(t *testing.T) {
	data, err := encode([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"/>`))
	if err != nil {
		t.Fatal(err)
	}
	if !reports.IsPage(data) {
		t.Error("a report does not replace the image of an earlier report")
	}
}

// isMissing reports whether this program lacks the lock of a variant.
func isMissing(v *scenarios.Variant) bool {
	kind, ok := locks.Lookup(v.Lock)
	return !ok || kind.CheckProvided() != nil
}

// TestPicturesOfScenarios checks that nothing in the pictures of the scenarios is unknown.
func TestPicturesOfScenarios(t *testing.T) {
	svg, _ := reports.Runs.Lookup("svg")
	for i, s := range scenarios.Embedded() {
		if testing.Short() && i%20 != 0 || slices.ContainsFunc(s.Variants, isMissing) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r, err := scenarios.Run(s, scenarios.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, style := range []string{storyboard.FullStyle, storyboard.StoryboardStyle} {
				var picture bytes.Buffer
				if err := svg.Write(&picture, []*scenarios.Result{r}, reports.Options{Style: style}); err != nil {
					t.Fatal(err)
				}
				// With few pixels it takes less time, and meets the same elements and rules.
				if _, err := draw(picture.Bytes(), .1); err != nil {
					t.Errorf("%s: %v", style, err)
				}
			}
		})
	}
}
