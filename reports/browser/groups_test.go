package browser_test

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// shownRows is an expression in JavaScript: the number of rows of the matrix that are shown.
const shownRows = `[...document.querySelectorAll(".matrix .story")].filter(e => e.checkVisibility()).length`

// The rows of the matrix are in groups that the reader opens and closes, and a filter finds
// rows in all groups. The page fits on a few screens of a phone.
func TestGroupsOfTheMatrix(t *testing.T) {
	p := open(t, filepath.Join(siteFolder(t), "index.html"), mobile)
	if height := eval[int](p, `document.scrollingElement.scrollHeight`); height > 5*int(mobile.height) {
		t.Errorf("the page is %d px high, want at most five screens of %d px", height, mobile.height)
	}
	all := eval[int](p, `document.querySelectorAll(".matrix .story").length`)
	closed := eval[int](p, shownRows)
	button := `button.shelf-title[aria-expanded=false]`
	p.click(button)
	opened := eval[int](p, shownRows)
	if opened <= closed || opened >= all {
		t.Errorf("with one group more open, %d rows are shown, want more than %d and fewer than %d", opened, closed, all)
	}
	p.click(`button.shelf-title[aria-expanded=true]`)
	if got := eval[int](p, shownRows); got >= opened {
		t.Errorf("with one group less open, %d rows are shown, want fewer than %d", got, opened)
	}
	eval[any](p, `document.querySelector("input[name=words]").focus()`)
	p.press("gc-pause")
	if got := eval[int](p, shownRows); got == 0 || got >= all {
		t.Errorf("the filter shows %d of %d rows", got, all)
	}
	for range len("gc-pause") {
		p.press(kb.Backspace)
	}
	if got := eval[int](p, shownRows); got >= opened {
		t.Errorf("without a filter again, %d rows are shown, want fewer than %d", got, opened)
	}
	row := eval[string](p, `document.querySelector(".matrix .scenario[hidden]").id`)
	eval[any](p, `location.hash = "`+row+`"`)
	p.until("a link to a row opens its group", `document.getElementById("`+row+`").checkVisibility()`)
}
