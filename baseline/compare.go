package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// errDiffer is the end of a comparison that has found a difference.
var errDiffer = errors.New("they differ")

// A difference is an item that two baselines do not have alike; one of them may not have
// it at all.
type difference struct {
	was, is *item
}

func (d difference) item() item {
	if d.was != nil {
		return *d.was
	}
	return *d.is
}

// kind says which facts differ, the gravest first, or that one has no such item.
func (d difference) kind() string {
	switch {
	case d.was == nil:
		return "new"
	case d.is == nil:
		return "gone"
	}
	var names []string
	for _, name := range d.names() {
		if name != factMarks { // they differ whenever another does
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// names are the names of the facts that differ.
func (d difference) names() []string {
	var names []string
	for _, f := range slices.Concat(d.was.facts, d.is.facts) {
		if d.was.fact(f.name) != d.is.fact(f.name) && !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}

// A comparison is what came of a part that two baselines have.
type comparison struct {
	part        string
	all, same   int
	differences []difference
}

// comparePart compares what two baselines have of a part.
func comparePart(part string, a, b baseline) comparison {
	was, is := a.of(part), b.of(part)
	c := comparison{part: part}
	keys := slices.Collect(maps.Keys(was))
	for key := range is {
		if was[key] == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		c.all++
		d := difference{was[key], is[key]}
		if d.was != nil && d.is != nil && len(d.names()) == 0 {
			c.same++
			continue
		}
		c.differences = append(c.differences, d)
	}
	return c
}

func (b baseline) of(part string) map[string]*item {
	items := map[string]*item{}
	for i := range b.items {
		if b.items[i].part == part {
			items[b.items[i].key] = &b.items[i]
		}
	}
	return items
}

// compare tells in what two files differ, at most so many items of each part.
func compare(fileA, fileB string, most int, w io.Writer) error {
	a, err := read(fileA)
	if err != nil {
		return usage{err}
	}
	b, err := read(fileB)
	if err != nil {
		return usage{err}
	}
	var both []comparison
	var text strings.Builder
	for _, part := range a.names() {
		if _, ok := b.parts[part]; ok {
			both = append(both, comparePart(part, a, b))
		}
	}
	for _, only := range []struct {
		file        string
		its, others baseline
	}{{fileA, a, b}, {fileB, b, a}} {
		names := slices.DeleteFunc(only.its.names(), func(part string) bool { return only.others.parts[part] != "" })
		if len(names) > 0 {
			fmt.Fprintf(&text, "only in %s, and not compared: %s\n", only.file, strings.Join(names, ", "))
		}
	}
	if len(both) == 0 {
		return usage{fmt.Errorf("%s and %s have no part in common: nothing to compare", fileA, fileB)}
	}
	var differ bool
	for _, c := range both {
		fmt.Fprintln(&text, c)
		differ = differ || len(c.differences) > 0
	}
	if differ {
		t := teller{a: a, b: b}
		if t.recordsA, err = indexed(fileA); err != nil {
			return err
		}
		if t.recordsB, err = indexed(fileB); err != nil {
			return err
		}
		for _, c := range both {
			t.tell(&text, c, most)
		}
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return err
	}
	if differ {
		return errDiffer
	}
	return nil
}

// String is a comparison in one line: how many items are the same, and how many differ
// in what.
func (c comparison) String() string {
	line := fmt.Sprintf("%s: %d items, %d the same", c.part, c.all, c.same)
	count := map[string]int{}
	var kinds []string
	for _, d := range c.differences {
		kind := d.kind()
		if count[kind]++; count[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	slices.SortStableFunc(kinds, func(x, y string) int { return count[y] - count[x] })
	for _, kind := range kinds {
		switch {
		case kind == "new" || kind == "gone":
			line += fmt.Sprintf("; %d %s", count[kind], kind)
		case strings.Contains(kind, " "):
			line += fmt.Sprintf("; %d differ in %s", count[kind], strings.ReplaceAll(kind, " ", ", "))
		default:
			line += fmt.Sprintf("; %d differ only in %s", count[kind], kind)
		}
	}
	return line
}

// A teller tells differences in full.
type teller struct {
	a, b               baseline
	recordsA, recordsB map[string]json.RawMessage
}

// indexed are the records beside a file, by part and key; there may be none.
func indexed(file string) (map[string]json.RawMessage, error) {
	lines, err := readRecords(file)
	if err != nil {
		return nil, err
	}
	all := map[string]json.RawMessage{}
	for _, l := range lines {
		all[l.Part+"\t"+l.Key] = l.Record
	}
	return all, nil
}

// tell tells the differences of a part.
func (t teller) tell(w io.Writer, c comparison, most int) {
	for n, d := range c.differences {
		if n == most {
			fmt.Fprintf(w, "\n%s: %d more; --most shows more of them\n", c.part, len(c.differences)-n)
			return
		}
		t.tellOne(w, d)
	}
}

func (t teller) tellOne(w io.Writer, d difference) {
	i := d.item()
	fmt.Fprintf(w, "\n%s  %s\n", i.part, i.key)
	switch {
	case d.was == nil:
		fmt.Fprintf(w, "  new: %s\n", inOneLine(d.is.facts))
	case d.is == nil:
		fmt.Fprintf(w, "  gone: %s\n", inOneLine(d.was.facts))
	default:
		for _, name := range d.names() {
			if name != factMarks {
				fmt.Fprintf(w, "  %s: %s → %s\n", name, d.was.fact(name), d.is.fact(name))
			}
		}
	}
	key := i.key
	if s, ok := i.span(); ok {
		key = i.on("", s.first)
	}
	if d.was != nil && d.is != nil {
		records := []string{i.key}
		if seeds := differing(*d.was, *d.is); len(seeds) > 0 {
			key, records = i.on("", seeds[0]), []string{i.on(fencings[0], seeds[0]), i.on(fencings[1], seeds[0])}
			fmt.Fprintf(w, "  on %d seeds: %s\n", len(seeds), strings.Trim(fmt.Sprint(seeds), "[]"))
		}
		for _, record := range records {
			t.tellRecords(w, i.part, record)
		}
	}
	t.tellReplay(w, d, key)
}

// tellRecords tells in what the full records of an item differ, if both are there.
func (t teller) tellRecords(w io.Writer, part, key string) {
	id := part + "\t" + key
	was, is := t.recordsA[id], t.recordsB[id]
	if was == nil || is == nil {
		return
	}
	if lines := apart(was, is); len(lines) > 0 {
		fmt.Fprintf(w, "  the records of %s:\n    %s\n", key, strings.Join(lines, "\n    "))
	}
}

// tellReplay says how to come to an item again in each of the commits.
func (t teller) tellReplay(w io.Writer, d difference, key string) {
	lineA, lineB := again(d.was, key), again(d.is, key)
	commitA, commitB := t.a.parts[d.item().part], t.b.parts[d.item().part]
	if lineA == lineB {
		fmt.Fprintf(w, "  in %s and %s: %s\n", commitA, commitB, lineA)
		return
	}
	if lineA != "" {
		fmt.Fprintf(w, "  in %s: %s\n", commitA, lineA)
	}
	if lineB != "" {
		fmt.Fprintf(w, "  in %s: %s\n", commitB, lineB)
	}
}

// again is the line that comes to an item again; that of a group is about the run of a
// key.
func again(i *item, key string) string {
	if i == nil {
		return ""
	}
	command, _, _ := strings.Cut(key, " # ")
	if line := i.fact(factReplay); line != "" {
		return line
	}
	switch part, _, _ := strings.Cut(i.part, "/"); part {
	case "scenarios":
		return "go run ./cmd/locksim run " + command
	case "ways":
		return "go run ./cmd/locksim explore " + command
	case "bugs":
		return "go run ./trackrecord/run -check " + command
	}
	return fmt.Sprintf("go test -run '^%s$/^%s$'", testOf[i.part], strings.ReplaceAll(command, "/", "$/^"))
}

// testOf are the tests that parts are the findings of.
var testOf = map[string]string{"mutants/suite": mutantsTest, "mutants/explored": exploredTest, "libraries": librariesTest}

func inOneLine(facts []fact) string {
	var all []string
	for _, f := range facts {
		all = append(all, f.name+"="+f.value)
	}
	return strings.Join(all, " ")
}
