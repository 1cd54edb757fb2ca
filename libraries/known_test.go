package libraries_test

import (
	"os/exec"
	"testing"
)

// The tests in these folders know every mistake of the locks, and pass. locksim mutate runs
// those in testdata/redis: docs/testing-your-lock.md has the scores. The pages in docs/libraries
// are about the others.
func TestMistakesAreKnown(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs every test case against several locks")
	}
	for folder, run := range map[string]string{
		"redis": ".", "options": ".", "shedlock": ".", "pool": "^TestOneConnection$",
	} {
		t.Run(folder, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-run", run, "./testdata/"+folder).CombinedOutput()
			if err != nil {
				t.Errorf("go test ./testdata/%s: %v\n%s", folder, err, out)
			}
		})
	}
}
