package scenarios

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// ORDER lists every embedded scenario exactly once, in the group that its file names. It
// lists nothing else.
func TestOrderIsTheCatalogue(t *testing.T) {
	listed := map[string]string{}
	for _, shelf := range parseOrder() {
		for _, name := range shelf.names {
			if before, twice := listed[name]; twice {
				t.Errorf("%s is listed in %s and in %s", name, before, shelf.group)
			}
			listed[name] = shelf.group
		}
	}
	for _, s := range Embedded() {
		if group, ok := listed[s.Name]; !ok || group != s.Group {
			t.Errorf("ORDER does not list %s in its group, %s", s.File, s.Group)
		}
		delete(listed, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		t.Errorf("ORDER lists %s, but there is no scenarios/%s.yaml", name, name)
	}
}

func TestOrderNamesEveryGroup(t *testing.T) {
	var groups []string
	for _, shelf := range parseOrder() {
		groups = append(groups, shelf.group)
		if shelf.title == "" {
			t.Errorf("the group %s has no title", shelf.group)
		}
	}
	if !slices.Equal(groups, Groups()) {
		t.Errorf("ORDER has the groups %v, want those in which a scenario can be: %v", groups, Groups())
	}
}

// Scenarios of the catalogue come first, in its order. The others follow in the order in
// which they were given. Scenarios without a group come last.
func TestGroupScenarios(t *testing.T) {
	var all []*Scenario // each of the texts is a group and a name, GROUP/NAME
	for s := range strings.FieldsSeq("examples/mine debate/clock-jump /zebra debate/mine debate/gc-pause /aardvark debate/also fencing/token-gap") {
		group, name, _ := strings.Cut(s, "/")
		all = append(all, &Scenario{Group: group, Name: name})
	}
	var got []string
	for _, shelf := range GroupScenarios(all) {
		for _, s := range shelf.Scenarios {
			got = append(got, shelf.Name+"/"+s.Name)
		}
		if shelf.Title == "" {
			t.Errorf("the shelf %q has no title", shelf.Name)
		}
	}
	if want := strings.Fields("debate/gc-pause debate/clock-jump debate/mine debate/also fencing/token-gap examples/mine /zebra /aardvark"); !slices.Equal(got, want) {
		t.Errorf("the scenarios are in the order %v, want %v", got, want)
	}
	if GroupScenarios(nil) != nil {
		t.Error("no scenarios make a group")
	}
}

// Every embedded scenario is in the catalogue, even one that ORDER does not list.
func TestCatalogueIsComplete(t *testing.T) {
	var names []string
	for _, shelf := range Catalogue() {
		for _, s := range shelf.Scenarios {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, Names()) {
		t.Errorf("the catalogue has the scenarios %v, want all that are embedded: %v", names, Names())
	}
}
