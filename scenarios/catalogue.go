package scenarios

import (
	_ "embed"
	"slices"
	"strings"
)

// orderFile lists the groups of the catalogue and the scenarios of each.
//
//go:embed ORDER
var order string

// A CatalogueGroup is one group of scenarios.
type Shelf struct {
	// Name is the group as the scenarios name it; it is empty for the scenarios that name
	// none. Title is its heading.
	Group, Title string
	Scenarios    []*Scenario
}

// Catalogue returns the embedded scenarios in the order in which people should read them.
func Catalogue() []Shelf { return Shelve(Embedded()) }

// GroupScenarios groups scenarios as the catalogue does. The groups are in the order of the
// catalogue. In each group the scenarios of the catalogue come first, in its order, and the
// others follow as they were given. Scenarios without a group come last.
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

// Groups returns the names of the groups in the order of the catalogue.
func Groups() []string { return group("").words() }

// An orderEntry is one group as ORDER lists it.
type entryOfOrder struct {
	group, title string
	names        []string
}

// place returns the position of a scenario in its group. Scenarios that are not listed come
// after all others.
func (e entryOfOrder) place(name string) int {
	if i := slices.Index(e.names, name); i >= 0 {
		return i
	}
	return len(e.names)
}

// parseOrder reads ORDER: a line with a colon begins a group, and any other line names a
// scenario of the group.
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
