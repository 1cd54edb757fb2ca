package scenarios

import (
	"slices"
	"strings"
	"testing"
)

// Open finds a scenario by its name. The error for another name suggests a similar one.
func TestOpen(t *testing.T) {
	s, err := Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "gc-pause" || s.File != "scenarios/gc-pause.yaml" {
		t.Errorf("the scenario has the name %q and the file %q", s.Name, s.File)
	}
	for _, name := range []string{"gc-puase", "gcpause"} {
		_, err := Open(name)
		if want := `no scenario is called "` + name + `"; did you mean "gc-pause"?`; err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	if _, err := Open("../go"); err == nil {
		t.Error("Open accepts a path outside of the folder of scenarios")
	}
}

// Every scenario of the catalogue has all texts, witnesses and expectations.
func TestEmbeddedScenariosAreComplete(t *testing.T) {
	for _, name := range Names() {
		s, err := Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Group == "" || s.Source == "" || s.Assumption == "" || s.Story == "" || s.Lesson == "" {
			t.Errorf("%s has no group, source, assumption, story or lesson", s.File)
		}
		for _, v := range s.Variants {
			if len(v.Witnesses) == 0 {
				t.Errorf("%s %s has no witness", s.File, v.Name)
			}
			for _, fencing := range []string{Off, On} {
				if _, ok := v.Expectation("", fencing); !ok {
					t.Errorf("%s %s does not say what it expects with fencing %s", s.File, v.Name, fencing)
				}
			}
		}
	}
}

func TestEmbeddedIsInOrder(t *testing.T) {
	var names []string
	for _, s := range Embedded() {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, Names()) || !slices.IsSortedFunc(names, strings.Compare) {
		t.Errorf("the scenarios are %v, want all names, sorted", names)
	}
}
