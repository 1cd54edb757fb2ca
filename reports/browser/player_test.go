package browser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// visibleRuns returns the runs whose diagrams are visible.
func (p *tab) visibleRuns() []string {
	p.t.Helper()
	return eval[[]string](p, `[...document.querySelectorAll("figure.run")].filter(f => f.checkVisibility()).map(f => f.dataset.run)`)
}

// choose presses the key f until exactly these runs are visible.
func (p *tab) choose(runs ...string) {
	p.t.Helper()
	for range 3 {
		if slices.Equal(p.visibleRuns(), runs) {
			return
		}
		p.press("f")
	}
	p.t.Fatalf("pressing f never shows %q", runs)
}

// timeline returns the steps in the timeline of a run, each with its time, its subject, its
// text and its marks.
func (p *tab) timeline(run string) []string {
	p.t.Helper()
	return eval[[]string](p, fmt.Sprintf(`[...document.querySelectorAll("ol.steps[data-run=%s] > li")]
		.map(li => { const e = li.cloneNode(true); e.querySelector(".wait")?.remove(); return e.textContent.replace(/\s+/g, " ").trim() })`, run))
}

// A moment is the reader's position in the timeline of a run.
type moment struct {
	// Step is the index of the current step, or -1 if there is none.
	Step int
	// Said is the text that a screen reader reads out for the step. Detail is the text
	// about the message that has the focus.
	Said, Detail string
	// X is the cursor's distance from the left edge of the diagram, in pixels.
	X float64
}

// position returns the reader's position in the timeline of a run.
func (p *tab) position(run string) moment {
	p.t.Helper()
	return eval[moment](p, fmt.Sprintf(`(() => {
		const figure = document.querySelector("figure.run[data-run=%[1]s]")
		const steps = [...document.querySelectorAll("ol.steps[data-run=%[1]s] > li")]
		return {
			Step: steps.findIndex(li => li.getAttribute("aria-current") === "step"),
			Said: document.querySelector(".player [aria-live]").textContent.replace(/\s+/g, " ").trim(),
			Detail: document.querySelector(".player .detail").textContent,
			X: figure.querySelector(".cursor").getBoundingClientRect().left - figure.querySelector("svg").getBoundingClientRect().left,
		}
	})()`, run))
}

// The arrow keys move through the timeline. Each step becomes the current step, is read out
// by screen readers, and moves the cursor in the diagram.
func TestStepsByKey(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	steps := p.timeline("off")
	if len(steps) < 10 {
		t.Fatalf("the timeline has only %d steps, want at least 10", len(steps))
	}
	p.press(kb.Home)
	var visited []moment // the position at each step
	for range steps {
		visited = append(visited, p.position("off"))
		p.press(kb.ArrowRight)
	}
	for i, m := range visited {
		if m.Step != i || !strings.Contains(m.Said, steps[i]) {
			t.Errorf("step %d: the current step is %d, read out as %q, want %q", i, m.Step, m.Said, steps[i])
		}
		if i > 0 && m.X < visited[i-1].X {
			t.Errorf("step %d: the cursor goes back, from %.1f to %.1f", i, visited[i-1].X, m.X)
		}
	}
	last := visited[len(visited)-1]
	if first := visited[0]; last.X <= first.X {
		t.Errorf("at the last step the cursor is not to the right of its first place, %.1f", first.X)
	}
	if m := p.position("off"); m != last {
		t.Errorf("the right arrow key leads from the last step to %+v, want no change", m)
	}
	for i := len(steps) - 2; i >= 0; i-- {
		p.press(kb.ArrowLeft)
		if m := p.position("off"); m != visited[i] {
			t.Errorf("back at step %d: the position is %+v, want %+v", i, m, visited[i])
		}
	}
	p.press(kb.ArrowLeft)
	if m := p.position("off"); m.Step != 0 {
		t.Errorf("the left arrow key leads from the first step to %+v, want no change", m)
	}
}

func TestFirstAndLastStepByKey(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	p.press(kb.End)
	if m, last := p.position("off"), len(p.timeline("off"))-1; m.Step != last {
		t.Errorf("the key End leads to step %d, want %d", m.Step, last)
	}
	p.press(kb.Home)
	if m := p.position("off"); m.Step != 0 {
		t.Errorf("the key Home leads to step %d, want 0", m.Step)
	}
}

// The buttons have the same effects as the keys.
func TestStepsByButton(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	last := len(p.timeline("off")) - 1
	for _, c := range []struct {
		button string
		want   int
	}{
		{"first", 0}, {"next", 1}, {"next", 2}, {"back", 1}, {"last", last}, {"next", last}, {"first", 0}, {"back", 0},
	} {
		p.click(fmt.Sprintf(".player button[data-do=%s]", c.button))
		if m := p.position("off"); m.Step != c.want {
			t.Errorf("the button %s leads to step %d, want %d", c.button, m.Step, c.want)
		}
	}
}

// The space key starts to play the timeline from the current step, and pauses it.
func TestPlay(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	p.press(kb.Home)
	began := time.Now()
	p.press(" ")
	p.until("the timeline plays", `document.querySelector("ol.steps[data-run=off] > li:nth-child(3)").getAttribute("aria-current") === "step"`)
	twoSteps := time.Since(began)
	p.press(" ")
	paused := p.position("off")
	time.Sleep(twoSteps)
	if m := p.position("off"); m != paused {
		t.Errorf("the timeline was paused at %+v and is now at %+v", paused, m)
	}
	p.press(kb.End)
	p.press(kb.ArrowLeft)
	p.press(kb.ArrowLeft)
	p.click(".player button[data-do=play]")
	p.until("the timeline plays to its end", `document.querySelector("ol.steps[data-run=off] > li:last-child").getAttribute("aria-current") === "step"`)
}

// Keys move from message to message. Each message gets the focus, and its text is shown.
func TestMessagesByKey(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	p.press(kb.End)
	messages := eval[[]string](p, `[...document.querySelectorAll("figure.run[data-run=off] .message > title")].map(e => e.textContent)`)
	if len(messages) < 10 {
		t.Fatalf("the diagram has only %d messages, want at least 10", len(messages))
	}
	for i, want := range messages {
		p.press(kb.ArrowRight, chromedp.ModifierShift)
		focused := eval[string](p, `document.activeElement.querySelector("title")?.textContent ?? ""`)
		if focused != want || p.position("off").Detail != want {
			t.Errorf("message %d: the message %q has the focus, and the text %q is shown, want %q", i, focused, p.position("off").Detail, want)
		}
	}
	p.press(kb.ArrowLeft, chromedp.ModifierShift)
	if got, want := p.position("off").Detail, messages[len(messages)-2]; got != want {
		t.Errorf("one step back from the last message the text is %q, want %q", got, want)
	}
}

// The text of a message is also shown while the mouse points at the message.
func TestMessageUnderThePointer(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	p.press(kb.End)
	// The test uses the first message to the storage, because other messages may cover
	// those to the nodes.
	message := eval[struct {
		X, Y  float64
		Title string
	}](p, `(() => {
		const figure = document.querySelector("figure.run[data-run=off]"), message = figure.querySelector(".message.data"), path = message.querySelector("path")
		figure.scrollIntoView({ block: "start" })
		const at = path.getPointAtLength(path.getTotalLength() / 4).matrixTransform(path.getScreenCTM())
		return { X: at.x, Y: at.y, Title: message.querySelector("title").textContent }
	})()`)
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, message.X, message.Y))
	if got := p.position("off").Detail; got != message.Title {
		t.Errorf("the text under the pointer is %q, want %q", got, message.Title)
	}
	if !eval[bool](p, `document.querySelector(".player .detail").checkVisibility()`) {
		t.Error("the text of the message is not visible")
	}
}

// The reader can show each of the two runs alone, and both together, by radio button and by
// key.
func TestChoiceOfRuns(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	runs := map[string][]string{"off": {"off"}, "on": {"on"}, "both": {"off", "on"}}
	for _, choice := range []string{"on", "both", "off"} {
		p.click(fmt.Sprintf("label:has(input[name=fencing][value=%[1]s]), label[for=fencing-%[1]s]", choice))
		if got := p.visibleRuns(); !slices.Equal(got, runs[choice]) {
			t.Errorf("the choice %s shows the runs %q, want %q", choice, got, runs[choice])
		}
	}
	eval[any](p, `document.activeElement.blur()`)
	seen := map[string]bool{}
	for range 3 {
		p.press("f")
		chosen := eval[string](p, `document.querySelector("input[name=fencing]:checked").value`)
		if got := p.visibleRuns(); !slices.Equal(got, runs[chosen]) {
			t.Errorf("the choice %s shows the runs %q, want %q", chosen, got, runs[chosen])
		}
		seen[chosen] = true
	}
	if len(seen) != 3 {
		t.Errorf("pressing f three times makes only the choices %v, want all three", seen)
	}
}

// A link in the table of properties leads to the moment at which a property was violated.
func TestVerdictLeadsToTheMoment(t *testing.T) {
	for _, v := range []view{phone, desktop} {
		t.Run(v.String(), func(t *testing.T) {
			p := show(t, writePage(t, runScenario(t, "gc-pause")), v)
			p.choose("on")
			p.click(`.verdict a[href="#off-write-order"]`)
			if got := p.visibleRuns(); !slices.Contains(got, "off") {
				t.Fatalf("the visible runs are %q, want the run without fencing, in which the property was violated", got)
			}
			p.until("the flag of write-order is in view", inView("#off-write-order rect"))
			m := p.position("off")
			if m.Step < 0 {
				t.Fatal("the link leads to no step")
			}
			if step := p.timeline("off")[m.Step]; !strings.Contains(step, "write-order") {
				t.Errorf("the link leads to the step %q, want one about write-order", step)
			}
			if !eval[bool](p, `document.querySelector("[data-run=off] .cursor").getBoundingClientRect().width > 0`) {
				t.Error("the diagram has no visible cursor")
			}
		})
	}
}
