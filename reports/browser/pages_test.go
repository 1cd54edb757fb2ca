package browser_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// runScenario returns the result of one scenario of the catalogue, for a test that needs
// the browser.
func runScenario(t *testing.T, name string) *scenarios.Result {
	t.Helper()
	browser(t) // skips the test without a browser, before all scenarios are run in vain
	results, err := suites.Results()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Scenario.Name == name {
			return r
		}
	}
	t.Fatalf("no scenario is called %q", name)
	return nil
}

// writePage returns the page about one result.
func writePage(t *testing.T, r *scenarios.Result) []byte {
	t.Helper()
	html, ok := reports.Runs.Lookup("html")
	if !ok {
		t.Fatal("there is no format html")
	}
	var b bytes.Buffer
	if err := html.Write(&b, []*scenarios.Result{r}, reports.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// catalogueSite returns the pages of a site with the whole catalogue and a search.
var catalogueSite = sync.OnceValues(func() ([]reports.Page, error) {
	results, err := suites.Results()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join("..", "testdata", "explored", "several.json"))
	if err != nil {
		return nil, err
	}
	found, err := reports.ReadExplored(data)
	if err != nil {
		return nil, err
	}
	html, _ := reports.Runs.Lookup("html")
	return html.Pages(results, reports.Options{Explored: []*explore.Result{found}}), nil
})

// siteFolder returns a folder with the site, for a test that needs the browser.
func siteFolder(t *testing.T) string {
	t.Helper()
	browser(t) // skips the test without a browser, before the site is made in vain
	pages, err := catalogueSite()
	if err != nil {
		t.Fatal(err)
	}
	return folderOf(t, pages)
}

// folderOf returns a new folder with some pages.
func folderOf(t *testing.T, pages []reports.Page) string {
	t.Helper()
	folder := t.TempDir()
	for _, page := range pages {
		if page.Name != filepath.Base(page.Name) {
			t.Fatalf("the page %q would be outside of the folder", page.Name)
		}
		if err := os.WriteFile(filepath.Join(folder, page.Name), page.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// pageKinds returns the names of one page of every kind: the front page, a scenario without
// variants, a scenario with variants, and a search with a danger map.
func pageKinds(t *testing.T) []string {
	t.Helper()
	pages, err := catalogueSite()
	if err != nil {
		t.Fatal(err)
	}
	results, _ := suites.Results()
	names := []string{"index.html", "gc-pause.html", "failover.html"}
	for _, page := range pages {
		ofScenario := slices.ContainsFunc(results, func(r *scenarios.Result) bool { return r.Scenario.Name+".html" == page.Name })
		if page.Name != "index.html" && !ofScenario {
			names = append(names, page.Name)
		}
	}
	return names
}

// tallyPage returns the page that compares locks side by side.
func tallyPage(t *testing.T) []byte {
	t.Helper()
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	tally := reports.NewTally([]*scenarios.Scenario{s}, []string{"redlock", "single"}, 1)
	tally.Seeds = 1
	for column, lock := range tally.Locks {
		runs, notApplicable, err := s.Variants[0].RunBoth(scenarios.RunOptions{Seed: 1, Lock: lock})
		if err != nil {
			t.Fatal(err)
		}
		tally.Add(0, column, 1, runs, notApplicable)
	}
	html, ok := reports.Tallies.Lookup("html")
	if !ok {
		t.Fatal("there is no format html")
	}
	var b bytes.Buffer
	if err := html.Write(&b, tally, reports.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
