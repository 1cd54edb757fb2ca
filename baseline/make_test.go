package main

import (
	"slices"
	"testing"
)

// What takes as long as all the rest is made only if it is named.
func TestSlowPartsAreNamed(t *testing.T) {
	all := parts(span{1, 2})
	names := func(only string) []string {
		t.Helper()
		some, err := chosen(all, only)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range some {
			names = append(names, p.name)
		}
		return names
	}
	const slow = "ways/redsync-retrying"
	for _, only := range []string{"", "ways"} {
		if got := names(only); slices.Contains(got, slow) || !slices.Contains(got, "ways/redsync") {
			t.Errorf("of %q it makes %q", only, got)
		}
	}
	if got := names(slow); !slices.Equal(got, []string{slow}) {
		t.Errorf("of its name it makes %q", got)
	}
}
