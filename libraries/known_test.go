package libraries_test

import (
	"os/exec"
	"testing"
)

// The tests in testdata/redis pass: they know every mistake of the libraries. locksim mutate
// runs them, and docs/testing-your-lock.md has the scores.
func TestMistakesAreKnown(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs every test case against three libraries")
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "./testdata/redis").CombinedOutput()
	if err != nil {
		t.Errorf("go test ./testdata/redis: %v\n%s", err, out)
	}
}
