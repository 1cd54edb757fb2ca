package command

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The command as a process, for tests that stop or kill it, has no lock of a library. What it
// prints is tried with the program that people have: see cmd/locksim.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"locksim": Main})
}
