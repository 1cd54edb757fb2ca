package sim

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// An Endpoint handles a server's end of one connection. The server implements it, and the
// world's event loop calls it.
type Endpoint interface {
	// Receive handles a message that has arrived.
	Receive(*Request)
	// HangUp is called when the other end has closed the connection, or, if reset is true,
	// when the connection was reset.
	HangUp(reset bool)
}

// A Request is a message that has arrived at a server.
type Request struct {
	// Body is the content of the message: the Body of its [Frame] if a client has sent it,
	// or of its [Packet] if a node has.
	Body any
	m    *message
}

// Sender returns the client that sent the request, with the critical section to which the request
// belongs.
func (r *Request) Sender() *trace.Actor { return r.m.origin.actor() }

// IsHandshake reports whether the request only sets the connection up, or keeps it open.
func (r *Request) IsHandshake() bool { return r.m.origin.handshake }

// A Packet is a message that a server sends.
type Packet struct {
	// Bytes are what a client reads from its connection.
	Bytes []byte
	// Body is the content of a packet to another node, which gets no Bytes.
	Body any
	// Text describes the message to people.
	Text string
	// ClientEvents are events that happen when the client reads the packet, without the
	// client's name. They are of [trace.KindAlive] or [trace.KindNotify].
	ClientEvents []trace.Event
	// Background is set for a packet between nodes that only shows that the sender is
	// alive. Faults of processes and of the network act on it as on any other packet. But
	// it is not in the trace, it is not counted, and a run may end before it arrives.
	Background bool
	// Delay is added to the network's latency. It has an effect only in [End.Send], and
	// only after the run has begun, which is when all clients have opened their
	// connections.
	Delay time.Duration
}

// An End is a server's end of one connection.
type End struct {
	c *conn
	// dialled is set if the server itself has opened the connection.
	dialled bool
}

// Peer returns the name of the process at the other end.
func (e *End) Peer() string {
	if e.dialled {
		return e.c.serverProcess.name
	}
	return e.c.clientProcess.name
}

// Send sends a packet that answers no request.
func (e *End) Send(p Packet) {
	stream := e.c.toClient
	if e.dialled {
		stream = e.c.toServer
	}
	m := p.message()
	stream.send(m)
	if e.c.w.started {
		m.due += p.Delay
	}
}

// Reply answers the oldest request on this connection that has no answer yet.
func (e *End) Reply(p Packet) { e.c.reply(p.message()) }

// ReplyTo answers one request of a client. A server may call it several times for the same request.
func (e *End) ReplyTo(r *Request, p Packet) { e.c.replyTo(r.m, p.message()) }

// message returns the packet in the form that the network carries.
func (p Packet) message() *message {
	return &message{bytes: p.Bytes, body: p.Body, text: p.Text, clientEvents: p.ClientEvents, background: p.Background}
}

// Close closes the connection.
func (e *End) Close() {
	if e.dialled {
		e.c.close()
		return
	}
	e.c.toClient.send(&message{signal: finishSignal})
}

// RunOnLoop makes the loop call f. A server that has goroutines calls RunOnLoop from these
// goroutines, at any time.
func (e *End) RunOnLoop(f func()) { e.post(classStep, f) }

// RunAfterSteps is RunOnLoop, but the loop calls f after all functions that were passed to
// RunOnLoop in the same round. In each round, the loop carries out the requests that goroutines
// have posted since the round before.
func (e *End) RunAfterSteps(f func()) { e.post(classWrite, f) }

// post posts a request whose class decides its place among the requests of the same round.
func (e *End) post(class class, f func()) {
	server, client := e.c.serverProcess, e.c.clientProcess
	e.c.w.post(&request{process: server, class: class, rank: client.index, subRank: e.c.number, admit: f})
}

// nodeEnd adapts the exported [Endpoint] of a node to the package's own interface,
// endpoint.
type nodeEnd struct{ Endpoint }

func (e nodeEnd) receive(m *message) { e.Receive(&Request{Body: m.body, m: m}) }
func (e nodeEnd) hangUp(reset bool)  { e.HangUp(reset) }
