package scenarios

import (
	_ "embed"
	"slices"
	"strings"
)

// order lists the groups of the catalogue and the scenarios of each.
//
//go:embed ORDER
var order string

// A Shelf is one group of scenarios.
type Shelf struct {
	// Group is the group as the scenarios name it, and empty for those that name
	// none. Title is what to call it.
	Group, Title string
	Scenarios    []*Scenario
}

// Catalogue returns the embedded scenarios in the order in which they are meant
// to be read.
func Catalogue() []Shelf { return Shelve(Embedded()) }

// Shelve groups scenarios as the catalogue does: groups in their order, and in
// each the scenarios that the catalogue knows in theirs, then the others as they
// come. Those without a group come last.
func Shelve(all []*Scenario) []Shelf {
	var shelves []Shelf
	known := catalogue()
	for _, shelf := range append(known, entryOfOrder{title: "Without a group"}) {
		var here []*Scenario
		for _, s := range all {
			if s.Group == shelf.group {
				here = append(here, s)
			}
		}
		slices.SortStableFunc(here, func(a, b *Scenario) int { return shelf.place(a.Name) - shelf.place(b.Name) })
		if len(here) > 0 {
			shelves = append(shelves, Shelf{shelf.group, shelf.title, here})
		}
	}
	return shelves
}

// Groups lists the groups in the order of the catalogue.
func Groups() []string { return group("").words() }

// An entryOfOrder is one group as ORDER lists it.
type entryOfOrder struct {
	group, title string
	names        []string
}

// place is where in its group a scenario stands; those that are not listed
// stand at the end.
func (e entryOfOrder) place(name string) int {
	if i := slices.Index(e.names, name); i >= 0 {
		return i
	}
	return len(e.names)
}

// catalogue reads ORDER: a line with a colon begins a group, any other names a
// scenario of it.
func catalogue() []entryOfOrder {
	var all []entryOfOrder
	for line := range strings.Lines(order) {
		line = strings.TrimSpace(line)
		group, title, begins := strings.Cut(line, ": ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case begins:
			all = append(all, entryOfOrder{group: group, title: title})
		default:
			last := &all[len(all)-1]
			last.names = append(last.names, line)
		}
	}
	return all
}
