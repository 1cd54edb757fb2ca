package command

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The command as a process, for tests that stop or kill it, has no lock of a library. The
// tests in cmd/locksim check the output of the program that people use.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"locksim": Main})
}
