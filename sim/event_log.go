package sim

import "github.com/locksim/locksim/trace"

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
	return eventLog{pieces: [][]trace.Event{make([]trace.Event, 0, room)}, firsts: []int{0}}
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

// at returns the event with a sequence number, which begins with 1.
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
