package browser_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locksim/locksim/reports"
)

// suitePage returns the page with what package locktest has found in a lock that makes two
// mistakes. Every text on it contains a given text.
func suitePage(t *testing.T, text string) []byte {
	t.Helper()
	mistake := reports.SuiteMistake{
		Mistake: "removes-unchecked", Step: "release", Title: "release removes a key, because it compares nothing " + text,
		Rules: []string{"release-ownership", "lease-exclusion"}, Worlds: 43, Cases: []string{"catalogue/release-lua " + text},
		Why: "client-1 removed client-2's key " + text, Lines: []string{"  10.001s  client-1  removes client-2's key on redis-1 " + text},
		Remedy: "compare and remove in one script " + text, Lesson: "release-lua", Replays: []string{"LOCKSIM_REPLAY='catalogue/release-lua/late/fencing-off' go test -run '^TestLock$' " + text},
	}
	known := mistake
	known.Step, known.Title, known.Known = "extend", "extend is wrong, too "+text, true
	test := reports.SuiteTest{
		Test: "TestLock", Lock: "a lock " + text, Worlds: 733, Mistakes: []reports.SuiteMistake{mistake, known}, Remarks: []string{"two runs differ " + text},
		Cases: []reports.SuiteCase{
			{Name: "catalogue/release-lua"}, {Name: "claims/lease", Result: "passes"},
			{Name: "loss/extend", Result: "not applicable to this lock", Why: "it cannot be extended " + text, NotApplicable: true},
		},
	}
	html, ok := reports.Suites.Lookup("html")
	if !ok {
		t.Fatal("there is no format html")
	}
	var b bytes.Buffer
	if err := html.Write(&b, &reports.Suite{Tests: []reports.SuiteTest{test}}, reports.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The page of a suite fits a phone and a desktop, and needs no script.
func TestSuitePageFitsTheWindow(t *testing.T) {
	p := show(t, suitePage(t, ""), phone)
	p.fits()
	p.setView(desktop)
	p.fits()
	if n := eval[int](p, `document.scripts.length`); n != 0 {
		t.Errorf("the page has %d scripts, want none", n)
	}
	seen := eval[string](p, `document.body.innerText`)
	for _, want := range []string{"release removes a key", "compare and remove in one script", "LOCKSIM_REPLAY='catalogue/release-lua/late/fencing-off'", "two runs differ"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}

// axe-core finds nothing on the page of a suite, in a light and in a dark window.
func TestSuitePageIsAccessible(t *testing.T) {
	axe := axeCore(t)
	name := filepath.Join(t.TempDir(), "suite.html")
	if err := os.WriteFile(name, suitePage(t, ""), 0o666); err != nil {
		t.Fatal(err)
	}
	p := open(t, name, phone)
	eval[any](p, axe+`; null`)
	for _, v := range []view{phone.withDark(false), phone.withDark(true), desktop.withDark(false), desktop.withDark(true)} {
		p.setView(v)
		for _, violation := range p.violations() {
			t.Errorf("at %s: %s", v, violation)
		}
	}
}

// The texts of a lock's author, and of errors that a lock returns, stay texts.
func TestHostileSuite(t *testing.T) {
	for _, v := range []view{phone, desktop} {
		t.Run(v.String(), func(t *testing.T) {
			p := show(t, suitePage(t, strings.Join(evil, " ")), v)
			p.isOnlyText(0)
			p.fits()
		})
	}
}
