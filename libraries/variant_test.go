package libraries_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/scenarios"
)

// A scenario whose lock is our own can also be run with a lock of a library.
func TestScenariosOfOurLocksRunWithLibraries(t *testing.T) {
	for name, want := range map[string]string{"clock-jump": checks.Unsafe, "pause-in-flight/elapsed-check": checks.Safe} {
		name, variant, _ := strings.Cut(name, "/")
		s, err := scenarios.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = s.SelectVariant(variant); err != nil {
			t.Fatal(err)
		}
		runs, notApplicable, err := s.Variants[0].RunBoth(scenarios.RunOptions{Seed: 1, Lock: "redsync"})
		if err != nil || notApplicable != "" {
			t.Errorf("%s: %v %s", name, err, notApplicable)
			continue
		}
		if len(runs) != 2 || runs[0].Fencing != scenarios.Off || runs[1].Fencing != scenarios.On || runs[0].Verdict.Verdict != want {
			t.Errorf("%s: %d runs, the first is %s; want one without fencing, which is %s, and one with fencing", name, len(runs), runs[0].Verdict.Verdict, want)
		}
	}
}

var versions = regexp.MustCompile(`\S+ v\d+\.\d+\.\d+`)

// A scenario about a library names the versions in which its claims were found to be true.
// These must be the versions that are built here, which are those in go.mod.
func TestLibrariesNameTheVersionsThatRun(t *testing.T) {
	modules, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios.Embedded() {
		if s.Group != "libraries" {
			continue
		}
		named := versions.FindAllString(s.Source, -1)
		// The lock of rueidis is in the same module as its client, so this scenario names
		// only one version.
		if len(named) < 2 && !strings.Contains(s.Source, "rueidis v") {
			t.Errorf("%s names %q; its source must name the version of the lock and of its client in which it was found", s.File, named)
		}
		for _, module := range named {
			name, version, _ := strings.Cut(module, " ")
			required := regexp.MustCompile(`(?m)/` + regexp.QuoteMeta(name) + `(/v\d+)? ` + regexp.QuoteMeta(version) + `( |$)`)
			if !required.Match(modules) {
				t.Errorf("%s was found in %s, which go.mod does not have any more: check what the version in go.mod does, and update the scenario", s.File, module)
			}
		}
	}
}
