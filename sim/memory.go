package sim

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// maxMemoryGrowth is by how many bytes the memory of this process may grow while a world runs. The
// documentation promises that a process with one world takes at most twice the 512 MB of
// [usualBounds]. This limit is lower, because the process can exceed it between two checks.
const maxMemoryGrowth = 640 << 20

// memoryCheckInterval is the real time between two checks of the memory.
const memoryCheckInterval = 10 * time.Millisecond

// maxInitialGarbage is how many bytes of garbage the process may contain before the world
// begins. If these bytes are collected later, the world can use that much more memory
// unnoticed.
const maxInitialGarbage = 256 << 20

// runningWorlds is how many worlds run in the process now. Go does not report how much memory each
// of them uses. So only the sum of their memory is limited: to runningWorlds times maxMemoryGrowth.
var runningWorlds atomic.Int64

// leftBehindBytes is the size of the stacks of goroutines that ended worlds of this process
// have left behind.
var leftBehindBytes atomic.Int64

// LeftBehind returns the size in bytes of the stacks of goroutines that ended worlds of
// this process have left behind. It ignores a world that left less than [maxStackGrowth].
// Above [maxLeftBehind], Run refuses to run another world in this process.
func LeftBehind() int64 { return leftBehindBytes.Load() }

// maxLeftBehind is how many bytes worlds may leave behind before the process runs no more
// worlds. Go cannot end a goroutine from outside, so that memory is never freed.
const maxLeftBehind = 128 << 20

// checkLeftBehind returns an error if a world cannot run because earlier worlds have left
// too much behind.
func checkLeftBehind() error {
	if left := LeftBehind(); left > maxLeftBehind {
		return fmt.Errorf("%w: it was not run, because earlier worlds left goroutines behind whose stacks take %d MB of this process; make the lock end its goroutines",
			ErrHeavy, left>>20)
	}
	return nil
}

// maxStackGrowth is how many bytes of stacks a world may leave behind without being
// counted: some growth is normal.
const maxStackGrowth = 32 << 20

// A memoryMeter measures the memory of the process while a world runs.
type memoryMeter struct {
	samples []metrics.Sample
	// startBytes is what the process used when the world began. startStacks is the part of
	// startBytes that the stacks used.
	startBytes, startStacks uint64
}

// These are the indexes of the metrics in samples. liveMetric is the memory that the
// garbage collector found in use at its last run. objectsMetric is the memory of all
// objects, including garbage and those that were made since.
const (
	objectsMetric = iota
	stacksMetric
	liveMetric
)

// newMemoryMeter starts to measure the memory for a world that begins now.
func newMemoryMeter() *memoryMeter {
	s := &memoryMeter{samples: []metrics.Sample{
		objectsMetric: {Name: "/memory/classes/heap/objects:bytes"},
		stacksMetric:  {Name: "/memory/classes/heap/stacks:bytes"},
		liveMetric:    {Name: "/gc/heap/live:bytes"},
	}}
	runningWorlds.Add(1)
	s.read()
	if s.value(objectsMetric) > s.value(liveMetric)+maxInitialGarbage {
		runtime.GC()
		s.read()
	}
	s.startStacks = s.value(stacksMetric)
	s.startBytes = s.usedBytes()
	return s
}

// close records what the world has left behind. If several worlds run at the same time, the
// last one that ends records it for all.
func (s *memoryMeter) close() {
	if runningWorlds.Add(-1) > 0 {
		return
	}
	s.read()
	if s.value(stacksMetric) <= s.startStacks+maxStackGrowth {
		return
	}
	runtime.GC() // the collector frees the stacks of goroutines that have ended
	s.read()
	if grown := int64(s.value(stacksMetric)) - int64(s.startStacks); grown > maxStackGrowth {
		leftBehindBytes.Add(grown)
	}
}

// read reads the current values of the metrics.
func (s *memoryMeter) read() { metrics.Read(s.samples) }

// usedBytes returns how much memory the process uses for objects, including garbage, and
// for stacks.
func (s *memoryMeter) usedBytes() uint64 { return s.value(objectsMetric) + s.value(stacksMetric) }

// value returns a metric as it was last read, in bytes.
func (s *memoryMeter) value(i int) uint64 { return s.samples[i].Value.Uint64() }

// isTooHeavy reports whether the process uses too much memory. It collects the garbage
// before it reports true.
func (s *memoryMeter) isTooHeavy() bool {
	limit := s.startBytes + uint64(runningWorlds.Load())*maxMemoryGrowth
	s.read()
	if s.usedBytes() <= limit {
		return false
	}
	runtime.GC()
	s.read()
	return s.usedBytes() > limit
}
