package sim

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// maxMemory is how many more bytes than before the process may use while a world runs. It
// stays below twice the memory that a world is documented to take, which leaves room for
// what is taken between two checks.
const maxMemory = 640 << 20

// lookEvery is the real time between two checks of the memory.
const lookEvery = 10 * time.Millisecond

// maxGarbage is how many bytes of possible garbage may be counted as used before the world
// begins. The world could use as many bytes more than it is allowed.
const maxGarbage = 256 << 20

// bubbles is how many worlds run in the process. The process's memory cannot be attributed
// to one of them, so each world raises the limit by what one world may use.
var bubbles atomic.Int64

// leftBehind is how many bytes of stacks the worlds of this process have left behind with
// their goroutines.
var leftBehind atomic.Int64

// LeftBehind returns how many bytes the stacks of goroutines take that worlds of this
// process have left behind, if there are many. Above [maxLeftBehind] no other world runs in
// the process.
func LeftBehind() int64 { return leftBehind.Load() }

// maxLeftBehind is how many bytes worlds may leave behind in a process that runs others. No
// goroutine can be ended from outside.
const maxLeftBehind = 128 << 20

// checkLeftBehind returns an error if a world cannot run because of what others have left
// behind.
func checkLeftBehind() error {
	if left := LeftBehind(); left > maxLeftBehind {
		return fmt.Errorf("%w: it was not run, because earlier worlds left goroutines behind whose stacks take %d MB of this process; make the lock end its goroutines",
			ErrHeavy, left>>20)
	}
	return nil
}

// maxStackGrowth is by how many bytes the stacks of the process may grow in a world before
// they may count as left behind.
const maxStackGrowth = 32 << 20

// A scale measures the memory of the process while a bubble runs.
type scale struct {
	samples []metrics.Sample
	// startBytes is what the process used when the bubble began. startStacks is how much of
	// that were stacks.
	startBytes, startStacks uint64
}

// The metrics that are read. live is what the collector found to be in use when it last
// ran. objects is that, plus what has become garbage or was made since.
const (
	objects = iota
	stacks
	live
)

func newScale() *scale {
	s := &scale{samples: []metrics.Sample{
		objects: {Name: "/memory/classes/heap/objects:bytes"},
		stacks:  {Name: "/memory/classes/heap/stacks:bytes"},
		live:    {Name: "/gc/heap/live:bytes"},
	}}
	bubbles.Add(1)
	s.read()
	if s.value(objects) > s.value(live)+maxGarbage {
		runtime.GC()
		s.read()
	}
	s.startStacks = s.value(stacks)
	s.startBytes = s.used()
	return s
}

// close records what the bubble has left behind. If several worlds run at the same time,
// the last one to end does so for all.
func (s *scale) close() {
	if bubbles.Add(-1) > 0 {
		return
	}
	s.read()
	if s.value(stacks) <= s.startStacks+maxStackGrowth {
		return
	}
	runtime.GC() // this frees the stacks of goroutines that have ended
	s.read()
	if grown := int64(s.value(stacks)) - int64(s.startStacks); grown > maxStackGrowth {
		leftBehind.Add(grown)
	}
}

func (s *scale) read() { metrics.Read(s.samples) }

// used returns what the process uses, in bytes: objects, including garbage, and stacks.
func (s *scale) used() uint64 { return s.value(objects) + s.value(stacks) }

func (s *scale) value(i int) uint64 { return s.samples[i].Value.Uint64() }

// isTooHeavy reports whether the process uses too much memory. If it seems to, the garbage
// is collected first.
func (s *scale) isTooHeavy() bool {
	most := s.startBytes + uint64(bubbles.Load())*maxMemory
	s.read()
	if s.used() <= most {
		return false
	}
	runtime.GC()
	s.read()
	return s.used() > most
}
