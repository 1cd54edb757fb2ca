package markdown

import "testing"

// Markdown shows a text unchanged, and most texts need no escapes.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"R & D, 3 < 5 > 4, issue # one, C#, a@ b": "R & D, 3 &lt; 5 > 4, issue # one, C#, a@ b",
		"at 10:20, x: y, 1.5s, -30s, 2 - 1":       "at 10:20, x: y, 1.5s, -30s, 2 - 1",
		"~~a~~ _b_ *c* `d` e|f \\":                "\\~\\~a\\~\\~ \\_b\\_ \\*c\\* \\`d\\` e\\|f \\\\",
		"[a](b) c](d)":                            `\[a\](b) c\](d)`,
		"&lt; &#64; &x y;":                        "&amp;lt; &amp;<span>#</span>64; &x y;",
		"thanks, @octocat":                        "thanks, <span>@</span>octocat",
		"a@b.example":                             "a<span>@</span>b.example",
		"#1 o/r#2 GH-3":                           "<span>#</span>1 o/r<span>#</span>2 GH<span>-</span>3",
		"$a$":                                     "<span>$</span>a<span>$</span>",
		"http://a www.b":                          "http<span>:</span>//a www<span>.</span>b",
		":tada:":                                  "<span>:</span>tada:",
		"# a":                                     `\# a`,
		"> a":                                     `\> a`,
		"+ a":                                     `\+ a`,
		"- - -":                                   `\- - -`,
		"===":                                     `\===`,
		"12. a":                                   `12\. a`,
		"1) a":                                    `1\) a`,
		"1.5 a":                                   "1.5 a",
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
	}
}
