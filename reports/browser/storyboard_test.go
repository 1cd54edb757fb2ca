package browser_test

import (
	"strconv"
	"testing"
)

// In a browser, no text of a storyboard covers another, and each is in the picture.
func TestTextsOfStoryboards(t *testing.T) {
	for _, name := range []string{"gc-pause", "clock-jump", "same-split"} {
		p := show(t, writePage(t, runScenario(t, name)), desktop)
		texts := eval[[]struct {
			Text                string
			X, Y, Width, Height float64
		}](p, `[...document.querySelectorAll(".storyboard text")].map(e => { const b = e.getBBox(); return {Text: e.textContent, X: b.x, Y: b.y, Width: b.width, Height: b.height}; })`)
		if len(texts) < 10 {
			t.Fatalf("%s: the storyboard has %d texts, want at least 10", name, len(texts))
		}
		for i, a := range texts {
			if a.X < 0 || a.Y < 0 || a.X+a.Width > 1280 || a.Y+a.Height > 720 {
				t.Errorf("%s: the text %q is not in the picture", name, a.Text)
			}
			for _, b := range texts[i+1:] {
				if a.X < b.X+b.Width && b.X < a.X+a.Width && a.Y+2 < b.Y+b.Height && b.Y+2 < a.Y+a.Height { // lines may touch
					t.Errorf("%s: the text %q covers %q", name, a.Text, b.Text)
				}
			}
		}
	}
}

// On a phone the storyboard is wider than the screen: its right edge fades until the reader has
// scrolled to the end. On a desktop nothing fades.
func TestStoryboardFades(t *testing.T) {
	const board = `document.querySelector(".board .scroller")`
	path := writePage(t, runScenario(t, "gc-pause"))
	for _, c := range []struct {
		view
		fades bool
	}{{mobile, true}, {desktop, false}} {
		p := show(t, path, c.view)
		p.until("the storyboard is looked at", board+`.classList.contains("more") === `+strconv.FormatBool(c.fades))
		eval[any](p, board+`.scrollLeft = 1e6; null`)
		p.until("nothing fades at the end", `!`+board+`.classList.contains("more")`)
	}
}

// The link below the storyboard leads to the full diagram, also by keyboard.
func TestLinkToTheFullDiagram(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	const link = `document.querySelector(".board figcaption a")`
	if id := eval[string](p, `(`+link+`.focus(), document.activeElement === `+link+` ? `+link+`.getAttribute("href").slice(1) : "")`); id == "" || !eval[bool](p, `document.getElementById("`+id+`").querySelector("svg.diagram:not(.storyboard)") !== null`) {
		t.Errorf("the link leads to %q, want the focus on it and a full diagram there", id)
	}
}
