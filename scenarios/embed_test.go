package scenarios

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	s, err := Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "gc-pause" || s.File != "scenarios/gc-pause.yaml" {
		t.Errorf("name %q, file %q", s.Name, s.File)
	}
	for _, name := range []string{"gc-puase", "gcpause"} {
		_, err := Open(name)
		if want := `no scenario is called "` + name + `"; did you mean "gc-pause"?`; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := Open("../go"); err == nil {
		t.Error("a path outside the folder is opened")
	}
}

// Every scenario of the catalogue tells all that a reader wants to know.
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
		t.Errorf("the scenarios are %v", names)
	}
}

var versions = regexp.MustCompile(`\S+ v\d+\.\d+\.\d+`)

// What a library does is true of the versions that it was found in: those that
// run here, as long as go.mod has no others.
func TestLibrariesNameTheVersionsThatRun(t *testing.T) {
	modules, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Embedded() {
		if s.Group != "libraries" {
			continue
		}
		named := versions.FindAllString(s.Source, -1)
		// The lock of rueidis is in its client's module.
		if len(named) < 2 && !strings.Contains(s.Source, "github.com/redis/rueidis v") {
			t.Errorf("%s names %q: its source says in which version of the lock and of its client it was found", s.File, named)
		}
		for _, module := range named {
			if !strings.Contains(string(modules), module) {
				t.Errorf("%s was found in %s, which go.mod does not have any more: see what the one it has does, and say so", s.File, module)
			}
		}
	}
}
