//go:build unix

package goose_test

import (
	"testing"

	"github.com/locksim/locksim/internal/processor"
	"github.com/locksim/locksim/storage"
)

// BenchmarkGCPause reports the processor time of one world.
func BenchmarkGCPause(b *testing.B) { processor.World(b, gcPause(b, "goose-table", storage.Writes)) }
