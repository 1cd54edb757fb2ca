package sim

import (
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
const mostGarbage = 128 << 20

// bubbles is how many worlds run in the process. Nobody can tell whose memory it is that
// the process takes, so each world adds as much as one may take.
var bubbles atomic.Int64

// A scale weighs the process while a bubble runs.
type scale struct {
	samples []metrics.Sample
	// before is what the process took when the bubble began.
	before uint64
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
	s.before = s.taken()
	return s
}

func (s *scale) close() { bubbles.Add(-1) }

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
