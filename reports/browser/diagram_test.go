package browser_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
)

// A box is the place of an element in the window, in pixels.
type box struct{ Left, Right, Top, Bottom float64 }

func (a box) overlapsInTime(b box) bool { return a.Left < b.Right && b.Left < a.Right }

// boxes returns the places of all elements that match a selector. The place of a bar with a
// label is that of the bar alone.
func (p *tab) boxes(selector string) []box {
	p.t.Helper()
	return eval[[]box](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => (e.querySelector(":scope > rect") ?? e).getBoundingClientRect())
		.map(r => ({Left: r.left, Right: r.right, Top: r.top, Bottom: r.bottom}))`, selector))
}

// enclosingBox returns the smallest box around all elements that match a selector. There
// must be at least one.
func (p *tab) enclosingBox(selector string) box {
	p.t.Helper()
	boxes := p.boxes(selector)
	if len(boxes) == 0 {
		p.t.Fatalf("the page has no element %s", selector)
	}
	all := boxes[0]
	for _, b := range boxes[1:] {
		all = box{min(all.Left, b.Left), max(all.Right, b.Right), min(all.Top, b.Top), max(all.Bottom, b.Bottom)}
	}
	return all
}

// The lanes of two processes do not overlap.
func TestEachProcessHasALane(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	var lanes []box
	for _, process := range runScenario(t, "gc-pause").Runs[0].History.Trace.Processes {
		lanes = append(lanes, p.enclosingBox(fmt.Sprintf(`[data-run=off] .lane[data-process=%q]`, process.Name)))
	}
	slices.SortFunc(lanes, func(a, b box) int { return cmp.Compare(a.Top, b.Top) })
	for i := 1; i < len(lanes); i++ {
		if lanes[i].Top < lanes[i-1].Bottom {
			t.Errorf("two lanes overlap: %+v, %+v", lanes[i-1], lanes[i])
		}
	}
}

// Two critical sections that are open at the same time are on the lanes of their clients,
// and their overlap is marked.
func TestOverlappingSections(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	first, second := p.enclosingBox(`[data-run=off] .section-bar[data-client="client-1"]`), p.enclosingBox(`[data-run=off] .section-bar[data-client="client-2"]`)
	if !first.overlapsInTime(second) {
		t.Errorf("the sections do not overlap: %+v, %+v", first, second)
	}
	if first.Bottom > second.Top && second.Bottom > first.Top {
		t.Errorf("the sections are not on lanes of their own: %+v, %+v", first, second)
	}
	mark := p.boxes(`[data-run=off] .overlap`)
	if !slices.ContainsFunc(mark, func(b box) bool { return b.overlapsInTime(first) && b.overlapsInTime(second) }) {
		t.Errorf("no mark is on the overlap of the sections %+v and %+v; the marks are %+v", first, second, mark)
	}
}

// The leases in the diagram do not overlap, because the scenario is about sections that
// overlap although the leases do not.
func TestLeasesDoNotOverlap(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	first, second := p.enclosingBox(`[data-run=off] .lease-bar[data-client="client-1"]`), p.enclosingBox(`[data-run=off] .lease-bar[data-client="client-2"]`)
	if first.overlapsInTime(second) {
		t.Errorf("the leases overlap: %+v, %+v", first, second)
	}
}

// A client is paused in its section. Its keys expire on every node during the pause, and
// its section continues.
func TestKeysExpireUnderAPausedClient(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	section := p.enclosingBox(`[data-run=off] .section-bar[data-client="client-1"]`)
	pause := p.enclosingBox(`[data-run=off] .band.pause`)
	for _, slot := range runScenario(t, "gc-pause").Runs[0].History.Trace.Locks[0].Slots {
		key := p.enclosingBox(fmt.Sprintf(`[data-run=off] .key-bar[data-process=%q][data-client="client-1"]`, slot.Node))
		if key.Right >= section.Right {
			t.Errorf("on %s the key ends at %.1f, want it before the end of the section at %.1f", slot.Node, key.Right, section.Right)
		}
		if key.Right <= pause.Left || key.Right >= pause.Right {
			t.Errorf("on %s the key ends at %.1f, which is not in the pause from %.1f to %.1f", slot.Node, key.Right, pause.Left, pause.Right)
		}
	}
}

// The diagram shows the storage's decision on each request, and the token of a refused
// request.
func TestDecisions(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off", "on")
	for run, want := range map[string]int{"off": 0, "on": 1} {
		if got := len(p.boxes(fmt.Sprintf(`[data-run=%s] .decision.refused`, run))); got != want {
			t.Errorf("fencing %s: %d requests are refused, want %d", run, got, want)
		}
		if len(p.boxes(fmt.Sprintf(`[data-run=%s] .decision.applied`, run))) == 0 {
			t.Errorf("fencing %s: no request is applied", run)
		}
	}
	if got := eval[string](p, `document.querySelector("[data-run=on] .decision.refused").textContent`); got == "" {
		t.Error("the refused write has no token")
	}
}

// Both runs have the same time axis, so events at the same moment are exactly one above the
// other.
func TestOneTimeAxis(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off", "on")
	for _, what := range []string{`.section-bar[data-client="client-1"]`, `.section-bar[data-client="client-2"]`, `.band.pause`} {
		off, on := p.enclosingBox(`[data-run=off] `+what), p.enclosingBox(`[data-run=on] `+what)
		if off.Left != on.Left {
			t.Errorf("%s begins at %.1f without fencing and at %.1f with it, want the same place", what, off.Left, on.Left)
		}
		if off.Top == on.Top {
			t.Errorf("%s has the same height in both runs, want one run above the other", what)
		}
	}
}

// The axis shortens a long time in which nothing happens, and a mark shows that.
func TestFolds(t *testing.T) {
	p := show(t, writePage(t, runScenario(t, "gc-pause")), desktop)
	p.choose("off")
	if len(p.boxes(`[data-run=off] .fold`)) == 0 {
		t.Error("the axis has no mark of a time that is shortened")
	}
}
