package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A row is the row of one bug in the table of the README.
type row struct {
	name, title, source, library string
	bad, good, breaks            []string
	// foundBy is the test case of the suite that finds the bug, or notFound.
	foundBy     string
	suiteWorlds int // the number of worlds in the suite
	times       string
	// line is the text of the row in the README, if the row was read there; otherwise "".
	line string
}

// notFound is what the table says if the suite does not find the bug.
const notFound = "no"

const (
	header = "| bug | library | upstream | what it breaks | bad versions fail | fixed versions pass | the suite finds it by | time to find |\n" +
		"|---|---|---|---|---|---|---|---|\n"
	tableBegins = "<!-- table -->\n"
	tableEnds   = "<!-- end -->"
)

// String returns the row as a line of the README.
func (r row) String() string {
	if r.line != "" {
		return r.line
	}
	library := strings.TrimPrefix(r.library, "github.com/")
	found := r.foundBy
	if found != notFound {
		found = "`" + found + "`"
	}
	return fmt.Sprintf("| [%s](%s/story.yaml) | %s | %s | %s | %s | %s | %s | %s |\n",
		r.title, r.name, library, shortenLinks(r.source), strings.Join(r.breaks, ", "),
		strings.Join(r.bad, "; "), strings.Join(r.good, "; "), found, r.times)
}

// link matches the address of a pull request or an issue.
var link = regexp.MustCompile(`https://github\.com/[^/ ]+/[^/ ]+/(pull|issues)/([0-9]+)`)

// shortenLinks returns the source of a story with a short text for each link.
func shortenLinks(source string) string {
	return link.ReplaceAllStringFunc(source, func(url string) string {
		parts := link.FindStringSubmatch(url)
		kind := map[string]string{"pull": "PR", "issues": "issue"}[parts[1]]
		return fmt.Sprintf("[%s %s](%s)", kind, parts[2], url)
	})
}

// A table is the rows of all bugs, in the order of the README.
type table []row

func (t table) String() string {
	var b strings.Builder
	b.WriteString(header)
	for _, r := range t {
		b.WriteString(r.String())
	}
	return b.String()
}

// withoutTimes returns the table without its last column, the times, which differ from run
// to run.
func (t table) withoutTimes() string {
	var b strings.Builder
	for line := range strings.Lines(t.String()) {
		cells := strings.Split(line, " | ")
		b.WriteString(strings.Join(cells[:len(cells)-1], " | ") + "\n")
	}
	return b.String()
}

// row returns the row of the bug with the given folder name; nil if there is none.
func (t table) row(name string) *row {
	for i := range t {
		if t[i].name == name {
			return &t[i]
		}
	}
	return nil
}

// replaceIn returns the text of a README with this table instead of the one that it
// contains.
func (t table) replaceIn(text string) string {
	before, rest, _ := strings.Cut(text, tableBegins)
	_, after, _ := strings.Cut(rest, tableEnds)
	return before + tableBegins + "\n" + t.String() + "\n" + tableEnds + after
}

// rowName matches the link to the story in a row; it contains the name of the bug's folder.
var rowName = regexp.MustCompile(`\]\(([^/()]+)/story\.yaml\)`)

// readTable reads the table in the text of a README. Of each row it reads only the bug, the
// test case of the suite that finds it, and the times.
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
			foundBy: strings.Trim(cells[len(cells)-2], "`"), times: strings.TrimSpace(cells[len(cells)-1]),
		})
	}
	return t, nil
}
