package browser_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tests notice if a page does something that no report may do.
func TestBrowserComplains(t *testing.T) {
	for _, c := range []struct{ name, html, complaint string }{
		{"nothing", `<p>All is well. <img alt="" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">`, ""},
		{"a word on the console", `<script>console.log("hello")</script>`, `console.log: "hello"`},
		{"an exception", `<script>throw new Error("no")</script>`, "exception: Uncaught Error: no"},
		{"a promise that nobody keeps", `<script>Promise.reject(new Error("no"))</script>`, "exception: Uncaught (in promise) Error: no"},
		{"a dialog", `<script>alert("hello")</script>`, "dialog: hello"},
		{"a picture from elsewhere", `<img alt="" src="https://locksim.invalid/x.png">`, "request: https://locksim.invalid/x.png"},
		{"a style from elsewhere", `<link rel="stylesheet" href="https://locksim.invalid/x.css">`, "request: https://locksim.invalid/x.css"},
		{"a style from the folder", `<link rel="stylesheet" href="x.css">`, "x.css"},
		{"a font from elsewhere", `<style>@font-face{font-family:x;src:url(https://locksim.invalid/x.woff)} p{font-family:x}</style><p>x`, "request: https://locksim.invalid/x.woff"},
		{"a question to elsewhere", `<script>fetch("https://locksim.invalid/").catch(() => 0)</script>`, "request: https://locksim.invalid/"},
		{"a socket", `<script>new WebSocket("wss://locksim.invalid/")</script>`, "request: wss://locksim.invalid/"},
		{"a frame", `<iframe src="https://locksim.invalid/"></iframe>`, "request: https://locksim.invalid/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.html")
			if err := os.WriteFile(file, []byte("<!DOCTYPE html><meta charset=utf-8>"+c.html), 0o666); err != nil {
				t.Fatal(err)
			}
			got := openUnchecked(t, file, desktop).allComplaints()
			heard := slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, c.complaint) })
			if c.complaint == "" && len(got) > 0 || c.complaint != "" && !heard {
				t.Errorf("got %q, want %q", got, c.complaint)
			}
		})
	}
}
