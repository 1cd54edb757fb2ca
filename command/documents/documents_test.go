package documents

import (
	"strings"
	"testing"
)

func TestConvert(t *testing.T) {
	const source = "# A title with `code`\n\nThe summary has a [link](glossary.md#locks)\nand a second line.\n\nA second paragraph.\n\n" +
		"## What if: it's full?\n\n## What if: it's full?\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<!-- command: x -->\n\n```sh\nlocksim run <x>\n```\n"
	d, err := convert([]byte(source), func(link string) string { return "resolved/" + link })
	if err != nil {
		t.Fatal(err)
	}
	if d.Title != "A title with code" || d.Summary != "The summary has a link and a second line." {
		t.Errorf("the title is %q and the summary %q", d.Title, d.Summary)
	}
	for _, want := range []string{
		`<a href="resolved/glossary.md#locks">`, `<h2 id="what-if-its-full">`, `<h2 id="what-if-its-full-1">`, "<td>2</td>", "locksim run &lt;x&gt;",
	} {
		if !strings.Contains(string(d.Body), want) {
			t.Errorf("the page has no %s:\n%s", want, d.Body)
		}
	}
}
