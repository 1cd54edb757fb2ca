// Package mutate makes mutants of a lock: copies of its source with one mistake each, of
// the kind that people make in locks. If the lock's test passes with a mutant, the test
// would not notice that mistake. An [Operator] finds the places for one kind of mistake.
//
// The operators look at the syntax of the source, but not at types. Therefore some mutants do
// not compile, which shows when they are tested.
package mutate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A Source is a file of the lock: Go, or a script in Lua.
type Source struct {
	// Name is the path of the file. A script has a name that ends with .lua.
	Name string
	Text []byte
}

// A Mutant is a file with one mistake.
type Mutant struct {
	// Operator is the name of the operator that makes the mistake.
	Operator string
	// File is the name of the Source. Line is the first line that differs, counted from 1.
	File string
	Line int
	// Before and After are the lines that differ, without indentation and line ends.
	Before, After []string
	// Text is the whole file with the mistake.
	Text []byte
}

// Mutants returns the mutants that the operators make of the files of a package, in the order
// of the files and lines. It returns an error if a file is not valid Go.
func Mutants(sources []Source, operators []Operator) ([]Mutant, error) {
	p, err := parse(sources)
	if err != nil {
		return nil, err
	}
	var mutants []Mutant
	for _, f := range p.files {
		var ofFile []Mutant
		seen := map[string]bool{string(f.text): true}
		for _, o := range operators {
			for _, c := range o.changes(f) {
				m := f.mutant(o, c)
				if !seen[string(m.Text)] {
					seen[string(m.Text)] = true
					ofFile = append(ofFile, m)
				}
			}
		}
		slices.SortStableFunc(ofFile, func(a, b Mutant) int { return a.Line - b.Line })
		mutants = append(mutants, ofFile...)
	}
	return mutants, nil
}

// An edit replaces the bytes from one offset to another by a text.
type edit struct {
	from, to int
	text     string
}

// A change is the edits that make one mistake, in the order of the file.
type change []edit

// apply returns a copy of text in which the edits are made.
func (c change) apply(text []byte) []byte {
	var b bytes.Buffer
	done := 0
	for _, e := range c {
		b.Write(text[done:e.from])
		b.WriteString(e.text)
		done = e.to
	}
	b.Write(text[done:])
	return b.Bytes()
}

// mutant returns the file with a change.
func (f *file) mutant(o Operator, c change) Mutant {
	m := Mutant{Operator: o.Name, File: f.name, Line: 1 + bytes.Count(f.text[:c[0].from], []byte("\n"))}
	m.Before, m.After = f.difference(c)
	m.Text = f.dropUnusedImports(c.apply(f.text))
	return m
}

// difference returns the lines that a change touches, before and after it. It leaves out
// the lines between two edits.
func (f *file) difference(c change) (before, after []string) {
	for i := 0; i < len(c); {
		// Edits of the same line are shown together.
		from, to := f.lineStart(c[i].from), f.lineEnd(c[i].to)
		last := i + 1
		for last < len(c) && c[last].from <= to {
			to = f.lineEnd(c[last].to)
			last++
		}
		var shifted change
		for _, e := range c[i:last] {
			shifted = append(shifted, edit{e.from - from, e.to - from, e.text})
		}
		before = append(before, trimmedLines(string(f.text[from:to]))...)
		after = append(after, trimmedLines(string(shifted.apply(f.text[from:to])))...)
		i = last
	}
	return before, after
}

// lineStart returns where the line that contains the offset begins.
func (f *file) lineStart(offset int) int { return bytes.LastIndexByte(f.text[:offset], '\n') + 1 }

// lineEnd returns where the line that contains the offset ends.
func (f *file) lineEnd(offset int) int {
	if i := bytes.IndexByte(f.text[offset:], '\n'); i >= 0 {
		return offset + i
	}
	return len(f.text)
}

func trimmedLines(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// String returns the file, the line and the operator of the mutant.
func (m Mutant) String() string { return fmt.Sprintf("%s:%d %s", m.File, m.Line, m.Operator) }
