// Package learn has the locks of those chapters in docs/learn that are about other systems than
// Redis, wrong ones and right ones. The test of each lock runs it through some test cases of the
// suite; the test of a wrong lock fails.
package learn

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/locktest"
)

// runCases runs a lock through the test cases of the suite with these names.
func runCases(t *testing.T, config locktest.Config, build locktest.New, names ...string) {
	t.Helper()
	config.Stories = func(name string) bool { return slices.Contains(names, name) }
	locktest.Run(t, config, build)
}
