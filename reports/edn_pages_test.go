package reports

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
)

// The files in one folder have different names, even if two scenarios have the same name.
func TestHistoryPages(t *testing.T) {
	one, two := resultOf(simtest.PausedHolderTrace("none")), resultOf(simtest.PausedHolderTrace("none"))
	one.Scenario.Name, two.Scenario.Name = "../a b", "../a:b"
	one.Runs[0].Variant.Name, two.Runs[0].Variant.Name = "late", "late"
	edn, _ := Runs.Lookup("edn")
	var names []string
	for _, page := range edn.Pages([]*scenarios.Result{one, two}, Options{}) {
		names = append(names, page.Name)
	}
	want := []string{
		"a-b-late-fencing-off-register.edn", "a-b-late-fencing-off-sections.edn",
		"a-b-late-fencing-off-register-2.edn", "a-b-late-fencing-off-sections-2.edn",
	}
	if !slices.Equal(names, want) {
		t.Errorf("the files are %q, want %q", names, want)
	}
}
