package catalogue

import "testing"

// FaultsAreOver fails for each variant whose run ends before a fault does that has an end:
// what becomes of the lock and its clients afterwards is part of the story.
func FaultsAreOver(t *testing.T) {
	results, err := Results()
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results {
		for _, o := range result.Runs {
			if o.History.Unfinished() != nil {
				t.Errorf("%s, variant %q, fencing %s: the run is over before a fault is; let a client come after it", result.Scenario.Name, o.Variant.Name, o.Fencing)
			}
		}
	}
}
