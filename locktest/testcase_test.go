package locktest

import (
	"strings"
	"testing"
)

// The address of a world in a replay line is parsed as that world.
func TestParseAddress(t *testing.T) {
	for _, text := range []string{
		"catalogue/gc-pause/fencing-off",
		"catalogue/clean-shutdown/back-after-the-end/fencing-on",
		"catalogue/gc-pause/fencing-on seed 12",
	} {
		p, err := parseAddress(text)
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != text {
			t.Errorf("%q is read as %q", text, p)
		}
	}
	p, err := parseAddress("catalogue/clean-shutdown/back-after-the-end/fencing-on seed 3")
	if want := (address{"catalogue/clean-shutdown/back-after-the-end", "fencing-on", 3}); err != nil || p != want {
		t.Errorf("got %+v, %v; want %+v", p, err, want)
	}
	for text, want := range map[string]string{
		"catalogue/gc-paws":              `no test case is called "catalogue/gc-paws"`,
		"":                               `no test case is called ""`,
		"catalogue/gc-pause seed twelve": `the seed must be a number from 1, not "twelve"`,
	} {
		if _, err := parseAddress(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got the error %v, want %q", text, err, want)
		}
	}
}

// Every test case has a unique name, by which -run and a replay line can select it.
func TestNamesOfTestCasesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, st := range testCases() {
		if seen[st.name] || st.name == "" || strings.ContainsAny(st.name, " '\"") {
			t.Errorf("the name %q is empty, or is not unique, or needs quotes", st.name)
		}
		if st.title == "" {
			t.Errorf("%s has no title", st.name)
		}
		seen[st.name] = true
	}
}
