package chapters

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/reports"
)

// The chapters are in the order of their numbers, without a gap, and can be found by number and
// by name.
func TestChaptersAreFound(t *testing.T) {
	if len(All()) != 12 {
		t.Errorf("there are %d chapters, want 12", len(All()))
	}
	for i, c := range All() {
		if c.Number != i+1 || c.Title == "" || c.Summary == "" || strings.Contains(c.Summary, "\n") {
			t.Errorf("chapter %d is number %d, %q: %q", i+1, c.Number, c.Title, c.Summary)
		}
		if found, ok := Find(c.Name); !ok || found != c {
			t.Errorf("%s is not found by its name", c.Name)
		}
	}
	if c, ok := Find("5"); !ok || c.Name != "fencing-tokens" {
		t.Errorf("number 5 is %v", c)
	}
	for _, name := range []string{"", "0", "13", "-1", "fencing"} {
		if c, ok := Find(name); ok {
			t.Errorf("%q is found: %s", name, c.Name)
		}
	}
}

// A chapter whose number, heading or first paragraph is missing is refused.
func TestWrongChaptersAreRefused(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"number the files without a gap":           {"01-a.md": "# 1. A\n\nText.\n", "03-b.md": "# 3. B\n\nText.\n"},
		"does not begin with a number":             {"a.md": "# 1. A\n\nText.\n"},
		"begin it with 1 and a point":              {"01-a.md": "# A\n\nText.\n"},
		"does not begin with a heading and a para": {"01-a.md": "Text.\n"},
	} {
		folder := fstest.MapFS{}
		for name, text := range files {
			folder["learn/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
		if _, err := parseAll(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

const sample = "# 1. A *title*\n\nOne `line code` of **strong words** and a [link](b.md#c)\nto a [page](https://example.org).\n\n" +
	"- an item\n  in two lines\n- another\n\n<!-- output: x -->\n```text\n$ locksim run x\n\n  0.1s  a\n```\n<!-- end -->\n\n" +
	"```go\nif a {\n\tb()\n}\n```\n\n| a | b |\n|---|---|\n| one | two words |\n\n[All chapters](README.md) · next: [2](b.md)\n"

// A terminal shows all kinds of blocks, without markup.
func TestTerminalShowsAllBlocks(t *testing.T) {
	var b strings.Builder
	c := &Chapter{Markdown: sample}
	if err := c.Write(&b, 30, reports.Palette{}); err != nil {
		t.Fatal(err)
	}
	want := `1. A title
══════════

One ` + "`line code`" + ` of strong
words and a link to a page
[1].

  - an item in two lines
  - another

$ locksim run x

  0.1s  a

    if a {
        b()
    }

  a    b
  ──────────────
  one  two words

Links
  [1] page
      https://example.org
`
	if got := b.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// A table whose columns do not fit side by side, because their words are too long, is shown as a list.
func TestWideTableBecomesAList(t *testing.T) {
	screen := terminal{width: 24}
	screen.write(block{kind: table, text: "| name | one | two |\n|---|---|---|\n| a-long-name | first-of-all | b |\n| **z** | | last and longer than a line |\n"})
	want := `  a-long-name
    one  first-of-all
    two  b
  z
    two  last and longer
         than a line
`
	if got := screen.b.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// A palette highlights strong words, and changes nothing else.
func TestTerminalHighlights(t *testing.T) {
	var coloured, bare strings.Builder
	c := &Chapter{Markdown: sample}
	if err := c.Write(&coloured, 24, reports.Colour); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(&bare, 24, reports.Palette{}); err != nil {
		t.Fatal(err)
	}
	if got := coloured.String(); !strings.Contains(got, "\x1b[1mstrong words\x1b[0m") && !strings.Contains(got, "\x1b[1mstrong\x1b[0m\n\x1b[1mwords\x1b[0m") {
		t.Errorf("strong words are not highlighted:\n%q", got)
	}
	sequences := lazy.Regexp("\x1b\\[[0-9]*m")
	if got := sequences().ReplaceAllString(coloured.String(), ""); got != bare.String() {
		t.Errorf("without colours the text is\n%q\nwant\n%q", got, bare.String())
	}
}

// Text, items and tables of the chapters fit a terminal of 60 columns. Code is not wrapped, because
// people copy it, and neither is a long word.
func TestChaptersFitTheTerminal(t *testing.T) {
	const width, longWord = 60, 20
	checked := 0
	for _, c := range All() {
		for _, b := range parseBlocks(c.Markdown) {
			if b.kind == code {
				continue
			}
			screen := terminal{width: width}
			screen.write(b)
			for line := range strings.Lines(screen.b.String()) {
				line = strings.TrimRight(line, "\n")
				isLong := func(word string) bool { return utf8.RuneCountInString(word) > longWord }
				if n := utf8.RuneCountInString(line); n > width && !slices.ContainsFunc(strings.Fields(line), isLong) {
					t.Errorf("%s: a line has %d columns: %s", c.Name, n, line)
				}
				checked++
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d lines were checked", checked)
	}
}
