package command

import (
	"strings"
	"testing"
)

// After the last stage, the output says what was reached and what to do next, on lines of its own.
func TestDescribeReached(t *testing.T) {
	got := describeReached(7, 80)
	for _, want := range []string{"The lock has reached the last stage. ", "\nnext     run the suite", "docs/testing-your-lock.md\n", "locksim learn check policy.yaml\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, `\n`) || !strings.Contains(describeReached(3, 80), "stage 3 of 7. Stage 4 is elapsed check.") {
		t.Errorf("the last stage is described as\n%s\nand stage 3 as\n%s", got, describeReached(3, 80))
	}
}
