package webpage

import (
	"strings"
	"testing"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// A link leads to a page. It never runs a script.
func TestHref(t *testing.T) {
	for address, isLink := range map[string]bool{
		"https://a.example/b?c=d:e": true, "HTTP://a.example": true, "mailto:a@b.example": true,
		"../learn/index.html": true, "a/b:c": true, "#v-a:b": true, "?a:b": true, "": true,
		"javascript:alert(1)": false, "JavaScript:alert(1)": false, " javascript:alert(1)": false,
		"java\tscript:alert(1)": false, "\x01javascript:alert(1)": false, "data:text/html,x": false, "vbscript:x": false, ":": false,
	} {
		want := "<a>x</a>"
		if isLink {
			want = `<a href="` + address + `">x</a>`
		}
		if got := Render(h.A(Href(address), g.Text("x"))); got != want {
			t.Errorf("%q: got %s, want %s", address, got, want)
		}
	}
}

// A page escapes its title and its links, and shows its style, script and body as they are.
func TestPage(t *testing.T) {
	p := New("a < b", g.Text("c < d"), "e > f {}")
	p.Links = []Link{{To: "g?h&i", Text: "j < k"}, {To: "javascript:l", Text: "m"}}
	p.Script = "n < o"
	page := string(p.HTML())
	for _, want := range []string{
		"<!doctype html>", "<title>a &lt; b</title>", style + "e > f {}</style>", `<main id="main">c &lt; d</main>`,
		`<nav aria-label="Site"><a href="g?h&amp;i">j &lt; k</a><a>m</a></nav>`, "<script>n < o</script>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %s", want)
		}
	}
}
