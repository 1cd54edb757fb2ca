package command

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// The function columns draws tables as package reports does by default, but also aligns
// characters that are two columns wide.
func TestColumns(t *testing.T) {
	format, _ := reports.Matrices.Lookup("text")
	for _, c := range []struct {
		name string // of the scenario in the table
		same bool   // whether both ways to align columns give the same table
	}{{"gc-pause", true}, {"ロック", false}} {
		s := &scenarios.Scenario{Name: c.name, Variants: []*scenarios.Variant{{}}}
		m := &reports.Matrix{Rows: []reports.Row{{Scenario: s, Variant: s.Variants[0], Cells: []reports.Cell{{NotApplicable: "it was not run"}}}}}
		m.Locks = []string{"single"}
		var with, without strings.Builder
		for b, o := range map[*strings.Builder]reports.Options{&with: {Columns: columns}, &without: {}} {
			if err := format.Write(b, m, o); err != nil {
				t.Fatal(err)
			}
		}
		if got := with.String() == without.String(); got != c.same {
			t.Errorf("%s: the two tables are equal: %v, want %v\nwith the function columns:\n%s\nwithout it:\n%s", c.name, got, c.same, &with, &without)
		}
	}
	if got, want := columns([]string{"名前", "b"}, [][]string{{"x", "y"}}), "  名前  b\n ─────────\n  x     y\n"; got != want {
		t.Errorf("a table with wide characters is\n%s\nwant\n%s", got, want)
	}
}
