package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	_ "github.com/locksim/locksim/command/documents"
	"github.com/locksim/locksim/internal/website"
)

// websiteFolder writes the pages of the site that are no reports, and returns the folder.
func websiteFolder(t *testing.T) string {
	t.Helper()
	browser(t) // before the pages are made, so that -short does not make them in vain
	site := website.Site{Scenarios: map[string]bool{"gc-pause": true}, HasPlayground: true}
	questions, err := site.QuestionPages(func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	documents, err := site.DocumentPages()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, page := range append(append(questions, documents...), site.Start()) {
		file := filepath.Join(dir, filepath.FromSlash(page.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, page.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The pages of the site fit a phone and a desktop, and axe-core finds nothing on them. A
// question is answered with the keyboard. Its grade and the list of the questions say how.
func TestWebsite(t *testing.T) {
	dir := websiteFolder(t)
	axe := axeCore(t)
	for _, name := range []string{
		"index.html", "questions/index.html", "questions/why-a-unique-value.html", "questions/which-ttl.html",
		"docs/testing-your-lock.html", "learn/index.html",
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, filepath.Join(dir, filepath.FromSlash(name)), phone)
			eval[any](p, axe+`; document.querySelectorAll("details").forEach(d => { d.hidden = false; d.open = true; }); null`)
			for _, v := range []view{phone.withDark(false), phone.withDark(true), desktop.withDark(false), desktop.withDark(true)} {
				p.setView(v)
				p.fits()
				for _, violation := range p.violations() {
					t.Errorf("at %s: %s", v, violation)
				}
			}
		})
	}
	t.Run("a table breaks no word", func(t *testing.T) {
		p := open(t, filepath.Join(dir, "docs", "exercises.html"), phone)
		broken := eval[[]string](p, `[...document.querySelectorAll("th, td:first-child")].filter(e => !e.textContent.trim().includes(" ") && (r => { r.selectNodeContents(e); return r.getBoundingClientRect().height > 45; })(document.createRange())).map(e => e.textContent)`)
		for _, word := range broken {
			if !strings.Contains(word, "-") { // a line may end at a hyphen
				t.Errorf("the word %q takes several lines", word)
			}
		}
	})
	t.Run("a question is answered with the keyboard", func(t *testing.T) {
		p := open(t, filepath.Join(dir, "questions", "why-a-unique-value.html"), desktop)
		if eval[bool](p, `document.getElementById("answer").checkVisibility()`) {
			t.Fatal("the answer is visible before the forecast")
		}
		right := eval[int](p, `[...document.querySelectorAll("fieldset:first-of-type [data-grade]")].findIndex(c => c.dataset.grade === "right")`)
		eval[any](p, `document.querySelector("fieldset:first-of-type [data-grade]").focus(), null`)
		p.press(" ")
		for range right {
			p.press(kb.ArrowDown)
		}
		eval[any](p, `document.querySelector("#forecast button").focus(), null`)
		p.press(kb.Enter)
		p.until("the answer is visible", `document.getElementById("answer").checkVisibility() && document.getElementById("answer").open`)
		if got := eval[string](p, `document.querySelector(".grade").textContent`); got != "Right, fairly sure." {
			t.Errorf("the grade is %q", got)
		}
		if !eval[bool](p, `document.activeElement.closest("#answer") !== null`) {
			t.Error("the focus is not on the answer")
		}
	})
	t.Run("without a forecast, and without a script", func(t *testing.T) {
		p := open(t, filepath.Join(dir, "questions", "which-ttl.html"), desktop)
		p.click("#forecast button")
		p.until("the reader is asked for a forecast", `document.querySelector(".grade").textContent.startsWith("Choose what you expect")`)
		if eval[bool](p, `document.getElementById("answer").open`) {
			t.Error("the answer is shown before a forecast")
		}
		p.click("#forecast button")
		p.until("the grade is there", `document.querySelector(".grade").textContent === "No forecast."`)
		v := desktop
		v.noScript = true
		p.setView(v)
		p.do(chromedp.Reload())
		p.setView(desktop) // so that the test can look
		if !eval[bool](p, `document.getElementById("answer").checkVisibility() && !document.getElementById("answer").open`) {
			t.Error("without a script the answer cannot be opened")
		}
	})
	t.Run("progress", func(t *testing.T) {
		p := open(t, filepath.Join(dir, "questions", "index.html"), desktop)
		load := func(name, text string) string {
			eval[any](p, `(() => { const data = new DataTransfer();
				data.items.add(new File([`+"`"+text+"`"+`], "`+name+`"));
				const file = document.getElementById("file");
				file.files = data.files;
				document.getElementById("said").textContent = "";
				file.dispatchEvent(new Event("change")); })(), null`)
			p.until("the file was read", `document.getElementById("said").textContent !== ""`)
			return eval[string](p, `document.getElementById("said").textContent`)
		}
		const mark = `document.querySelector('[data-progress="questions/which-ttl"]').textContent`
		if said := load("mine.json", `{"schema": "locksim/progress/v1", "chapters": {}, "questions": {"which-ttl": {"right": 1, "of": 1}}}`); said != "Loaded from mine.json." {
			t.Errorf("the page says %q", said)
		}
		if got := eval[string](p, mark); got != "✓ 1 of 1 right" {
			t.Errorf("the mark of the question is %q", got)
		}
		for _, wrong := range []string{"", "{}", `{"schema": "locksim/progress/v1", "chapters": {}, "questions": {"which-ttl": {"right": 2, "of": 1}}}`, "<html>"} {
			if said := load("wrong.json", wrong); !strings.Contains(said, "Nothing was changed") {
				t.Errorf("for the file %q the page says %q", wrong, said)
			}
		}
		if got := eval[string](p, mark); got != "✓ 1 of 1 right" {
			t.Errorf("after wrong files the mark of the question is %q", got)
		}
		p.click("#forget")
		p.until("the progress is forgotten", mark+` === ""`)
	})
}
