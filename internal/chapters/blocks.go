package chapters

import (
	"strings"

	"github.com/locksim/locksim/internal/lazy"
)

// A blockKind is a kind of block of Markdown.
type blockKind int

const (
	heading blockKind = iota
	paragraph
	item  // of a list
	code  // between fences
	table // all of its rows
)

// A block is a part of a document, such as a heading or a paragraph.
type block struct {
	kind blockKind
	// text is the text of the block without the markup of blocks, such as # or a fence. The lines
	// of code stay as they are, and a table is as in the document.
	text string
	// level is the level of a heading, from 1 on. sign is the sign of an item, such as "-" or "2.".
	// language is the language of code.
	level          int
	sign, language string
}

// itemPattern matches the first line of an item.
var itemPattern = lazy.Regexp(`^(-|[0-9]+\.) +(.*)$`)

// parseBlocks reads the Markdown that chapters use: headings with #, paragraphs, items of one
// level, fenced code and tables. It leaves out comments.
func parseBlocks(text string) (found []block) {
	var open *block // a paragraph, an item or a table that may continue
	add := func(b block) *block {
		found = append(found, b)
		return &found[len(found)-1]
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		mark := itemPattern().FindStringSubmatch(line)
		switch {
		case line == "", strings.HasPrefix(line, "<!--"):
			open = nil
		case strings.HasPrefix(line, "```"):
			open = nil
			b := add(block{kind: code, language: strings.TrimPrefix(line, "```")})
			var inside []string
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
				inside = append(inside, lines[i])
			}
			b.text = strings.Join(inside, "\n")
		case strings.HasPrefix(line, "#"):
			open = nil
			text := strings.TrimLeft(line, "#")
			add(block{kind: heading, level: len(line) - len(text), text: strings.TrimSpace(text)})
		case strings.HasPrefix(line, "|"):
			if open == nil || open.kind != table {
				open = add(block{kind: table})
			}
			open.text += line + "\n"
		case mark != nil:
			open = add(block{kind: item, sign: mark[1], text: mark[2]})
		case open != nil && open.kind != table:
			open.text += "\n" + line
		default:
			open = add(block{kind: paragraph, text: line})
		}
	}
	return found
}

// cellsOf returns the cells of a row of a table.
func cellsOf(row string) []string {
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(row), "|"), "|") {
		cells = append(cells, strings.TrimSpace(strings.ReplaceAll(cell, "&emsp;", "")))
	}
	return cells
}
