// Package chapters has the chapters of docs/learn, which are a course about distributed locks, and
// writes them for a terminal.
package chapters

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/locksim/locksim/docs"
	"github.com/locksim/locksim/internal/textwrap"
)

// A Chapter is one document of docs/learn.
type Chapter struct {
	// Number is the chapter's place in the reading order, from 1 on. Name is the name of its file
	// without the number and the extension. It never changes, so that links stay valid.
	Number int
	Name   string
	// Title is the chapter's heading without the number, and Summary its first paragraph as
	// one line.
	Title, Summary string
	// Markdown is the whole document.
	Markdown string
}

// File returns the name of the chapter's file in docs/learn.
func (c *Chapter) File() string { return fmt.Sprintf("%02d-%s.md", c.Number, c.Name) }

// All returns the chapters in reading order.
func All() []*Chapter { return slices.Clone(all()) }

var all = sync.OnceValue(func() []*Chapter {
	chapters, err := parseAll(docs.Files)
	if err != nil {
		panic(err) // the files are embedded, and tests read them
	}
	return chapters
})

// Find returns the chapter with the given name or number; ok is false if there is none.
func Find(name string) (c *Chapter, ok bool) {
	number, err := strconv.Atoi(name)
	for _, c := range all() {
		if strings.EqualFold(c.Name, name) || err == nil && c.Number == number {
			return c, true
		}
	}
	return nil, false
}

// Names returns the names of all chapters, in reading order.
func Names() []string {
	var names []string
	for _, c := range all() {
		names = append(names, c.Name)
	}
	return names
}

// parseAll reads the chapters of a folder learn.
func parseAll(files fs.FS) ([]*Chapter, error) {
	names, err := fs.Glob(files, "learn/*.md")
	if err != nil {
		return nil, err
	}
	var found []*Chapter
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		c, err := parse(path.Base(name), string(text))
		if err != nil {
			return nil, err
		}
		if c.Number != len(found)+1 {
			return nil, fmt.Errorf("chapters: %s is the chapter number %d in reading order; number the files without a gap", name, len(found)+1)
		}
		found = append(found, c)
	}
	return found, nil
}

// parse reads a chapter. Its text has to begin with the heading "# N. TITLE" and a paragraph.
func parse(file, text string) (*Chapter, error) {
	digits, name, _ := strings.Cut(strings.TrimSuffix(file, ".md"), "-")
	number, err := strconv.Atoi(digits)
	if err != nil {
		return nil, fmt.Errorf("chapters: the name of %s does not begin with a number", file)
	}
	found := parseBlocks(text)
	if len(found) < 2 || found[0].kind != heading || found[1].kind != paragraph {
		return nil, fmt.Errorf("chapters: %s does not begin with a heading and a paragraph", file)
	}
	title, ok := strings.CutPrefix(found[0].text, strconv.Itoa(number)+". ")
	if !ok {
		return nil, fmt.Errorf("chapters: the heading of %s is %q; begin it with %d and a point", file, found[0].text, number)
	}
	return &Chapter{Number: number, Name: name, Title: title, Summary: plain(textwrap.OneLine(found[1].text)), Markdown: text}, nil
}
