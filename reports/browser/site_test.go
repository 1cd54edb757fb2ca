package browser_test

import (
	"path/filepath"
	"testing"
)

// Each cell of the front page leads to the diagram of its run, and every page leads back to
// the front page.
func TestFrontPageLeadsToTheDiagrams(t *testing.T) {
	p := open(t, filepath.Join(siteFolder(t), "index.html"), desktop)
	p.follow(`a[href$="gc-pause.html#on"]`)
	p.until("the diagram with fencing is in view", `(() => {
		const r = document.getElementById("on").getBoundingClientRect()
		return r.height > 0 && r.top < innerHeight && r.bottom > 0
	})()`)
	p.follow(`a[href^="index.html"]`)
	if !eval[bool](p, `document.querySelector("a[href$='gc-pause.html#on']") !== null`) {
		t.Error("the link does not lead back to the front page")
	}
}

// Every page of a site opens on a phone and fits the window. The reader can step through
// each variant on it to the end.
func TestEveryPageOpens(t *testing.T) {
	folder := siteFolder(t)
	pages, _ := catalogueSite()
	p := open(t, filepath.Join(folder, "index.html"), phone)
	for _, page := range pages {
		p.openInTab(page.Name)
		p.fits()
		stuck := eval[[]string](p, `[...document.querySelectorAll("section.variant")].map(variant => {
			location.hash = variant.id
			document.querySelector(".variants a[href='#" + CSS.escape(variant.id) + "']")?.click()
			for (const run of ["off", "on"]) {
				document.querySelector("input[name=fencing][value=" + run + "]").click()
				document.querySelector(".player [data-do=first]").click()
				const steps = [...variant.querySelectorAll("ol.steps[data-run=" + run + "] > li")]
				for (const step of steps) {
					if (step.getAttribute("aria-current") !== "step") return variant.id + ", fencing " + run + ": " + step.textContent
					document.querySelector(".player [data-do=next]").click()
				}
			}
			return ""
		}).filter(s => s)`)
		for _, where := range stuck {
			t.Errorf("%s: the button next never leads to the step %s", page.Name, where)
		}
		if t.Failed() {
			t.Fatalf("the test stops at the page %s", page.Name)
		}
	}
}
