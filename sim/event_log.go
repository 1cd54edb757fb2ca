package sim

import (
	"sync"

	"github.com/locksim/locksim/trace"
)

// An eventLog holds the events of a world in pieces. A piece never moves, so a pointer to an
// event stays valid, and no event is copied when the log grows.
type eventLog struct {
	pieces [][]trace.Event
	firsts []int // how many events are before each piece
	count  int
}

// largestPiece is the number of events in the largest pieces.
const largestPiece = 1 << 14

// newEventLog makes a log whose first piece has room for some events.
func newEventLog(room int) eventLog {
	return eventLog{pieces: [][]trace.Event{spareEvents.take(room)}, firsts: []int{0}}
}

// expectedEvents returns how many events a world usually has at most. If the world has no more, its
// log is one piece, which becomes the trace's events without a copy. A copy costs more in a large
// world. So, for a large world, the result is a quarter more than its usual number of events.
func (cfg *Config) expectedEvents() int {
	const most = 1 << 18 // 104 MiB
	nodes, sections := len(cfg.Nodes), 0
	for _, c := range cfg.Clients {
		sections += max(c.Sections, 1)
	}
	return min(len(cfg.Clients)*(40+8*nodes)+sections*(24+14*nodes), most)
}

// spareEvents has the memory of events of a world that has ended, for the next world.
var spareEvents eventMemory

// eventMemory is memory for events that no world uses. The events in it are zero, so that
// they keep nothing in memory.
type eventMemory struct {
	mu     sync.Mutex
	events []trace.Event
}

// maxSpare is the number of events for which memory is kept at most, which is enough for the worlds
// of a search.
const maxSpare = 1 << 12

// Recycle gives the memory of a trace's events to the next world. The caller must not use
// the trace or its events afterwards. Recycle does nothing if a client's code ended the run,
// because goroutines of that code may still use the events.
func Recycle(t *trace.Trace) {
	if t.Ending != nil {
		return
	}
	events := t.Events
	t.Events = nil
	clear(events)
	spareEvents.give(events[:0])
}

// give keeps the memory of events for the next world, if it is larger than the memory that is
// kept now.
func (m *eventMemory) give(events []trace.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if cap(events) <= maxSpare && cap(events) > cap(m.events) {
		m.events = events
	}
}

// take returns an empty slice with room for some events.
func (m *eventMemory) take(room int) []trace.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	if room > cap(m.events) {
		return make([]trace.Event, 0, room)
	}
	events := m.events
	m.events = nil
	return events
}

// add adds an event and returns where it is stored.
func (l *eventLog) add(ev trace.Event) *trace.Event {
	last := &l.pieces[len(l.pieces)-1]
	if len(*last) == cap(*last) {
		l.pieces = append(l.pieces, make([]trace.Event, 0, min(l.count, largestPiece)))
		l.firsts = append(l.firsts, l.count)
		last = &l.pieces[len(l.pieces)-1]
	}
	*last = append(*last, ev)
	l.count++
	return &(*last)[len(*last)-1]
}

// last returns the event that was added last; nil if there is none.
func (l *eventLog) last() *trace.Event {
	if l.count == 0 {
		return nil
	}
	piece := l.pieces[len(l.pieces)-1]
	return &piece[len(piece)-1]
}

// at returns the event with a sequence number; the first event has 1.
func (l *eventLog) at(seq int) *trace.Event {
	piece := len(l.firsts) - 1
	for l.firsts[piece] >= seq {
		piece--
	}
	return &l.pieces[piece][seq-1-l.firsts[piece]]
}

// all returns all events in one slice.
func (l *eventLog) all() []trace.Event {
	if len(l.pieces) == 1 {
		return l.pieces[0]
	}
	all := make([]trace.Event, 0, l.count)
	for i, piece := range l.pieces {
		all = append(all, piece...)
		l.pieces[i] = nil
	}
	return all
}
