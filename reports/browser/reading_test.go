package browser_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// fits reports an error if the page is wider than the window, and names the elements that
// make it so wide. Wide content has to be in a region that scrolls by itself.
func (p *tab) fits() {
	p.t.Helper()
	if eval[bool](p, `document.scrollingElement.scrollWidth <= innerWidth`) {
		return
	}
	wide := eval[[]string](p, `[...document.querySelectorAll("body *")]
		.filter(e => Math.abs(e.getBoundingClientRect().right - document.scrollingElement.scrollWidth) < 1)
		.slice(0, 5).map(e => e.outerHTML.slice(0, 200))`)
	p.t.Errorf("the page is %d px wide, in a window of %d px: %q", eval[int](p, `document.scrollingElement.scrollWidth`), eval[int](p, `innerWidth`), wide)
}

// No page of any kind has to be scrolled sideways.
func TestPagesFitTheWindow(t *testing.T) {
	folder := siteFolder(t)
	for _, name := range pageKinds(t) {
		t.Run(name, func(t *testing.T) {
			p := open(t, filepath.Join(folder, name), phone)
			p.fits()
			p.setView(desktop)
			p.fits()
		})
	}
}

// Neither has the page that compares locks, whose tables are wide and scroll by themselves. Its
// long sentences are no wider than a phone.
func TestComparisonFitsTheWindow(t *testing.T) {
	p := show(t, tallyPage(t), phone)
	p.fits()
	if widest := eval[float64](p, `Math.max(...[...document.querySelectorAll(".tally td > span")].map(e => e.getBoundingClientRect().width))`); widest > float64(phone.width) {
		t.Errorf("a text of a table is %.0f pixels wide, in a window of %d", widest, phone.width)
	}
	p.setView(desktop)
	p.fits()
}

// On a phone, no text of a storyboard is smaller than 12 pixels: the storyboard scrolls.
func TestStoryboardIsReadableOnAPhone(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), phone)
	smallest := eval[float64](p, `(svg => Math.min(...[...svg.querySelectorAll("text")].map(e => parseFloat(getComputedStyle(e).fontSize)))
		* svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)(document.querySelector(".board svg"))`)
	if smallest < 12 {
		t.Errorf("the smallest text has %.1f px", smallest)
	}
}

// A finger can hit the buttons: each of them is at least 24 by 24 pixels, as WCAG 2.2
// requires.
func TestButtonsAreLargeEnough(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), phone)
	boxes := p.boxes(".player button, label:has(input[name=fencing])")
	if len(boxes) < 8 {
		t.Fatalf("the player has only %d buttons and choices, want at least 8", len(boxes))
	}
	for _, b := range boxes {
		if b.Right-b.Left < 24 || b.Bottom-b.Top < 24 {
			t.Errorf("a button has %.0f × %.0f px, want at least 24 × 24", b.Right-b.Left, b.Bottom-b.Top)
		}
	}
}

// inView returns a condition in JavaScript. It is true if the reader sees all of the first
// element that matches a selector.
func inView(selector string) string {
	return fmt.Sprintf(`(() => {
		const e = document.querySelector(%q), r = e.getBoundingClientRect(), view = e.closest(".scroller").getBoundingClientRect()
		return r.width > 0 && r.left >= 0 && r.right <= innerWidth && r.top >= Math.max(0, view.top) && r.bottom <= Math.min(innerHeight, view.bottom)
	})()`, selector)
}

// On a phone the diagram is wider than the window. It scrolls so that the cursor at the
// current moment stays visible.
func TestCursorStaysVisibleOnAPhone(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), phone)
	p.choose("off")
	for _, key := range []string{kb.End, kb.Home} {
		p.press(key)
		p.until("the cursor is between the left and the right of the window", `(() => {
			const r = document.querySelector("[data-run=off] .cursor").getBoundingClientRect()
			return r.left >= 0 && r.right <= innerWidth
		})()`)
	}
}

// For a reader who has asked for reduced motion, nothing moves.
func TestReducedMotion(t *testing.T) {
	v := phone
	v.reducedMotion = true
	p := show(t, writePage(t, runScenario(t, "gc-pause")), v)
	p.choose("off")
	p.press(kb.End)
	if n := eval[int](p, `document.getAnimations().length`); n != 0 {
		t.Errorf("%d animations run, want none", n)
	}
	at := func() float64 {
		return eval[float64](p, `document.querySelector("[data-run=off] .cursor").getBoundingClientRect().left`)
	}
	before := at()
	time.Sleep(300 * time.Millisecond)
	if after := at(); before != after {
		t.Errorf("the cursor has moved from %.1f to %.1f", before, after)
	}
}

// The tab key reaches everything that can be used, and what has the focus is in the window.
func TestEverythingIsReachedByTab(t *testing.T) {
	for _, v := range []view{phone, desktop} {
		t.Run(v.String(), func(t *testing.T) {
			p := show(t, writePage(t, runScenario(t, "gc-pause")), v)
			missing := eval[[]string](p, `[...document.querySelectorAll("a[href], button, input:checked, summary, [tabindex='0']")]
				.filter(e => e.checkVisibility()).map((e, i) => e.dataset.nth = i + " " + e.cloneNode(false).outerHTML)`)
			if len(missing) < 10 {
				t.Fatalf("the page has fewer than 10 elements that can be used: %q", missing)
			}
			for range 2 * len(missing) {
				p.press(kb.Tab)
				focus := eval[struct {
					Nth            string
					Hidden, Marked bool
				}](p, `(() => {
					const e = document.activeElement, r = e.getBoundingClientRect()
					return {
						Nth: e.dataset.nth ?? "",
						Hidden: r.top >= innerHeight || r.bottom <= 0,
						Marked: getComputedStyle(e).outlineStyle !== "none",
					}
				})()`)
				if focus.Hidden {
					t.Errorf("the element with the focus is hidden: %s", focus.Nth)
				}
				if focus.Nth != "" && !focus.Marked {
					t.Errorf("the element with the focus has no outline: %s", focus.Nth)
				}
				missing = slices.DeleteFunc(missing, func(nth string) bool { return nth == focus.Nth })
			}
			if len(missing) > 0 {
				t.Errorf("the tab key never reaches %q", missing)
			}
		})
	}
}

// everythingIsVisible is a condition in JavaScript: all steps and all parts of the diagrams
// are visible, and no curtain covers them.
const everythingIsVisible = `[...document.querySelectorAll("ol.steps > li, svg.diagram .message, svg.diagram .pennant")]
	.every(e => e.checkVisibility({ visibilityProperty: true })) &&
	![...document.querySelectorAll(".veil")].some(e => e.checkVisibility())`

// Without JavaScript there is no player, but everything else can be read.
func TestWithoutJavaScript(t *testing.T) {
	v := desktop
	v.noScript = true
	p := show(t, writePage(t, runScenario(t, "gc-pause")), v)
	if got := p.visibleRuns(); !slices.Equal(got, []string{"off", "on"}) {
		t.Errorf("the visible runs are %q, want both", got)
	}
	if eval[bool](p, `[...document.querySelectorAll(".player button")].some(e => e.checkVisibility())`) {
		t.Error("the player is visible, although it cannot work")
	}
	if !eval[bool](p, everythingIsVisible) {
		t.Error("some steps of the timeline, or some parts of the diagrams, are hidden")
	}
	p.fits()
}

// On paper there is no player, and both runs are shown, whichever run was chosen.
func TestOnPaper(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("on")
	paper := desktop
	paper.print = true
	p.setView(paper)
	if got := p.visibleRuns(); !slices.Equal(got, []string{"off", "on"}) {
		t.Errorf("the visible runs are %q, want both", got)
	}
	if eval[bool](p, `document.querySelector(".player").checkVisibility()`) {
		t.Error("the player is visible on paper")
	}
	if !eval[bool](p, everythingIsVisible) {
		t.Error("some steps of the timeline, or some parts of the diagrams, are hidden on paper")
	}
}
