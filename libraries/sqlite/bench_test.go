//go:build unix

package sqlite_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/storage"
)

// BenchmarkGCPause reports the processor time of one world.
func BenchmarkGCPause(b *testing.B) {
	simtest.MeasureWorld(b, gcPause(b, "sqlite-lease", storage.Writes))
}
