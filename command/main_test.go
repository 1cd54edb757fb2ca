package command

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// This test binary serves as the command locksim, for tests that stop or kill it. It
// contains no lock of a library. The output of the program that people use is checked by
// the tests in cmd/locksim.
func TestMain(m *testing.M) {
	testscript.Main(m, testPrograms)
}

// testPrograms are the programs that this test binary serves as.
var testPrograms = map[string]func(){"locksim": Main}
