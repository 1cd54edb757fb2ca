package browser_test

import (
	"regexp"
	"testing"
)

// A page with a danger map works even if the rows of the map have no cells.
func TestDangerMapWithoutCells(t *testing.T) {
	browser(t) // before the pages are made, so that -short does not make them in vain
	pages, err := catalogueSite()
	if err != nil {
		t.Fatal(err)
	}
	cells := regexp.MustCompile(`<td class=.*?</td>`)
	for _, p := range pages {
		if p.Name == "explored-redlock.html" {
			if !cells.Match(p.Data) {
				t.Fatal("the map on the page has no cells that could be removed")
			}
			show(t, cells.ReplaceAll(p.Data, nil), desktop)
			return
		}
	}
	t.Fatal("the site has no page explored-redlock.html")
}
