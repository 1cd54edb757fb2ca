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
	for _, c := range []struct {
		name, html string
		complaint  string // a part of one complaint; "" if there must be none
	}{
		{"a page that does nothing forbidden", `<p>All is well. <img alt="" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">`, ""},
		{"a message on the console", `<script>console.log("hello")</script>`, `console.log: "hello"`},
		{"an exception that nothing catches", `<script>throw new Error("no")</script>`, "exception: Uncaught Error: no"},
		{"a rejected promise that nothing handles", `<script>Promise.reject(new Error("no"))</script>`, "exception: Uncaught (in promise) Error: no"},
		{"a dialog", `<script>alert("hello")</script>`, "dialog: hello"},
		{"a picture from another host", `<img alt="" src="https://locksim.invalid/x.png">`, "request: https://locksim.invalid/x.png"},
		{"a style sheet from another host", `<link rel="stylesheet" href="https://locksim.invalid/x.css">`, "request: https://locksim.invalid/x.css"},
		{"a style sheet from the folder of the page", `<link rel="stylesheet" href="x.css">`, "x.css"},
		{"a font from another host", `<style>@font-face{font-family:x;src:url(https://locksim.invalid/x.woff)} p{font-family:x}</style><p>x`, "request: https://locksim.invalid/x.woff"},
		{"a request by a script", `<script>fetch("https://locksim.invalid/").catch(() => 0)</script>`, "request: https://locksim.invalid/"},
		{"a WebSocket", `<script>new WebSocket("wss://locksim.invalid/")</script>`, "request: wss://locksim.invalid/"},
		{"a frame with a page of another host", `<iframe src="https://locksim.invalid/"></iframe>`, "request: https://locksim.invalid/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.html")
			if err := os.WriteFile(file, []byte("<!DOCTYPE html><meta charset=utf-8>"+c.html), 0o666); err != nil {
				t.Fatal(err)
			}
			got := openUnchecked(t, file, desktop).allComplaints()
			found := slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, c.complaint) })
			if c.complaint == "" && len(got) > 0 || c.complaint != "" && !found {
				t.Errorf("the complaints are %q, want %q among them", got, c.complaint)
			}
		})
	}
}
