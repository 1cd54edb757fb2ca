package sim

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// An endpoint handles one end of a connection for its process. The world's event loop calls its
// methods.
type endpoint interface {
	// receive handles a message that has arrived, while the process runs.
	receive(*message)
	// hangUp is called when the other end has closed the connection, or, if reset is true,
	// when the connection was reset.
	hangUp(reset bool)
}

// A conn is one connection between two processes: a stream of messages in each direction.
type conn struct {
	w      *World
	number int // from 1, among the connections that this client has opened to this server
	// clientProcess has opened the connection, and serverProcess has accepted it. clientEnd and
	// serverEnd handle their ends. An end is nil before the connection is made, after the end
	// was closed, and after its process has crashed.
	clientProcess, serverProcess *process
	clientEnd, serverEnd         endpoint
	toServer, toClient           *stream
	// unanswered are the requests that have no reply yet, the oldest first.
	unanswered []*message
	// onOpened is called once, when the connection is made or refused; nil after that.
	onOpened func(*conn, error)
}

// connect begins to open a connection between two processes. end handles the opener's end. opened
// is called when the connection is made, or with an error if it cannot be made.
func (w *World) connect(from, to *process, end endpoint, opened func(*conn, error)) *conn {
	pair := linkKey{from.name, to.name}
	w.connCounts[pair]++
	w.charge(bytesOfConnection)
	c := &conn{w: w, number: w.connCounts[pair], clientProcess: from, serverProcess: to, clientEnd: end, onOpened: opened}
	c.toServer = c.newStream(w.linkBetween(from.name, to.name), false)
	c.toClient = c.newStream(w.linkBetween(to.name, from.name), true)
	w.conns = append(w.conns, c)
	c.toServer.send(&message{signal: openSignal})
	return c
}

// newStream adds the stream of one direction to the connection. reply is true for the direction to
// the client.
func (c *conn) newStream(l *link, reply bool) *stream {
	h := &stream{conn: c, link: l, carriesReplies: reply}
	h.callArrive = h.arrive
	l.streams = append(l.streams, h)
	return h
}

// handleArrival handles a packet that has arrived at the machine of its receiver.
func (c *conn) handleArrival(m *message) {
	from, to, end := c.clientProcess, c.serverProcess, c.serverEnd
	if m.stream.carriesReplies {
		from, to, end = to, from, c.clientEnd
	}
	if to.powerless {
		if m.stream.carriesReplies {
			c.w.recordLoss(m, to.name+" has no power")
			return
		}
		// A real kernel sends the packet again until it is answered. So the packet waits until
		// process.restart is called.
		m.stream.queue = slices.Insert(m.stream.queue, 0, m)
		m.stream.stalled = true
		return
	}
	switch m.signal {
	case openSignal:
		if to.state == down {
			c.toClient.send(&message{signal: abortSignal})
			return
		}
		c.serverEnd = to.server.accept(c)
		c.toClient.send(&message{signal: acceptSignal})
	case acceptSignal:
		if end != nil && c.onOpened != nil {
			c.w.emit(trace.Event{Kind: trace.KindConnect, Process: to.name, Peer: from.name, Conn: c.number})
			c.finishOpening(nil)
		}
	case dataSignal:
		if end == nil {
			c.w.recordLoss(m, to.name+" had closed the connection")
			if !m.stream.carriesReplies {
				c.toClient.send(&message{signal: abortSignal})
			}
			return
		}
		if !m.background {
			c.w.emit(m.event(trace.KindDeliver, true))
			c.w.runDueActions()
		}
		c.deliver(m)
	case finishSignal:
		c.notifyHangUp(m.stream.carriesReplies, false)
	case abortSignal:
		if c.onOpened != nil {
			c.w.emit(trace.Event{Kind: trace.KindRefuse, Process: to.name, Peer: from.name, Text: "connection refused"})
			c.finishOpening(errRefused)
			return
		}
		c.notifyHangUp(m.stream.carriesReplies, true)
	}
}

// deliver gives a message to its process: now, or when the process runs again.
func (c *conn) deliver(m *message) {
	to, end := c.serverProcess, c.serverEnd
	if m.stream.carriesReplies {
		to, end = c.clientProcess, c.clientEnd
	}
	switch {
	case end == nil:
	case to.state == down:
		c.w.recordLoss(m, to.name+" crashed before it read the message")
	case to.isHalted() && to.server != nil:
		to.backlog = append(to.backlog, func() { c.deliver(m) })
	default:
		c.recordClientEvents(to, m.clientEvents, m.origin.sendSeq)
		end.receive(m)
	}
}

// recordClientEvents records, as events, what a client learns from a message: now, or when the
// client runs again. sendSeq is the Seq of the event with which the answered request was sent.
func (c *conn) recordClientEvents(client *process, events []trace.Event, sendSeq int) {
	if len(events) == 0 {
		return
	}
	if client.isHalted() {
		client.backlog = append(client.backlog, func() { c.recordClientEvents(client, events, sendSeq) })
		return
	}
	for _, ev := range events {
		ev.Process = client.name
		if ev.TTL > 0 { // the client counts the TTL from when it sent the request
			ev.Expires = c.w.events.at(sendSeq).At + ev.TTL
		}
		c.w.emit(ev)
	}
	c.w.runDueActions()
}

// finishOpening calls onOpened: with nil if the connection was made, or with an error if it
// was not.
func (c *conn) finishOpening(err error) {
	opened := c.onOpened
	c.onOpened = nil
	opened(c, err)
	if err != nil {
		c.clientEnd = nil
		c.toServer.drop("")
		c.toClient.drop("")
	}
}

// notifyHangUp notifies one end that the other end has closed the connection, or that the
// connection was reset.
func (c *conn) notifyHangUp(atClient, reset bool) {
	end, process, peer := &c.serverEnd, c.serverProcess, c.clientProcess
	if atClient {
		end, process, peer = &c.clientEnd, c.clientProcess, c.serverProcess
	}
	if *end == nil {
		return
	}
	if process.server != nil && process.isHalted() {
		// The process first has to read what arrived before.
		process.backlog = append(process.backlog, func() { c.notifyHangUp(atClient, reset) })
		return
	}
	if reset {
		c.w.emit(trace.Event{Kind: trace.KindReset, Process: process.name, Peer: peer.name, Conn: c.number})
	}
	(*end).hangUp(reset)
	if !atClient || reset {
		*end = nil
	}
}

// close closes the client's end. Messages that the client has sent may still arrive.
func (c *conn) close() {
	if c.clientEnd == nil {
		return
	}
	c.w.emit(trace.Event{Kind: trace.KindClose, Process: c.clientProcess.name, Peer: c.serverProcess.name, Conn: c.number})
	c.clientEnd = nil
	c.onOpened = nil
	c.toServer.send(&message{signal: finishSignal})
}

// resetBothEnds resets the connection at both ends at the same moment. Messages in flight
// are lost.
func (c *conn) resetBothEnds() {
	c.toServer.drop("the connection was reset")
	c.toClient.drop("the connection was reset")
	if c.onOpened != nil {
		c.finishOpening(errReset)
		return
	}
	c.notifyHangUp(true, true)
	c.notifyHangUp(false, true)
}

// handleCrash closes the connection's end at a process that crashes. If only the process has
// crashed, its kernel resets the connection. If the machine has lost power, the other end is not
// notified.
func (c *conn) handleCrash(p *process) {
	outgoing, end := c.toClient, &c.serverEnd
	if p == c.clientProcess {
		outgoing, end = c.toServer, &c.clientEnd
	}
	if *end == nil {
		return
	}
	if p == c.serverProcess {
		(*end).hangUp(true) // so that the server's goroutines for this client end
	}
	*end = nil
	if p.powerless {
		// Messages that have left the machine arrive. Messages that its kernel still held
		// are lost.
		if outgoing.stalled || len(outgoing.queue) > 0 && outgoing.queue[0].held {
			outgoing.drop(p.name + " lost power")
		}
		return
	}
	outgoing.send(&message{signal: abortSignal})
}

// sendRequest sends a message that will be answered by reply or replyTo.
func (c *conn) sendRequest(m *message) {
	c.unanswered = append(c.unanswered, m)
	c.toServer.send(m)
}

// reply answers the oldest request that has no reply yet. The answer gets the origin of
// that request.
func (c *conn) reply(m *message) {
	if len(c.unanswered) > 0 {
		m.origin = c.unanswered[0].origin
		c.unanswered = c.unanswered[1:]
	}
	c.toClient.send(m)
}

// replyTo answers one request, which may already have been answered.
func (c *conn) replyTo(request, m *message) {
	c.unanswered = slices.DeleteFunc(c.unanswered, func(o *message) bool { return o == request })
	m.origin = request.origin
	c.toClient.send(m)
}
