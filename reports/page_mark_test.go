package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
)

// Each page of a folder has the mark of locksim's own files, and its name is known before
// the runs.
func TestPagesAreMarkedAndNamedInAdvance(t *testing.T) {
	results := []*scenarios.Result{resultOf(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("none")), resultOf(simtest.PausedHolderTrace("none"))}
	for _, f := range Runs.Formats() {
		if (f.Pages == nil) != (f.Names == nil) {
			t.Fatalf("%s has pages without names, or names without pages", f.Name)
		}
		if f.Pages == nil {
			continue
		}
		names := f.Names(results, Options{})
		for _, p := range f.Pages(results, Options{}) {
			if !IsPage(p.Data) {
				t.Errorf("%s: the page %s has no mark", f.Name, p.Name)
			}
			if !slices.Contains(names, p.Name) {
				t.Errorf("%s: the page %s is not one of the names %q that Names returns", f.Name, p.Name, names)
			}
		}
	}
	if IsPage([]byte("<p>mine</p>")) || IsPage([]byte(strings.Repeat(" ", markReach)+pageMark)) {
		t.Error("a file without a mark at its beginning is taken for a page")
	}
}
