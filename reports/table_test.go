package reports

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/webpage"
)

// All three formats write every piece of a document. The output is empty only if the piece
// is empty.
func TestPieces(t *testing.T) {
	for _, c := range []struct {
		name, text, markdown, html string // the piece in each format
		piece, empty               piece  // a piece with content, and one without
	}{
		{"paragraph", "  Two & three.\n", "Two & three.\n", "<p>Two &amp; three.</p>", paragraph("Two & three."), paragraph(" \n")},
		{"facts", "  lock  mine\n", "- **lock**: mine\n", `<dl class="facts"><dt>lock</dt><dd>mine</dd></dl>`, facts{{"lock", "mine"}}, facts{}},
		{"entries", "  lock: mine\n  other\n", "- **lock**: mine\n- **other**\n", `<dl class="facts"><dt>lock</dt><dd>mine</dd><dt>other</dt><dd></dd></dl>`, entries{{"lock", "mine"}, {"other", ""}}, entries{}},
		{"points", "  ✗ It broke.\n    Really.\n", "- **It broke.**\n- Really.\n", `<ul class="plain"><li><span class="bad" aria-hidden="true">✗</span> It broke.</li><li><span class="" aria-hidden="true"></span> Really.</li></ul>`, points{{badSign, "It broke."}, {Says: "Really."}}, points{}},
		{"figure", "  a → b\n", "```text\n  a → b\n```\n", "<pre tabindex=\"0\">  a → b\n</pre>", figure("  a → b\n"), figure("")},
		{"listing", "  The stack\n    main()\n", "<details><summary>The stack</summary>\n\n    main()\n\n</details>\n", "<details><summary>The stack</summary><pre tabindex=\"0\">main()\n</pre></details>", listing{"The stack", []string{"main()"}}, listing{Title: "The stack"}},
		{
			"table",
			"  lock  the data\n ────────────────\n  mine  ✗ unsafe\n ────────────────\n  b|c   two\n        lines\n",
			"| lock | the data |\n|---|---|\n| [mine](mine.yaml) | **[✗ unsafe](page.html)** |\n| b\\|c | two<br>lines |\n",
			`<table class="tally"><thead><tr><th scope="col">lock</th><th scope="col">the data</th></tr></thead> <tbody><tr><th scope="row">mine</th><td><a class="bad" href="page.html"><span class="unseen">mine, the data: </span>✗ unsafe</a></td></tr> <tr><th scope="row">b|c</th><td><span class="plain">two lines</span></td></tr> </tbody> </table>`,
			sampleTable("mine.yaml", "page.html"), table{Heads: heads("lock")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.piece.empty() || !c.empty.empty() {
				t.Error("the piece with content is empty, or the empty one is not")
			}
			written, md := &text{}, &markdownText{}
			c.piece.text(written)
			c.piece.markdown(md)
			if got := written.b.String(); got != c.text {
				t.Errorf("the text is\n%s\nwant\n%s", got, c.text)
			}
			if got := md.b.String(); got != c.markdown {
				t.Errorf("the Markdown is\n%s\nwant\n%s", got, c.markdown)
			}
			got := webpage.Render(c.piece.html())
			if c.name == "table" {
				got = strings.Join(strings.Fields(got), " ")
			}
			if got != c.html {
				t.Errorf("the HTML is\n%s\nwant\n%s", got, c.html)
			}
		})
	}
}

// sampleTable returns a table with two rows. Its first row links to a file and to a page.
func sampleTable(file, page string) table {
	out := table{Heads: heads("lock", "the data")}
	out.add(tableCell{{"mine", plain, file}}, tableCell{{"✗ unsafe", "bad", page}})
	out.Rows = append(out.Rows, tableRow{Cells: []tableCell{plainCell("b|c"), plainCell("two", "lines")}, ruled: true})
	return out
}

// A title is above its rows, after an empty line. A wide table begins in the first column
// of the page.
func TestTitlesInTables(t *testing.T) {
	out := table{Heads: heads("scenario", "verdict"), wide: true}
	for _, title := range []string{"First", "Second"} {
		out.Rows = append(out.Rows, tableRow{Title: title}, tableRow{Cells: []tableCell{plainCell("variant"), verdictBadges["safe"].cell()}, indented: true})
	}
	want := " scenario   verdict\n───────────────────\nFirst\n   variant  ✓ safe\n\nSecond\n   variant  ✓ safe\n"
	if got := out.draw(Options{}); got != want {
		t.Errorf("the table as text is\n%s\nwant\n%s", got, want)
	}
	want = "| scenario | verdict |\n|---|---|\n| **First** | |\n| &emsp;variant | ✓ safe |\n| **Second** | |\n| &emsp;variant | ✓ safe |\n"
	md := &markdownText{}
	if out.markdown(md); md.b.String() != want {
		t.Errorf("the table as Markdown is\n%s\nwant\n%s", md.b.String(), want)
	}
	if page := webpage.Render(out.html()); !strings.Contains(page, `<th scope="rowgroup" colspan="2">First</th>`) {
		t.Errorf("the table as HTML has no title: %s", page)
	}
}

// Colours do not change the widths of columns, and every line of a cell has its own colour.
func TestColoursInTables(t *testing.T) {
	out := table{Heads: heads("a", "b")}
	out.add(tableCell{{Text: "x\ny", Tone: "bad"}}, plainCell("z"))
	want := "  a  b\n ──────\n  \x1b[31mx\x1b[0m  z\n  \x1b[31my\x1b[0m\n"
	if got := out.draw(Options{Palette: Colour}); got != want {
		t.Errorf("the coloured table is\n%q\nwant\n%q", got, want)
	}
}
