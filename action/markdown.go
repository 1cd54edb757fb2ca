package main

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/internal/markdown"
	"github.com/locksim/locksim/internal/story"
)

const (
	// maxBody is the greatest length of a comment in bytes; GitHub's limit is 65,536
	// characters.
	maxBody = 60_000
	// maxRows is how many rows a table has for new, for unknown and for healed results, at
	// most. maxText is the greatest length of a text in characters.
	maxRows = 40
	maxText = 300
)

// markdown returns the document as Markdown for people. version is a sentence about the
// commit; it may be "". Every text is escaped, because it comes from code of the pull
// request.
func (d *document) markdown(version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### locksim: %s\n\n", d.headline())
	if version != "" {
		fmt.Fprintf(&b, "%s\n\n", version)
	}
	if d.NoBase != "" {
		fmt.Fprintf(&b, "Nothing is compared: %s.\n\n", escape(d.NoBase))
	}
	left := 0
	for _, p := range d.Parts {
		text := p.markdown()
		if b.Len()+len(text) > maxBody {
			left++
			continue
		}
		b.WriteString(text)
	}
	if left > 0 {
		fmt.Fprintf(&b, "There is no room for %s here; the artifact has the rest.\n", story.Count(left, "more command"))
	}
	return b.String()
}

// headline counts the changes.
func (d *document) headline() string {
	var words []string
	problems := 0
	for _, p := range d.Parts {
		if p.Problem != "" {
			problems++
		}
	}
	for _, c := range []struct {
		n    int
		noun string
	}{
		{d.count(func(p part) []change { return p.New }), "new failure"},
		{d.count(func(p part) []change { return p.Unknown }), "new unknown result"},
		{problems, "failed command"},
	} {
		if c.n > 0 {
			words = append(words, story.Count(c.n, c.noun))
		}
	}
	if n := d.count(func(p part) []change { return p.Healed }); n > 0 {
		words = append(words, fmt.Sprintf("%d healed", n))
	}
	switch {
	case len(words) == 0 && d.NoBase != "":
		return "nothing compared"
	case len(words) == 0:
		return "nothing changed"
	}
	return strings.Join(words, ", ")
}

// markdown returns the comparison of one command.
func (p part) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: ", escape(p.Command))
	switch {
	case p.Problem != "":
		fmt.Fprintf(&b, "no result: %s\n\n", escape(p.Problem))
		return b.String()
	case p.NoBase != "":
		fmt.Fprintf(&b, "violations in %s; there is no result of the base: %s\n\n", story.Count(p.Broken, "result"), escape(p.NoBase))
	default:
		fmt.Fprintf(&b, "violations in %s\n\n", story.Count(p.Broken, "result"))
	}
	var replays []string
	rows := func(mark string, changes []change) {
		for i, c := range changes {
			if i == maxRows {
				fmt.Fprintf(&b, "| %s | and %d more | |\n", mark, len(changes)-i)
				return
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", mark, escape(c.Title), escape(c.Detail))
			if c.Replay != "" {
				replays = append(replays, c.Replay)
			}
		}
	}
	if len(p.New)+len(p.Unknown)+len(p.Healed) > 0 {
		b.WriteString("| | what | how |\n|---|---|---|\n")
		rows("✗ new", p.New)
		rows("? unknown", p.Unknown)
		rows("✓ healed", p.Healed)
		b.WriteString("\n")
	}
	if len(replays) > 0 {
		b.WriteString("<details><summary>Replay</summary>\n\n" + fenced(replays) + "\n</details>\n\n")
	}
	return b.String()
}

// escape shortens a text and makes Markdown show it unchanged. It cuts the text before it
// escapes it, so that no escape is cut in two.
func escape(text string) string {
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	return markdown.Escape(text)
}

// fenced returns the lines as a block of code, each only once. The fence of the block is longer
// than any row of backticks in the lines, so no line ends the block.
func fenced(lines []string) string {
	seen := map[string]bool{}
	var b strings.Builder
	longest := 2
	for _, l := range lines {
		l = story.Visible(l)
		if seen[l] || len(l) > 4*maxText {
			continue
		}
		seen[l] = true
		b.WriteString(l + "\n")
		run := 0
		for _, r := range l {
			if r != '`' {
				run = 0
				continue
			}
			run++
			longest = max(longest, run)
		}
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "sh\n" + b.String() + fence + "\n"
}
