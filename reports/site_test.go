package reports

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/scenarios"
)

// A parsedPage is one page as a browser reads it: its IDs, its links and its text.
type parsedPage struct {
	ids, links []string
	text       string
}

// voids are the HTML elements that have no end tag.
var voids = []string{"meta", "link", "input", "br", "img", "hr"}

// notMarkup matches scripts and styles, which can contain text that looks like markup.
var notMarkup = regexp.MustCompile(`(?s)<(script|style)>.*?</(script|style)>`)

// readPage parses a page, and fails the test if an element is not closed in the right
// place.
func readPage(t *testing.T, name string, page []byte) parsedPage {
	t.Helper()
	var read parsedPage
	var open []string
	d := xml.NewDecoder(bytes.NewReader(notMarkup.ReplaceAll(page, nil)))
	d.Strict, d.Entity = false, xml.HTMLEntity
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				switch {
				case a.Name.Local == "id" && slices.Contains(read.ids, a.Value):
					t.Errorf("%s has two elements with the ID %q", name, a.Value)
				case a.Name.Local == "id":
					read.ids = append(read.ids, a.Value)
				case a.Name.Local == "href" && token.Name.Local == "a":
					read.links = append(read.links, a.Value)
				}
			}
			if !slices.Contains(voids, token.Name.Local) {
				open = append(open, token.Name.Local)
			}
		case xml.EndElement:
			if slices.Contains(voids, token.Name.Local) {
				continue // the decoder adds this end tag by itself
			}
			if len(open) == 0 || open[len(open)-1] != token.Name.Local {
				t.Fatalf("%s: </%s> ends the open elements %q", name, token.Name.Local, open)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			read.text += string(token)
		}
	}
	if len(open) > 0 {
		t.Errorf("%s: the elements %q have no end", name, open)
	}
	read.text = strings.Join(strings.Fields(read.text), " ")
	return read
}

// readSite parses all pages of a site, and fails the test if a link between them has no
// target.
func readSite(t *testing.T, pages []Page) map[string]parsedPage {
	t.Helper()
	parsed := map[string]parsedPage{}
	for _, p := range pages {
		if _, dup := parsed[strings.ToLower(p.Name)]; dup || p.Name != strings.ToLower(p.Name) {
			t.Errorf("the page name %q is not unique on every system", p.Name)
		}
		parsed[p.Name] = readPage(t, p.Name, p.Data)
	}
	for name, l := range parsed {
		for _, to := range l.links {
			if address().MatchString(to) { // the link leads to a source on the web
				continue
			}
			file, id, _ := strings.Cut(to, "#")
			if file == "" {
				file = name
			}
			target, there := parsed[file]
			if !there || id != "" && !slices.Contains(target.ids, id) {
				t.Errorf("%s: the link to %s leads nowhere", name, to)
			}
		}
	}
	return parsed
}

// results returns the results of some scenarios of the catalogue.
func results(t *testing.T, lock string, names ...string) []*scenarios.Result {
	t.Helper()
	var all []*scenarios.Result
	for _, name := range names {
		s, err := scenarios.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1, Lock: lock})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// A site has a front page, a page for each scenario and a page for each search. The pages
// link to each other.
func TestSite(t *testing.T) {
	pages := pagesOf(sitePages)(results(t, "", "delayed-write", "gc-pause"), Options{Explored: []*explore.Result{fullSearch(), emptySearch(), fullSearch()}})
	if last := pages[len(pages)-1].Name; last != "index.html" {
		t.Errorf("the last page is %s, want index.html, so that the front page has no links to missing pages", last)
	}
	parsed := readSite(t, pages)
	for page, links := range map[string][]string{
		"index.html": {
			"gc-pause.html", "gc-pause.html#story", "gc-pause.html#off", "gc-pause.html#on",
			"delayed-write.html#v-waits", "delayed-write.html#v-waits.off", "delayed-write.html#v-gives-up.on",
			"explored-redlock.html", "explored-mine.html", "explored-redlock-2.html",
		},
		"gc-pause.html":         {"index.html", "delayed-write.html"}, // the pages are in the order of the catalogue
		"delayed-write.html":    {"index.html", "gc-pause.html"},
		"explored-mine.html":    {"index.html", "explored-redlock.html", "explored-redlock-2.html"},
		"explored-redlock.html": {"index.html", "explored-mine.html"},
	} {
		for _, to := range links {
			if !slices.Contains(parsed[page].links, to) {
				t.Errorf("%s has no link to %s", page, to)
			}
		}
	}
	wantInOrder(t, parsed["index.html"].text,
		"3 variants of 2 scenarios: 3 as expected, 0 not as expected, 0 unknown",
		"safe only with fencing 3",
		"gc-pause, without fencing: ✗ unsafe", "gc-pause, with fencing: ✓ safe",
		"delayed-write, gives-up, section-exclusion: holds",
		"redlock on 5 nodes, TTL 30s: 4 ways to break it",
		"with the seed 1.",
		"locksim run gc-pause --seed 1",
	)
	again := pagesOf(sitePages)(results(t, "", "delayed-write", "gc-pause"), Options{Explored: []*explore.Result{fullSearch(), emptySearch(), fullSearch()}})
	if !slices.EqualFunc(pages, again, func(a, b Page) bool { return a.Name == b.Name && bytes.Equal(a.Data, b.Data) }) {
		t.Error("the same results give another site the second time")
	}
}

// A way to break the lock links to the page about its scenario if the site has that page.
func TestWaysLeadToTheirScenarios(t *testing.T) {
	found := fullSearch()
	found.Ways[3].File = "scenarios/gc-pause.yaml"
	parsed := readSite(t, pagesOf(sitePages)(results(t, "", "gc-pause"), Options{Explored: []*explore.Result{found}}))
	links := parsed["explored-redlock.html"].links
	if !slices.Equal(links, []string{"#main", "index.html", "gc-pause.html"}) {
		t.Errorf("the links are %q, want one to the page of the scenario besides those of every page", links)
	}
}

// A scenario that was run with several locks has a page for each of them. The front page
// has a pair of columns for each lock.
func TestSiteOfSeveralLocks(t *testing.T) {
	all := slices.Concat(results(t, "redlock", "gc-pause", "clock-jump"), results(t, "single", "gc-pause"))
	parsed := readSite(t, pagesOf(sitePages)(all, Options{}))
	if len(parsed) != 4 {
		t.Errorf("there are %d pages, want 4", len(parsed))
	}
	front := parsed["index.html"]
	for _, to := range []string{"gc-pause-redlock.html#off", "gc-pause-single.html#on", "clock-jump-redlock.html#off"} {
		if !slices.Contains(front.links, to) {
			t.Errorf("the front page has no link to %s", to)
		}
	}
	wantInOrder(t, front.text,
		"2 scenarios, with 2 locks: 2 as expected",
		"gc-pause, single, without fencing: ✗ unsafe ✗ section-exclusion",
		"clock-jump, single, with fencing: – n/a",
	)
	wantInOrder(t, parsed["gc-pause-single.html"].text, "← gc-pause, redlock")
}

// If a scenario was run twice with the same lock, each result has its own row, also with
// another seed. Two files of saved traces can contain the same scenario.
func TestSiteWithTwoResultsOfOneScenario(t *testing.T) {
	all := slices.Concat(results(t, "", "gc-pause"), results(t, "", "gc-pause"))
	parsed := readSite(t, pagesOf(sitePages)(all, Options{}))
	for _, to := range []string{"gc-pause.html#off", "gc-pause-2.html#off"} {
		if !slices.Contains(parsed["index.html"].links, to) {
			t.Errorf("the front page has no link to %s", to)
		}
	}
	all[1].Seed = 2
	text := readSite(t, pagesOf(sitePages)(all, Options{}))["index.html"].text
	wantInOrder(t, text, "A garbage-collection pause outlasts the lock (seed 1)", "A garbage-collection pause outlasts the lock (seed 2)")
	if strings.Contains(text, "with the seed") {
		t.Error("the results have two seeds, but the front page names one")
	}
}

// If only one run of each variant was made, the front page shows only that run.
func TestSiteOfRunsWithFencing(t *testing.T) {
	r := results(t, "", "gc-pause")[0]
	r, err := r.SelectRuns("", on)
	if err != nil {
		t.Fatal(err)
	}
	front := readSite(t, pagesOf(sitePages)([]*scenarios.Result{r}, Options{}))["index.html"]
	wantInOrder(t, front.text, "gc-pause, without fencing: – not run", "gc-pause, with fencing: ✓ safe")
	if strings.Contains(front.text, "safe without fencing") {
		t.Error("the front page says something about the run without fencing, which was not made")
	}
}

// A site may have no scenarios.
func TestSiteWithoutScenarios(t *testing.T) {
	parsed := readSite(t, pagesOf(sitePages)(nil, Options{Explored: []*explore.Result{emptySearch()}}))
	if text := parsed["index.html"].text; strings.Contains(text, "The matrix") || !strings.Contains(text, "mine on 1 node") {
		t.Errorf("the front page has a matrix, or lacks the search: %s", text)
	}
}

// withVariants returns the matrix, after it has set the variant of each row in the row's
// runs.
func withVariants(m *Matrix) *Matrix {
	for _, r := range m.Rows {
		for _, c := range r.Cells {
			for i := range c.Runs {
				c.Runs[i].Variant, c.Runs[i].Fencing = r.Variant, []string{off, on}[i]
			}
		}
	}
	return m
}

// The golden file contains the text of a front page.
func TestFrontPageGolden(t *testing.T) {
	m := withVariants(sampleMatrix())
	m.Rows[0].Cells[0].Runs[1].Differences = reasonsOf("the verdict is safe, expected unsafe")
	pages := pagesOf(matrixPages)(m, Options{Explored: []*explore.Result{fullSearch()}})
	readSite(t, pages)
	golden(t, filepath.Join("testdata", "site", "index.html"), mainPart(t, pages[len(pages)-1].Data))
}

// golden compares a text with a golden file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test ./reports -run %s -update writes it)", err, t.Name())
	}
	if got != string(want) {
		t.Errorf("the page differs from %s; if it should, run go test ./reports -run %s -update, and read the difference\n%s", file, t.Name(), got)
	}
}

// mainPart returns the content of a page, without styles and scripts.
func mainPart(t *testing.T, page []byte) string {
	t.Helper()
	_, after, begins := strings.Cut(string(page), `<main id="main">`)
	body, _, ends := strings.Cut(after, "</main>")
	if !begins || !ends {
		t.Fatal("the page has no main part")
	}
	return strings.TrimSpace(body) + "\n"
}

// A scenario with any name has a page whose file name is unique and safe on every system.
// On the pages the scenario's name is shown as text.
func TestHostileNamesOnASite(t *testing.T) {
	evil := []string{
		"../../etc/passwd", "index", "INDEX", "a b", "A_B", "a/b", `a\b`, "con", "Aux", "", "...", "café", "日本",
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "\u202egnp.exe", "a\x00b\x1b[31m", "javascript:alert(1)",
		"-rf", strings.Repeat("long", 100), strings.Repeat("long", 100), "{{.}}", "#on", "?x", "%2e%2e%2f", "explored-redlock",
	}
	m := &Matrix{}
	for _, name := range evil {
		r := rows("debate", name, name, map[string][]Cell{name: {brokenCell(name)}, "does": {safeCell(name)}}, name+"="+name, "does=")
		m.Rows = append(m.Rows, r...)
	}
	pages := pagesOf(matrixPages)(withVariants(m), Options{Explored: []*explore.Result{fullSearch()}})
	parsed := readSite(t, pages)
	if len(parsed) != len(evil)+2 {
		t.Errorf("the site has %d pages with different names, want %d", len(parsed), len(evil)+2)
	}
	safe := regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,90}\.html$`)
	for _, p := range pages {
		if !safe.MatchString(p.Name) || devices().MatchString(strings.TrimSuffix(p.Name, ".html")) {
			t.Errorf("%q is not a safe name of a file", p.Name)
		}
		for _, bad := range []string{"<script>alert", "<img", "\u202e", "\x00", "\x1b", `href="javascript:`, "ZgotmplZ"} {
			if bytes.Contains(p.Data, []byte(bad)) {
				t.Errorf("%s contains %q", p.Name, bad)
			}
		}
	}
	wantInOrder(t, parsed["index.html"].text, "<script>alert(1)</script>", `\u202egnp.exe`, "{{.}}")
}

// The texts of a search are shown as text, on the search's page and on the front page.
func TestHostileSearchesOnASite(t *testing.T) {
	r, o := hostileSearch()
	pages := append(pagesOf(sitePages)(nil, Options{Explored: []*explore.Result{r}}), Page{"search", []byte(writeExplored(t, "html", r, o))})
	for _, p := range pages {
		readPage(t, p.Name, p.Data)
		for _, bad := range []string{"|<b>", "\u202e", "\x1b", "ZgotmplZ"} {
			if strings.Contains(mainPart(t, p.Data), bad) {
				t.Errorf("%s contains %q", p.Name, bad)
			}
		}
	}
}

func TestPageNames(t *testing.T) {
	taken := pageNames{"index": true}
	for _, c := range []struct{ want, of string }{
		{"gc-pause", "gc-pause"}, {"gc-pause-2", "GC  Pause!"}, {"gc-pause-2-2", "gc-pause-2"}, {"index-2", "index"},
		{"page", ""}, {"page-2", "日本"}, {"page-con", "con"}, {"console", "console"}, {"caf", "Café"},
	} {
		if got := taken.name(c.of); got != c.want {
			t.Errorf("the page of %q has the name %q, want %q", c.of, got, c.want)
		}
	}
}

// A long file name is cut at the words that distinguish least. The words that distinguish
// the files of one scenario stay.
func TestLongPageNames(t *testing.T) {
	long := strings.Repeat("long ", 60)
	taken := pageNames{}
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{long}, strings.Repeat("long-", 16)[:79]},
		{[]string{long, "late", "fencing", "off", "lock"}, strings.Repeat("long-", 12)[:58] + "-late-fencing-off-lock"},
		{[]string{long, "late", "fencing", "on", "lock"}, strings.Repeat("long-", 12)[:59] + "-late-fencing-on-lock"},
		{[]string{long, "late", "fencing", "on", "lock"}, strings.Repeat("long-", 12)[:59] + "-late-fencing-on-lock-2"},
		{[]string{long, long, "fencing", "on"}, "long-long-long-l-" + strings.Repeat("long-", 11)[:52] + "-fencing-on"},
	} {
		got := taken.name(c.words...)
		if got != c.want {
			t.Errorf("the page of %q has the name %q, want %q", c.words, got, c.want)
		}
		if len(got) > 100 {
			t.Errorf("the name %q has %d bytes, want at most 100", got, len(got))
		}
	}
}

// A matrix that is written as a single page has no links to other pages.
func TestMatrixAsHTML(t *testing.T) {
	m := withVariants(sampleMatrix())
	page := []byte(matrix(t, "html", m))
	l := readPage(t, "matrix", page)
	for _, to := range l.links {
		if to[0] != '#' || !slices.Contains(l.ids, to[1:]) {
			t.Errorf("the link to %s leads nowhere", to)
		}
	}
	wantInOrder(t, l.text,
		"delayed-write, waits, section-exclusion: is violated",
		"clock-jump, lease-exclusion: is violated without fencing, then with fencing holds",
		"majority-down, with fencing: ! safe but ✗ token-order and progress",
		"of-mine, without fencing: ? unknown",
		"nobody has shown the newer token yet",
	)
	for _, column := range []string{"scenario", "assumption", "lease-exclusion", "section-exclusion", "without fencing", "with fencing"} {
		if !bytes.Contains(page, []byte(`scope="col">`+column+"<")) {
			t.Errorf("the table has no column with the head %s", column)
		}
	}
}

// With several locks there is a pair of columns for each lock. The cells also name the
// exclusion properties that are violated.
func TestMatrixOfLocksAsHTML(t *testing.T) {
	m := &Matrix{Locks: []string{"single", "redlock"}, Rows: rows("debate", "gc-pause", "process", map[string][]Cell{
		"": {{Lock: "single", NotApplicable: "the lock has one node"}, cell("redlock", runWithVerdict(off, checks.Unsafe, twice...), runWithVerdict(on, checks.Safe, checks.Progress, checks.SectionExclusion))},
	}, "=the pause outlasts the lease")}
	wantInOrder(t, readPage(t, "matrix", []byte(matrix(t, "html", m))).text,
		"1 scenario, with 2 locks: 1 as expected",
		"scenarioassumptionsingleredlock without fencingwith fencingwithout fencingwith fencing",
		"gc-pause, single, without fencing: – n/a",
		"gc-pause, redlock, without fencing: ✗ unsafe ✗ lease-exclusion and section-exclusion",
		"gc-pause, redlock, with fencing: ! safe but ✗ progress; ✗ section-exclusion",
	)
}
