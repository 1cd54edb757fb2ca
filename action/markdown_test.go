package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// A text of a pull request stays a text in a comment: it notifies nobody, and is no markup.
func TestMarkdownEscapes(t *testing.T) {
	hostile := "@octo/everybody <img src=x onerror=alert(1)> | ![x](https://example.com/x) #1 `code` \n\n# heading\n```\n::error::x\x1b[31m"
	d := &document{Schema: changesSchema, Parts: []part{{
		Command: hostile, New: []change{{hostile, hostile, "locksim run '" + hostile + "' ````"}},
		Unknown: []change{{hostile, hostile, hostile}}, Healed: []change{{hostile, hostile, hostile}},
	}, {Command: hostile, Problem: hostile}, {Command: hostile, NoBase: hostile}}, NoBase: hostile}
	text := d.markdown("Commit x.")
	// The replays are in a block of code, whose fence is longer than theirs.
	fence := "`````"
	if strings.Count(text, fence) != 2 {
		t.Fatalf("the fence of the replays is not %s:\n%s", fence, text)
	}
	before, rest, _ := strings.Cut(text, fence+"sh\n")
	_, after, _ := strings.Cut(rest, "\n"+fence+"\n")
	prose := before + after
	for _, forbidden := range []string{`(^|[^>])@octo`, `<img`, `(^|[^\\])!?\[x\]\(`, "\n# heading", "(^|[^\\\\])`", "\n::", "\x1b", `(^|[^>])#1`} {
		if found := regexp.MustCompile(forbidden).FindString(prose); found != "" {
			t.Errorf("%q is in the comment:\n%s", found, prose)
		}
	}
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "::") {
			t.Errorf("the line %q of a block is a workflow command", line)
		}
	}
}

// A comment is never longer than GitHub accepts, and says what it leaves out.
func TestMarkdownIsShort(t *testing.T) {
	long := strings.Repeat("|ä@a", 10_000)
	var p part
	for range 500 {
		p.New = append(p.New, change{long, long, long})
	}
	p.Command = "locksim run x"
	d := &document{Schema: changesSchema, Parts: []part{p, p, p, p}}
	text := d.markdown(headSHA)
	if len(text) > maxBody+1000 || !utf8.ValidString(text) {
		t.Errorf("the comment has %d bytes, valid: %v", len(text), utf8.ValidString(text))
	}
	if !strings.Contains(text, "2,000 new failures") || !strings.Contains(text, "no room") {
		t.Errorf("the comment does not say what is left out:\n%.300s", text)
	}
}
