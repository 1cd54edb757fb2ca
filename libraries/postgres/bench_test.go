//go:build unix

package postgres_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/storage"
)

// BenchmarkGCPause measures the processor time of one world.
func BenchmarkGCPause(b *testing.B) {
	simtest.MeasureWorld(b, gcPause(b, "postgres-lease", storage.Writes))
}
