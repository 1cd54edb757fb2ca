package playground

import (
	"slices"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// A Group is a group of related scenarios of the catalogue.
type Group struct {
	Title     string  `json:"title"`
	Scenarios []Entry `json:"scenarios"`
}

// An Entry is a scenario of the catalogue.
type Entry struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Command is the command that runs the scenario if its lock is not part of this program; "" if
	// this program can run the scenario.
	Command string `json:"command,omitempty"`
	// System is the kind of server that the first variant's lock uses; "" means Redis.
	System string `json:"system,omitempty"`
}

// Catalogue lists the built-in scenarios. It reads all of them, which takes most of a second in a
// browser. Therefore the program that builds the page calls it, and puts the list into the page.
func Catalogue() []Group {
	var all []Group
	for _, group := range scenarios.Catalogue() {
		g := Group{Title: story.Visible(group.Title)}
		for _, s := range group.Scenarios {
			e := Entry{Name: s.Name, Title: story.Visible(s.Title)}
			if slices.ContainsFunc(s.Variants, func(v *scenarios.Variant) bool { return !isProvided(v.Lock) }) {
				e.Command = "locksim run " + s.Name
			}
			if kind, _ := locks.Lookup(s.Variants[0].Lock); kind.System != locks.Redis {
				e.System = kind.System
			}
			g.Scenarios = append(g.Scenarios, e)
		}
		all = append(all, g)
	}
	return all
}

// isProvided reports whether this program can make a kind of lock.
func isProvided(kind string) bool {
	k, known := locks.Lookup(kind)
	return known && k.CheckProvided() == nil
}
