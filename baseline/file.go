package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A baseline is what a commit comes to, as far as it was asked for.
//
// As a file it is text, for people and diff to read: a line that says what it is, one
// for each part that it has, and one for each item, sorted. An item's line is its part,
// its key and its facts, with tabs between.
type baseline struct {
	// parts are those that it has, each with the commit that it is of.
	parts map[string]string
	items []item
}

// heading is the first line of a file. Its number grows when facts are added or
// digested in another way, so that files of both are not compared.
const heading = "# locksim/baseline/v1"

const partHeading = "# part "

// String is the text of the file.
func (b baseline) String() string {
	var out strings.Builder
	out.WriteString(heading + "\n")
	for _, part := range b.names() {
		fmt.Fprintf(&out, "%s%s\t%s\n", partHeading, part, b.parts[part])
	}
	for _, i := range b.sorted() {
		fmt.Fprintf(&out, "%s\t%s", i.part, oneLine(i.key))
		for _, f := range i.facts {
			fmt.Fprintf(&out, "\t%s=%s", f.name, oneLine(f.value))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// names are the names of its parts, sorted.
func (b baseline) names() []string {
	var all []string
	for part := range b.parts {
		all = append(all, part)
	}
	slices.Sort(all)
	return all
}

func (b baseline) sorted() []item {
	return slices.SortedFunc(slices.Values(b.items), func(x, y item) int {
		return cmp.Or(cmp.Compare(x.part, y.part), cmp.Compare(x.key, y.key))
	})
}

// oneLine is a text without what separates the fields and lines of a file.
func oneLine(text string) string {
	return strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(text)
}

// parse reads the text of a file.
func parse(text string) (baseline, error) {
	b := baseline{parts: map[string]string{}}
	seen := map[string]bool{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if n == 1 {
			if line != heading {
				return b, fmt.Errorf("line 1 is %q, not %q: it is no baseline, or one that another version of this program has made; make it again", shortened(line), heading)
			}
			continue
		}
		fields := strings.Split(line, "\t")
		if name, ok := strings.CutPrefix(fields[0], partHeading); ok && len(fields) == 2 {
			b.parts[name] = fields[1]
			continue
		}
		i := item{part: fields[0]}
		if _, known := b.parts[i.part]; !known || len(fields) < 3 {
			return b, fmt.Errorf("line %d is %q: it has no part that the heading names, no key or no facts; make the file again", n, shortened(line))
		}
		i.key = fields[1]
		for _, field := range fields[2:] {
			name, value, ok := strings.Cut(field, "=")
			if !ok {
				return b, fmt.Errorf("line %d has %q where a fact should be, NAME=VALUE; make the file again", n, shortened(field))
			}
			i.facts = append(i.facts, fact{name, value})
		}
		if id := i.part + "\t" + i.key; seen[id] {
			return b, fmt.Errorf("line %d has %q a second time; make the file again", n, shortened(id))
		} else {
			seen[id] = true
		}
		b.items = append(b.items, i)
	}
	if n == 0 {
		return b, errors.New("it is empty")
	}
	return b, nil
}

func read(file string) (baseline, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return baseline{}, err
	}
	b, err := parse(string(text))
	if err != nil {
		return b, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

// recordsOf is where the full records of a baseline are, beside its file. They are not
// committed.
func recordsOf(file string) string { return strings.TrimSuffix(file, ".txt") + ".jsonl" }

// A recordLine is one line of the records.
type recordLine struct {
	Part   string          `json:"part"`
	Key    string          `json:"key"`
	Record json.RawMessage `json:"record"`
}

// write writes a baseline, and the records of some runs as they are before those that
// differ in nothing but the seed share a line.
func write(file string, b baseline, records []recordLine) error {
	var all bytes.Buffer
	lines := json.NewEncoder(&all)
	lines.SetEscapeHTML(false)
	for _, r := range records {
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
	if err := replace(recordsOf(file), all.Bytes()); err != nil {
		return err
	}
	return replace(file, []byte(b.String()))
}

// replace writes a file as a whole or not at all.
func replace(file string, text []byte) error {
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// readRecords reads the records beside a file; there may be none.
func readRecords(file string) ([]recordLine, error) {
	in, err := os.Open(recordsOf(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer in.Close()
	var all []recordLine
	lines := json.NewDecoder(bufio.NewReader(in))
	for lines.More() {
		var r recordLine
		if err := lines.Decode(&r); err != nil {
			return nil, fmt.Errorf("%s: %w", recordsOf(file), err)
		}
		all = append(all, r)
	}
	return all, nil
}

// shortened is the beginning of a long text.
func shortened(text string) string {
	const most = 100
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
