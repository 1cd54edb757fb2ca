//go:build unix

package consul_test

import (
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/storage"
)

// BenchmarkGCPause reports the processor time of one world.
func BenchmarkGCPause(b *testing.B) { simtest.MeasureWorld(b, gcPause(b, "consul", storage.Writes)) }
