package browser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// mobile is the width of many phones.
var mobile = view{width: 390, height: 844}

// visibleTexts returns the texts that the reader sees in a run's diagram and in its
// timeline: those that are not hidden and not behind the curtain.
func (p *tab) visibleTexts(run string) []string {
	p.t.Helper()
	return eval[[]string](p, fmt.Sprintf(`(() => {
		const figure = document.querySelector("figure.run[data-run=%[1]s]"), veil = figure.querySelector(".veil")
		const edge = Number(veil.getAttribute("x")), above = [...figure.querySelector("svg").children].indexOf(veil)
		const isAbove = e => [...figure.querySelector("svg").children].indexOf(e.closest("svg > *")) > above
		const drawn = [...figure.querySelectorAll("svg text")].filter(e => e.checkVisibility({ visibilityProperty: true }) && !e.closest(".labels, .tick")
			&& (isAbove(e) || e.getBBox().x < edge || e.getBBox().y < Number(veil.getAttribute("y"))))
		const told = [...document.querySelectorAll("ol.steps[data-run=%[1]s] > li")].filter(e => e.checkVisibility())
		return [...drawn, ...told].map(e => e.textContent.trim())
	})()`, run))
}

// A reader at one step sees nothing of what comes later: no flag of a property that is
// violated later, no write, no later step of the timeline. At the last step everything is
// visible.
func TestTheFutureIsHidden(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	steps := p.timeline("off")
	p.press(kb.Home)
	seen := make([][]string, len(steps)) // the visible texts at each step
	for i := range steps {
		p.until("the curtain stands still", fmt.Sprintf(`(() => {
			const step = document.querySelectorAll("ol.steps[data-run=off] > li")[%d], veil = document.querySelector("[data-run=off] .veil")
			return step.nextElementSibling ? Number(veil.getAttribute("x")) === Number(step.dataset.x) + 2 : Number(veil.getAttribute("width")) === 0
		})()`, i))
		seen[i] = p.visibleTexts("off")
		p.press(kb.ArrowRight)
	}
	// A text, and what the step says with which it appears.
	for _, c := range []struct{ drawn, step string }{
		{"✗ section-exclusion", "client-2 gets the lock"},
		{"✗ write-order", "applies client-1's write"},
		{"W 1", "applies client-1's write"},
		{"token 2", "client-2 gets the lock"},
		{"fault 1 ends", "resumes"},
	} {
		at := slices.IndexFunc(steps, func(s string) bool { return strings.Contains(s, c.step) })
		if at < 1 {
			t.Fatalf("the step %q is number %d of %q", c.step, at, steps)
		}
		shows := func(i int) bool {
			return slices.ContainsFunc(seen[i], func(text string) bool { return strings.Contains(text, c.drawn) })
		}
		for i := range at {
			if shows(i) {
				t.Errorf("step %d shows %q, which happens in step %d", i+1, c.drawn, at+1)
			}
		}
		if !shows(len(steps) - 1) {
			t.Errorf("the last step does not show %q", c.drawn)
		}
	}
}

// While the player moves to the next step, the messages that are on their way move. For a
// reader who has asked for reduced motion, nothing moves.
func TestMessagesMove(t *testing.T) {
	for _, still := range []bool{false, true} {
		t.Run(fmt.Sprintf("reduced motion %v", still), func(t *testing.T) {
			v := desktop
			v.reducedMotion = still
			p := show(t, writePage(t, runScenario(t, "gc-pause")), v)
			p.choose("off")
			p.press(kb.Home)
			// The positions at which the dots of messages are drawn until the step has ended.
			places := eval[int](p, `new Promise(done => {
				const seen = new Set(), veil = document.querySelector("[data-run=off] .veil")
				document.querySelector(".player [data-do=next]").click()
				const began = performance.now()
				const look = () => {
					for (const dot of document.querySelectorAll("[data-run=off] .dots circle")) seen.add(dot.getAttribute("cx") + " " + dot.getAttribute("cy"))
					if (performance.now() - began < 1500) requestAnimationFrame(look)
					else done(seen.size)
				}
				look()
			})`)
			if still && places > 1 {
				t.Errorf("the messages are drawn in %d places, want at most one", places)
			}
			if !still && places < 4 {
				t.Errorf("the messages are drawn in %d places, want several", places)
			}
		})
	}
}

// Whatever step is shown, the player covers no lane, on a phone and on a desktop, and both
// are in the window.
func TestThePlayerCoversNoLane(t *testing.T) {
	for _, v := range []view{mobile, desktop} {
		t.Run(v.String(), func(t *testing.T) {
			p := show(t, writePage(t, runScenario(t, "gc-pause")), v)
			p.choose("off")
			p.press(kb.Home)
			for i := range p.timeline("off") {
				r := eval[struct{ PlayerTop, PlayerBottom, LanesTop, LanesBottom, Window float64 }](p, `(() => {
					const player = document.querySelector(".player").getBoundingClientRect(), view = document.querySelector("figure.run[data-run=off] .scroller").getBoundingClientRect()
					return { PlayerTop: player.top, PlayerBottom: player.bottom, LanesTop: view.top, LanesBottom: view.bottom, Window: innerHeight }
				})()`)
				if r.PlayerBottom > r.LanesTop || r.PlayerTop < 0 || r.LanesBottom > r.Window+1 {
					t.Errorf("step %d: the player is from %.0f to %.0f px and the lanes from %.0f to %.0f, in a window of %.0f px",
						i+1, r.PlayerTop, r.PlayerBottom, r.LanesTop, r.LanesBottom, r.Window)
				}
				p.press(kb.ArrowRight)
			}
		})
	}
}

// states returns the rows of the table of states of a run.
func (p *tab) states(run string) []string {
	p.t.Helper()
	return eval[[]string](p, fmt.Sprintf(`[...document.querySelectorAll(".told[data-run=%s] .state tbody tr")]
		.map(row => [...row.cells].map(c => c.textContent).join(" | "))`, run))
}

// The table of states follows the steps, forwards and back.
func TestStatesAtEachStep(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("on")
	p.press(kb.Home)
	first := p.states("on")
	want := []string{
		"client-1 | in its critical section, token 1 | holds the lock until 29.698s",
		"client-2 | has not asked for the lock | ",
		"lock | held by client-1 | client-1's key on 5 of 5",
		"storage, x | version 0 | ",
	}
	if !slices.Equal(first, want) {
		t.Errorf("the states at the first step are %q, want %q", first, want)
	}
	p.press(kb.End)
	last := p.states("on")
	want = []string{"client-1 | done | ", "client-2 | done | ", "lock | held by nobody | ", "storage, x | version 1, by client-2 | written with token 2"}
	if !slices.Equal(last, want) {
		t.Errorf("the states at the last step are %q, want %q", last, want)
	}
	p.press(kb.Home)
	if again := p.states("on"); !slices.Equal(again, first) {
		t.Errorf("back at the first step the states are %q, want %q", again, first)
	}
}

// The answers are hidden until the reader asks for them.
func TestAnswersAreRevealed(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	lesson := `document.querySelector("details.answer > :not(summary)").checkVisibility({ contentVisibilityAuto: true })`
	if eval[bool](p, lesson) {
		t.Error("the answer is visible before the reader asks for it")
	}
	p.click("details.answer > summary")
	p.until("the answer is visible", lesson)
}

// A word with a dotted line shows its meaning to a reader who points at it or moves the
// focus to it, until the reader presses Escape.
func TestTermsExplainThemselves(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	term := `[...document.querySelectorAll("button.term")].find(e => e.textContent === "section-exclusion")`
	tip := `[...document.querySelectorAll("[role=tooltip]")].filter(e => e.checkVisibility()).map(e => e.textContent).join()`
	if got := eval[string](p, tip); got != "" {
		t.Errorf("the page explains %q at first", got)
	}
	eval[any](p, term+`.focus()`)
	if got := eval[string](p, tip); !strings.Contains(got, "critical section") {
		t.Errorf("with the focus on section-exclusion, the page explains %q", got)
	}
	if !eval[bool](p, `document.getElementById(`+term+`.getAttribute("aria-describedby")).checkVisibility()`) {
		t.Error("a screen reader does not learn of the meaning")
	}
	p.press(kb.Escape)
	if got := eval[string](p, tip); got != "" {
		t.Errorf("after Escape the page still explains %q", got)
	}
	place := eval[struct{ X, Y float64 }](p, `(() => { const r = `+term+`.getBoundingClientRect(); return { X: r.left + r.width / 2, Y: r.top + r.height / 2 } })()`)
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, place.X, place.Y))
	p.until("the word is explained to who points at it", `(`+tip+`).includes("critical section")`)
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, 1, 1))
	p.until("the meaning is gone", `(`+tip+`) === ""`)
}
