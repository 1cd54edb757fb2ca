package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// linkKey identifies a link by the names of its two processes.
type linkKey struct{ from, to string }

// A link is the network from one process to another, in one direction. Its latencies come
// from a random source of its own, so an additional message on one link does not change the
// latencies of another link.
type link struct {
	w       *World
	key     linkKey
	latency *rand.Rand
	// min and max are the bounds of the latency of a message.
	min, max time.Duration
	// cutCount counts the partitions that cut the link now. extraDelay is the sum of the
	// delays that faults add now.
	cutCount   int
	extraDelay time.Duration
	// streams are the streams of connections that use the link.
	streams []*stream
}

// linkBetween returns the link from one process to another. It creates the link at the
// first call.
func (w *World) linkBetween(from, to string) *link {
	key := linkKey{from, to}
	l, ok := w.links[key]
	if !ok {
		w.charge(bytesOfLink)
		l = &link{w: w, key: key, latency: newLatencySource(w.cfg.Seed, from, to)}
		l.min, l.max = w.cfg.Network.between(from, to)
		w.links[key] = l
	}
	return l
}

// drawLatency returns how long the next message takes.
func (l *link) drawLatency() time.Duration {
	return l.min + time.Duration(l.latency.Int64N(int64(l.max-l.min)+1)) + l.extraDelay
}

// between returns the bounds of the latency between two processes.
func (n Network) between(a, b string) (least, most time.Duration) {
	least, most = n.Min, n.Max
	for _, p := range n.Paths {
		if p.Between == a && p.And == b || p.Between == b && p.And == a {
			least, most = p.Min, p.Max
		}
	}
	return least, most
}

// cut begins a partition of the link. Messages that are sent during the partition are not lost:
// as with TCP, the sender sends them again until they arrive.
func (l *link) cut() { l.cutCount++ }

// mend ends a partition of the link. If no other partition cuts the link, the stalled messages
// arrive.
func (l *link) mend() {
	if l.cutCount--; l.cutCount > 0 {
		return
	}
	for _, h := range l.streams {
		h.unstall()
	}
}

// A stream is one direction of a connection. It delivers each message once, in the order in
// which the messages were sent.
type stream struct {
	conn           *conn
	link           *link
	carriesReplies bool
	callArrive     func() // arrive, as the function of all its timers
	sentCount      int    // messages sent so far, for their numbers
	// queue holds the messages that were sent and have not arrived, the oldest first.
	queue []*message
	// arrivalScheduled reports that the arrival of the first message in queue is scheduled. stalled
	// reports that this message was due while the link was cut or the receiver's machine had no
	// power; it waits until the link is no longer cut and the machine has power. dropped reports
	// that the connection was reset, so that the stream carries nothing any more.
	arrivalScheduled, stalled bool
	dropped                   bool
}

// signal is what a packet means for its connection, as the flags of a TCP packet do.
type signal int

const (
	dataSignal   signal = iota
	openSignal          // the client's SYN
	acceptSignal        // the server's SYN-ACK
	finishSignal        // FIN
	abortSignal         // RST
)

// A message is one command, one reply, or a packet that opens or closes a connection.
// Faults act on messages.
type message struct {
	stream *stream
	signal signal
	number int // from 1, among the messages of the stream; 0 for other packets
	bytes  []byte
	body   any    // content for servers that need no bytes
	text   string // for people
	// origin is the client on whose behalf the message is sent.
	origin       origin
	clientEvents []trace.Event // see [Packet]
	// background is set for a message that no trace shows; see [Packet].
	background bool
	// latency is how long the message takes. due is the true time at which it arrives.
	latency time.Duration
	due     time.Duration
	// held reports that a fault holds the message back.
	held bool
}

// origin is the client on whose behalf a message is sent, with the critical section and the step
// that the client was in then. A reply has the origin of its request.
type origin struct {
	client    string
	section   int
	step      trace.Step
	handshake bool
	keepAlive bool
	sendSeq   int // number in the trace (Seq) of the event with which the client sent the request
}

// actor returns the client in the form of events.
func (o origin) actor() *trace.Actor {
	return &trace.Actor{Client: o.client, Section: o.section, Sent: o.sendSeq}
}

// event returns an event about the message. Its Process is the receiver if receiver is
// true, and the sender otherwise.
func (m *message) event(kind trace.Kind, receiver bool) trace.Event {
	h := m.stream
	from, to := h.link.key.from, h.link.key.to
	if receiver {
		from, to = to, from
	}
	ev := trace.Event{
		Kind: kind, Process: from, Peer: to, Conn: h.conn.number, Msg: m.number, Reply: h.carriesReplies,
		Handshake: m.origin.handshake || !h.conn.w.started, KeepAlive: m.origin.keepAlive, Section: m.origin.section, Step: m.origin.step, Text: m.text,
	}
	if h.conn.serverProcess.host().isMember() {
		ev.Bytes = len(m.bytes)
	}
	return ev
}

// describe returns an event about the message, with its sender as the Process. With halt and
// proceed, it makes a message an [interceptable].
func (m *message) describe(kind trace.Kind) trace.Event { return m.event(kind, false) }

// halt holds back the message, and all messages that follow it on its stream. It returns
// false if the message is already held back.
func (m *message) halt() bool {
	wasHeld := m.held
	m.held = true
	return !wasHeld
}

// proceed releases a message that was held back. The message arrives when its latency has passed
// once more.
func (m *message) proceed() {
	m.held = false
	m.due = m.stream.conn.w.now() + m.latency
	m.stream.scheduleArrival()
}

// send puts a message on its way.
func (h *stream) send(m *message) {
	if h.dropped {
		return
	}
	w := h.conn.w
	m.stream = h
	w.charge(bytesOfMessage + textCopies*len(m.bytes))
	switch {
	case m.background && w.started:
		// A background message draws no latency, so it does not change the latencies of
		// other messages.
		m.latency = h.link.min + h.link.extraDelay
	case w.started:
		m.latency = h.link.drawLatency()
	}
	m.due = w.now() + m.latency
	if m.signal == dataSignal && !m.background {
		h.sentCount++
		m.number = h.sentCount
		sent := m.event(trace.KindSend, false)
		if h.conn.serverProcess.role == trace.RoleNode && h.conn.clientProcess.role == trace.RoleClient && sent.Bytes == 0 && !sent.Handshake {
			w.trace.Bytes += int64(len(m.bytes))
		}
		seq := w.emit(sent).Seq
		if !h.carriesReplies && m.origin.sendSeq == 0 { // origin.sendSeq is already set if a service passes on the request of a client
			m.origin.sendSeq = seq
		}
		w.intercept(trace.KindSend, m)
	}
	if !w.started {
		h.conn.handleArrival(m)
		return
	}
	h.queue = append(h.queue, m)
	h.scheduleArrival()
}

// scheduleArrival schedules the arrival of the first message, if it can arrive now.
func (h *stream) scheduleArrival() {
	if h.dropped || h.arrivalScheduled || h.stalled || len(h.queue) == 0 || h.queue[0].held {
		return
	}
	w := h.conn.w
	h.arrivalScheduled = true
	due := max(h.queue[0].due, w.now())
	if slices.ContainsFunc(h.queue, func(m *message) bool { return !m.background }) {
		w.scheduleDelivery(due, h.callArrive)
	} else {
		w.schedule(due, h.callArrive)
	}
}

// arrive delivers the first message when it is due. A fault may have held or delayed the message,
// or cut the link, since the arrival was scheduled; then arrive does not deliver the message.
func (h *stream) arrive() {
	h.arrivalScheduled = false
	if h.dropped || len(h.queue) == 0 || h.queue[0].held {
		return
	}
	if h.queue[0].due > h.conn.w.now() {
		h.scheduleArrival()
		return
	}
	if h.link.cutCount > 0 {
		h.stalled = true
		return
	}
	m := h.queue[0]
	h.queue = h.queue[1:]
	h.conn.handleArrival(m)
	h.scheduleArrival()
}

// unstall lets the stalled first message arrive, after a partition has ended or the
// receiver's machine runs again.
func (h *stream) unstall() {
	if !h.stalled {
		return
	}
	h.stalled = false
	if len(h.queue) > 0 {
		h.queue[0].due = h.conn.w.now() + h.link.drawLatency()
	}
	h.scheduleArrival()
}

// drop ends the stream. All messages that have not arrived are lost.
func (h *stream) drop(why string) {
	if h.dropped {
		return
	}
	h.dropped = true
	for _, m := range h.queue {
		h.conn.w.recordLoss(m, why)
	}
	h.queue = nil
	h.link.streams = slices.DeleteFunc(h.link.streams, func(o *stream) bool { return o == h })
}

// recordLoss records that a message will never arrive.
func (w *World) recordLoss(m *message, why string) {
	if m.signal != dataSignal || m.background {
		return
	}
	ev := m.event(trace.KindLose, false)
	ev.Text = fmt.Sprintf("%s (%s)", m.text, why)
	w.emit(ev)
}
