package browser_test

import (
	"strings"
	"testing"
)

// findFaintTexts is a script that returns the texts in the diagrams whose contrast with
// their background is below 4.5, the minimum of WCAG AA. axe-core does not check pictures.
// If a text has an outline, the outline counts as its background. The background of a
// hatched area is the color under the hatching.
const findFaintTexts = `[...document.querySelectorAll("svg.diagram")].flatMap(svg => {
	const parse = c => { const n = c.match(/[\d.]+/g).map(Number); return [n[0], n[1], n[2], n[3] ?? 1] }
	const over = (back, c, alpha) => back.map((v, i) => i < 3 ? v + (c[i] - v) * c[3] * alpha : 1)
	const luminance = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0)
	const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((a, b) => b - a); return (x + .05) / (y + .05) }
	const page = parse(getComputedStyle(document.body).backgroundColor)
	const shapes = [...svg.querySelectorAll("rect, text")].filter(e => e.checkVisibility())
		.map(e => ({ e, style: getComputedStyle(e), box: e.getBoundingClientRect() }))
	return shapes.filter(s => s.e.tagName === "text" && s.box.width > 0).flatMap(text => {
		const x = (text.box.left + text.box.right) / 2, y = (text.box.top + text.box.bottom) / 2
		let back = page
		for (const { e, style, box } of shapes) {
			if (e === text.e) break
			if (e.tagName !== "rect" || !/^(rgb|color)/.test(style.fill) || x < box.left || x > box.right || y < box.top || y > box.bottom) continue
			back = over(back, parse(style.fill), Number(style.fillOpacity) * Number(style.opacity))
		}
		if (text.style.paintOrder.startsWith("stroke") && text.style.stroke !== "none") back = parse(text.style.stroke)
		const ratio = contrast(over(back, parse(text.style.fill), 1), back)
		return ratio < 4.5 ? [text.e.textContent + ": " + ratio.toFixed(2) + ", " + text.style.fill + " on rgb(" + back.slice(0, 3).map(Math.round) + ")"] : []
	})
})`

// Readers with weak eyes can read the texts in the diagrams, in the light and in the dark
// color scheme.
func TestDiagramsAreLegible(t *testing.T) {
	for _, name := range []string{"gc-pause", "clock-jump", "fencing-gap", "failover"} {
		t.Run(name, func(t *testing.T) {
			p := show(t, writePage(t, runScenario(t, name)), desktop)
			p.choose("off", "on")
			if n := eval[int](p, `document.querySelectorAll("svg.diagram text").length`); n < 10 {
				t.Fatalf("the diagrams have only %d texts, want at least 10", n)
			}
			for _, dark := range []bool{false, true} {
				p.setView(desktop.withDark(dark))
				for _, text := range eval[[]string](p, findFaintTexts) {
					t.Errorf("%s: %s", desktop.withDark(dark), text)
				}
			}
		})
	}
}

// The script finds the one of two texts on a bar that is too pale.
func TestFaintTextIsFound(t *testing.T) {
	p := show(t, []byte(`<!DOCTYPE html><html lang="en"><title>x</title><body style="background: white">
		<svg class="diagram" width="200" height="60"><rect width="200" height="60" fill="#0072b2" fill-opacity=".3"/>
		<text x="5" y="20" fill="#16181d">dark</text><text x="5" y="50" fill="#565d68" fill-opacity="1">pale</text></svg>`), desktop)
	got := eval[[]string](p, findFaintTexts)
	if len(got) != 1 || !strings.HasPrefix(got[0], "pale: 4.29") {
		t.Errorf("the faint texts are %q, want only the pale one, with the contrast 4.29", got)
	}
}
