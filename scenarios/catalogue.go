package scenarios

import (
	_ "embed"
	"slices"
	"strings"
)

// orderFile lists the groups of the catalogue and the scenarios of each.
//
//go:embed ORDER
var orderFile string

// A CatalogueGroup is one group of scenarios.
type CatalogueGroup struct {
	// Name is the group as the scenarios name it; it is empty for the scenarios that name
	// none. Title is its heading.
	Name, Title string
	Scenarios   []*Scenario
}

// Catalogue returns the embedded scenarios in the order in which people should read them.
func Catalogue() []CatalogueGroup { return GroupScenarios(Embedded()) }

// GroupScenarios groups scenarios as the catalogue does. The groups are in the order of the
// catalogue. In each group the scenarios of the catalogue come first, in its order, and the
// others follow as they were given. Scenarios without a group come last.
func GroupScenarios(all []*Scenario) []CatalogueGroup {
	var groups []CatalogueGroup
	known := parseOrder()
	for _, entry := range append(known, orderEntry{title: "Without a group"}) {
		var members []*Scenario
		for _, s := range all {
			if s.Group == entry.group {
				members = append(members, s)
			}
		}
		slices.SortStableFunc(members, func(a, b *Scenario) int { return entry.place(a.Name) - entry.place(b.Name) })
		if len(members) > 0 {
			groups = append(groups, CatalogueGroup{entry.group, entry.title, members})
		}
	}
	return groups
}

// Groups returns the names of the groups in the order of the catalogue.
func Groups() []string { return group("").words() }

// An orderEntry is one group as ORDER lists it.
type orderEntry struct {
	group, title string
	names        []string
}

// place returns the position of a scenario in its group. Scenarios that are not listed come
// after all others.
func (e orderEntry) place(name string) int {
	if i := slices.Index(e.names, name); i >= 0 {
		return i
	}
	return len(e.names)
}

// parseOrder reads ORDER: a line with a colon begins a group, and any other line names a
// scenario of the group.
func parseOrder() []orderEntry {
	var all []orderEntry
	for line := range strings.Lines(orderFile) {
		line = strings.TrimSpace(line)
		group, title, isGroup := strings.Cut(line, ": ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case isGroup:
			all = append(all, orderEntry{group: group, title: title})
		default:
			last := &all[len(all)-1]
			last.names = append(last.names, line)
		}
	}
	return all
}
