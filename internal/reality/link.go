package reality

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// latency is how long each message takes at least. Without it, no two messages would ever
// be in flight at the same time.
const latency = 5 * time.Millisecond

// A link is the network from one process to another, in one direction.
type link struct {
	// cuts counts the partitions that cut the link now. delay is the sum of the delays that
	// faults add now.
	cuts  int
	delay time.Duration
}

// linkBetween returns the link from one process to another.
func (r *run) linkBetween(from, to string) *link {
	key := [2]string{from, to}
	if r.links[key] == nil {
		r.links[key] = &link{}
	}
	return r.links[key]
}

// A message is one request or one reply.
type message struct {
	// event describes the message: its Kind is set when it is recorded.
	event trace.Event
	bytes []byte
	body  any // content, as the framer of the system returns it
	// due is when the message arrives at the earliest. isHeld says that a fault holds it
	// back.
	due    time.Duration
	isHeld bool
	// sendSeq is the number in the trace (Seq) of the event with which the message was sent,
	// and sentAt the time of that event.
	sendSeq int
	sentAt  time.Duration
	// learned are the events that happen when a client reads the message.
	learned []trace.Event
	// deliver is called when the message arrives; nil for a message of a connection with a server.
	deliver func()
}

// A stream is one direction of a connection. It delivers each message once, in the order in
// which the messages were sent.
type stream struct {
	r    *run
	link *link
	// queue holds the messages that were sent and have not arrived, the oldest first.
	queue []*message
	count int // messages sent so far
	// isClosed says that nothing more will be sent; isDropped that nothing more arrives.
	isClosed, isDropped bool
	// endDue is when the end of a closed stream arrives at the earliest.
	endDue time.Duration
}

// send records that a message is sent, and puts it on its way. The mutex must be held.
func (s *stream) send(m *message) {
	s.count++
	m.event.Msg = s.count
	m.event.Kind = trace.KindSend
	m.due, m.sentAt = s.arrival(), s.r.now()
	m.sendSeq = s.r.emit(m.event).Seq
	if s.isDropped { // the receiver has ended the connection
		m.event.Kind = trace.KindLose
		s.r.emit(m.event)
		return
	}
	s.queue = append(s.queue, m)
	s.r.intercept(trace.KindSend, m.event, m)
}

// arrival returns the earliest time at which a message that is sent now arrives, and wakes all
// waiting goroutines at that time. The mutex must be held.
func (s *stream) arrival() time.Duration {
	if !s.r.started {
		return 0 // the time of the run has not begun
	}
	return s.r.wakeAfter(latency + s.link.delay)
}

// close puts the end of the stream on its way, behind all messages. The mutex must be held.
func (s *stream) close() { s.isClosed, s.endDue = true, s.arrival() }

// hasEnded reports whether the end of the stream has arrived.
func (s *stream) hasEnded() bool {
	return s.isDropped || s.isClosed && len(s.queue) == 0 && s.link.cuts == 0 && s.r.now() >= s.endDue
}

// next waits until the next message arrives, and returns it; nil if no message will arrive any
// more. isReady says whether the receiver can take a message now. The mutex must be held.
func (s *stream) next(isReady func(*message) bool) *message {
	var m *message
	s.r.await(func() bool {
		m = nil
		if s.hasEnded() {
			return true
		}
		if len(s.queue) == 0 {
			return false
		}
		if first := s.queue[0]; !first.isHeld && s.link.cuts == 0 && s.r.now() >= first.due && isReady(first) {
			m = first
			return true
		}
		return false
	})
	if m != nil {
		s.queue = s.queue[1:]
	}
	return m
}

// drop loses all messages that have not arrived. The mutex must be held.
func (s *stream) drop() {
	for _, m := range s.queue {
		m.event.Kind = trace.KindLose
		s.r.emit(m.event)
	}
	s.queue, s.isDropped = nil, true
}

// arrive records that a message arrives.
func (s *stream) arrive(m *message) { s.r.emit(arrival(m)) }

// arrival returns the event with which a message arrives.
func arrival(m *message) trace.Event {
	ev := m.event
	ev.Kind = trace.KindDeliver
	ev.Process, ev.Peer = ev.Peer, ev.Process
	return ev
}
