package scenarios

import (
	_ "embed"
	"slices"
	"strings"
)

// orderFile is the file ORDER: the groups of the catalogue and the scenarios of each, in
// the order in which people should read them.
//
//go:embed ORDER
var orderFile string

// A CatalogueGroup is a group of scenarios about one subject.
type CatalogueGroup struct {
	// Name is the value of the field group in the scenarios; "" for scenarios without that
	// field. Title is the heading of the group.
	Name, Title string
	Scenarios   []*Scenario
}

// Catalogue returns the embedded scenarios in the order in which people should read them.
func Catalogue() []CatalogueGroup { return GroupScenarios(Embedded()) }

// GroupScenarios groups scenarios by their field group, in the order of the catalogue. In
// each group the scenarios of the catalogue come first, in its order; the others follow in
// the order in which they were given. Scenarios without a group come last.
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

// An orderEntry is one group as the file ORDER lists it.
type orderEntry struct {
	group, title string
	names        []string
}

// place returns the position of a scenario in its group. Scenarios that ORDER does not list
// come after all others.
func (e orderEntry) place(name string) int {
	if i := slices.Index(e.names, name); i >= 0 {
		return i
	}
	return len(e.names)
}

// parseOrder reads ORDER. A line with a colon begins a group; any other line names a
// scenario of that group.
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
