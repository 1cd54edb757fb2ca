package website

import "testing"

// The answer to a question of a chapter is folded: the run, and the text that explains it.
func TestFoldAnswers(t *testing.T) {
	const question = "<p><strong>What do you expect?</strong> Who gets it?</p>"
	fold := func(s string) string { return "\n<details><summary>Show the answer</summary>" + s + "</details>\n" }
	for _, test := range []struct{ name, body, want string }{
		{"up to the next part", "<p>a</p>" + question + "<pre>run</pre><p>why</p><h2>next</h2>", "<p>a</p>" + question + fold("<pre>run</pre><p>why</p>") + "<h2>next</h2>"},
		{"up to the next question", question + "<pre>1</pre>" + question + "<pre>2</pre>", question + fold("<pre>1</pre>") + question + fold("<pre>2</pre>")},
		{"up to the next code", question + "<pre>run</pre><!-- file: lock.go --><pre>code</pre>", question + fold("<pre>run</pre>") + "<!-- file: lock.go --><pre>code</pre>"},
		{"no question", "<p>a</p><pre>run</pre>", "<p>a</p><pre>run</pre>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := foldAnswers(test.body); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
