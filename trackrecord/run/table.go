package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A row is the row of one bug in the table.
type row struct {
	name, title, source, library string
	bad, good, breaks            []string
	// found is the test case of the suite that finds the bug, or notFound.
	found string
	suite int // worlds
	time  string
	// line is the row in the README, if it is not made again.
	line string
}

// notFound is the cell of a bug that the suite does not find.
const notFound = "no"

const (
	header = "| bug | library | upstream | what it breaks | bad versions fail | fixed versions pass | the suite finds it by | time to find |\n" +
		"|---|---|---|---|---|---|---|---|\n"
	tableBegins = "<!-- table -->\n"
	tableEnds   = "<!-- end -->"
)

// String returns the row as it is in the README.
func (r row) String() string {
	if r.line != "" {
		return r.line
	}
	library := strings.TrimPrefix(r.library, "github.com/")
	found := r.found
	if found != notFound {
		found = "`" + found + "`"
	}
	return fmt.Sprintf("| [%s](%s/story.yaml) | %s | %s | %s | %s | %s | %s | %s |\n",
		r.title, r.name, library, shortenLinks(r.source), strings.Join(r.breaks, ", "),
		strings.Join(r.bad, "; "), strings.Join(r.good, "; "), found, r.time)
}

var link = regexp.MustCompile(`https://github\.com/[^/ ]+/[^/ ]+/(pull|issues)/([0-9]+)`)

// shortenLinks returns a story's source with short links.
func shortenLinks(source string) string {
	return link.ReplaceAllStringFunc(source, func(url string) string {
		parts := link.FindStringSubmatch(url)
		kind := map[string]string{"pull": "PR", "issues": "issue"}[parts[1]]
		return fmt.Sprintf("[%s %s](%s)", kind, parts[2], url)
	})
}

// A table is the rows of the bugs, in the order of the README.
type table []row

func (t table) String() string {
	var b strings.Builder
	b.WriteString(header)
	for _, r := range t {
		b.WriteString(r.String())
	}
	return b.String()
}

// withoutTimes returns the table without its last column.
func (t table) withoutTimes() string {
	var b strings.Builder
	for line := range strings.Lines(t.String()) {
		cells := strings.Split(line, " | ")
		b.WriteString(strings.Join(cells[:len(cells)-1], " | ") + "\n")
	}
	return b.String()
}

// row returns the row of a bug by the name of its folder; nil if there is none.
func (t table) row(name string) *row {
	for i := range t {
		if t[i].name == name {
			return &t[i]
		}
	}
	return nil
}

// replaceIn returns the text of a README with this table in place of its own.
func (t table) replaceIn(text string) string {
	before, rest, _ := strings.Cut(text, tableBegins)
	_, after, _ := strings.Cut(rest, tableEnds)
	return before + tableBegins + "\n" + t.String() + "\n" + tableEnds + after
}

var rowName = regexp.MustCompile(`\]\(([^/()]+)/story\.yaml\)`)

// readTable reads the table of a README. It reads only three things of each row: the bug,
// the test case of the suite that finds it, and the times.
func readTable(text string) (table, error) {
	_, rest, begins := strings.Cut(text, tableBegins)
	body, _, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return nil, fmt.Errorf("README.md has no place for the table; add the lines %q and %q", strings.TrimSpace(tableBegins), tableEnds)
	}
	var t table
	for line := range strings.Lines(body) {
		name := rowName.FindStringSubmatch(line)
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if name == nil || len(cells) != strings.Count(header, " | ")+1 {
			continue
		}
		t = append(t, row{
			name: name[1], line: line,
			found: strings.Trim(cells[len(cells)-2], "`"), time: strings.TrimSpace(cells[len(cells)-1]),
		})
	}
	return t, nil
}
