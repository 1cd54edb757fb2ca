package browser_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// axeCore returns the script of axe-core, a tool that checks pages for accessibility. It
// reads the script from the file that the environment variable LOCKSIM_AXE names. Without
// that variable the test is skipped or fails: see skipOrFail.
func axeCore(t *testing.T) string {
	t.Helper()
	file := os.Getenv("LOCKSIM_AXE")
	if file == "" {
		skipOrFail(t, errors.New("no axe-core: let LOCKSIM_AXE name its axe.min.js"))
	}
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// A violation is a rule of accessibility that a page breaks, with the elements that break
// it.
type violation struct {
	ID, Help string
	At       []string
}

func (v violation) String() string {
	return fmt.Sprintf("%s: %s\n\t%s", v.ID, v.Help, strings.Join(v.At, "\n\t"))
}

// violations returns the rules that the page breaks, out of those of WCAG 2.2 AA and of
// good practice. The page must have loaded axe-core.
func (p *tab) violations() []violation {
	p.t.Helper()
	return eval[[]violation](p, `axe.run(document, {
		resultTypes: ["violations"],
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
	}).then(r => r.violations.map(v => ({
		ID: v.id, Help: v.help,
		At: v.nodes.slice(0, 5).map(n => n.target.join(" ") + "  " + n.html.slice(0, 200) + "  " + n.any.map(c => c.message).join(" ")),
	})))`)
}

// axe-core finds nothing on the pages that would hinder readers who use a screen reader,
// use a keyboard or have weak eyes.
func TestPagesAreAccessible(t *testing.T) {
	axe := axeCore(t)
	folder := siteFolder(t)
	if err := os.WriteFile(filepath.Join(folder, "compared.html"), tallyPage(t), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pageKinds(t), "compared.html") {
		t.Run(name, func(t *testing.T) {
			p := open(t, filepath.Join(folder, name), desktop)
			eval[any](p, axe+`; null`)
			if len(p.visibleRuns()) > 0 {
				p.choose("off", "on") // so that axe-core checks both runs
			}
			for _, v := range []view{phone.withDark(false), phone.withDark(true), desktop.withDark(false), desktop.withDark(true)} {
				p.setView(v)
				for _, violation := range p.violations() {
					t.Errorf("at %s: %s", v, violation)
				}
			}
		})
	}
}

// axe-core really checks the page: it finds mistakes that were made on purpose.
func TestAxeFindsMistakes(t *testing.T) {
	axe := axeCore(t)
	p := show(t, []byte(`<!DOCTYPE html><html lang="en"><title>x</title><main><h1>x</h1>
		<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
		<p style="color: #999">pale</p>`), desktop)
	eval[any](p, axe+`; null`)
	found := p.violations()
	for _, rule := range []string{"image-alt", "color-contrast"} {
		if !slices.ContainsFunc(found, func(v violation) bool { return v.ID == rule }) {
			t.Errorf("axe-core does not find a violation of %s, but only %v", rule, found)
		}
	}
}
