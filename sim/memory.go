package sim

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// mostMemory is how many bytes more than before the process may take while a world runs. It
// leaves room below twice what a world is said to take for what is taken between two looks.
const mostMemory = 640 << 20

// lookEvery is how much real time passes between two looks at the memory.
const lookEvery = 10 * time.Millisecond

// mostGarbage is how many bytes that may be garbage count as what the process took before: a
// world would have room for as many more.
const mostGarbage = 256 << 20

// bubbles is how many worlds run in the process. Nobody can tell whose memory it is that
// the process takes, so each world adds as much as one may take.
var bubbles atomic.Int64

// leftBehind is how many bytes of stacks the worlds of this process have left behind with their
// goroutines.
var leftBehind atomic.Int64

// LeftBehind is how many bytes the stacks of goroutines take that worlds of this process have left
// behind, if they are many. Above [mostLeft] no other world runs in the process.
func LeftBehind() int64 { return leftBehind.Load() }

// mostLeft is how many bytes worlds may leave behind in a process that runs others. No goroutine
// can be ended from outside.
const mostLeft = 128 << 20

// crowded is the error of a world that is not run because of what others have left behind; nil if
// there is room.
func crowded() error {
	if left := LeftBehind(); left > mostLeft {
		return fmt.Errorf("%w: it was not run, because worlds before it have left goroutines behind whose stacks take %d MB of this process; let the lock end its goroutines",
			ErrHeavy, left>>20)
	}
	return nil
}

// mostStacks is by how many bytes the stacks of the process may grow in a world before its
// goroutines are looked at.
const mostStacks = 32 << 20

// A scale weighs the process while a bubble runs.
type scale struct {
	samples []metrics.Sample
	// before is what the process took when the bubble began, and stacked how much of it were
	// stacks.
	before, stacked uint64
}

// What is read: live is what the collector has found to be in use when it last ran, and objects
// are those, with what is garbage by now and what was made since.
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
	if s.value(objects) > s.value(live)+mostGarbage {
		runtime.GC()
		s.read()
	}
	s.stacked = s.value(stacks)
	s.before = s.taken()
	return s
}

// close notes what the bubble has left behind. Of worlds that run at once the last one to end
// does so for all.
func (s *scale) close() {
	if bubbles.Add(-1) > 0 {
		return
	}
	s.read()
	if s.value(stacks) <= s.stacked+mostStacks {
		return
	}
	runtime.GC() // which frees the stacks of goroutines that have ended
	s.read()
	if grown := int64(s.value(stacks)) - int64(s.stacked); grown > mostStacks {
		leftBehind.Add(grown)
	}
}

func (s *scale) read() { metrics.Read(s.samples) }

// taken is what the process takes: objects, with the garbage among them, and stacks.
func (s *scale) taken() uint64 { return s.value(objects) + s.value(stacks) }

func (s *scale) value(i int) uint64 { return s.samples[i].Value.Uint64() }

// tooHeavy reports whether the process has come to take too much. A heap that is large
// because nobody has collected its garbage is collected first.
func (s *scale) tooHeavy() bool {
	most := s.before + uint64(bubbles.Load())*mostMemory
	s.read()
	if s.taken() <= most {
		return false
	}
	runtime.GC()
	s.read()
	return s.taken() > most
}
