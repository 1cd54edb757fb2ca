//go:build unix

package goose_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/storage"
)

// BenchmarkGCPause measures the processor time of one world.
func BenchmarkGCPause(b *testing.B) {
	simtest.MeasureWorld(b, gcPause(b, "goose-table", storage.Writes))
}
