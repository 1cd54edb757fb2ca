package checks

import (
	"strings"
	"testing"
)

// A command that compares nothing changes a key whatever its value is.
func TestComparesNothing(t *testing.T) {
	for command, want := range map[string]bool{
		"DEL resource": true, "del resource": true, "UNLINK resource": true, "PEXPIRE resource 1000": true, "SET resource x PX 1000": true,
		"SET resource x px 1000 nx": false, "SET resource x IFEQ y": false, "PEXPIRE resource 1000 NX": false, "DELEX resource IFEQ x": false,
		"EVALSHA 1234 1 resource x": false, "GET resource": false, "": false,
	} {
		if got := comparesNothing(strings.Fields(command)); got != want {
			t.Errorf("comparesNothing(%q) is %v, want %v", command, got, want)
		}
	}
}
