package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/scenarios"
)

// The page of every scenario is small enough for an e-mail.
func TestPagesAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs all scenarios")
	}
	results, err := suites.Results()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if size := len(writePage(t, r)); size > 600_000 {
			t.Errorf("the page of %s has %d kB, want at most 600", r.Scenario.Name, size/1000)
		}
	}
}

// crowd returns the text of a scenario in which many clients want one lock.
func crowd(clients int) string {
	var b strings.Builder
	b.WriteString("title: A crowd\nsource: a test\nlock: {kind: redlock, ttl: 30s, nodes: 5}\nclients:\n")
	for i := range clients {
		fmt.Fprintf(&b, "  client-%d: {works: 500ms, retry-every: 2s, retry: jitter}\n", i+1)
	}
	return b.String()
}

// The page of a world with 50 clients and 20,000 events can be opened. To move by one step,
// the browser computes few layouts. The page says what it leaves out.
func TestLargeWorld(t *testing.T) {
	if testing.Short() {
		t.Skip("a large world takes its time")
	}
	s, err := scenarios.Parse("crowd.yaml", []byte(crowd(50)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Runs[0].History.Trace.Events); n < 20_000 {
		t.Fatalf("the world has only %d events, want at least 20,000", n)
	}
	html := writePage(t, r)
	p := show(t, html, desktop)
	p.choose("off")
	if left := eval[string](p, `document.querySelector(".left-out").innerText`); left == "" {
		t.Error("the page does not say what it leaves out")
	} else {
		t.Log(left)
	}
	p.press(kb.Home)
	// Clients that are and have the same share a row of the table.
	const rows = `[...document.querySelectorAll("[data-run=off] .state tbody tr")].filter(tr => tr.checkVisibility()).map(tr => tr.cells[0].textContent)`
	if got := eval[[]string](p, rows); len(got) == 0 || len(got) > 12 || !strings.HasSuffix(got[0], " more") {
		t.Errorf("the table of states has the rows %q", got)
	}
	const steps = 100
	p.do(command(performance.Enable, performance.EnableParams{}))
	before := p.metrics()
	took := eval[float64](p, fmt.Sprintf(`(() => {
		const press = key => document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}))
		press("Home")
		const began = performance.now()
		for (let i = 0; i < %d; i++) {
			press("ArrowRight")
			document.querySelector("[data-run=off] .cursor").getBoundingClientRect() // as a frame would, lay it out
		}
		return performance.now() - began
	})()`, steps))
	layouts := (p.metrics()["LayoutCount"] - before["LayoutCount"]) / steps
	if m := p.position("off"); m.Step != min(steps, len(p.timeline("off"))-1) {
		t.Errorf("after %d presses of a key the reader is at step %d of %d", steps, m.Step, len(p.timeline("off")))
	}
	t.Logf("%d kB, %d elements; a step takes %.1f ms and %.1f layouts", len(html)/1000, eval[int](p, `document.querySelectorAll("*").length`), took/steps, layouts)
	if layouts > 10 {
		t.Errorf("a step takes %.1f layouts, want at most 10", layouts)
	}
	if hang := 20 * time.Second; took > float64(hang.Milliseconds()) {
		t.Errorf("%d steps take %.0f ms, want at most %v", steps, took, hang)
	}
}

// metrics returns the browser's performance figures for the page, by name.
func (p *tab) metrics() map[string]float64 {
	p.t.Helper()
	got, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		p.t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, m := range got.Metrics {
		counts[m.Name] = m.Value
	}
	return counts
}
