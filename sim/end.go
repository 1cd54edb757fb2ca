package sim

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// An Endpoint is what a server does with its end of one connection.
type Endpoint interface {
	// Receive takes a message that has arrived.
	Receive(*Request)
	// HangUp says that the other end has closed the connection, or, if reset, that it was
	// cut.
	HangUp(reset bool)
}

// A Request is a message that has arrived at a server.
type Request struct {
	// Body is what the sender means: that of its [Frame] or its [Packet].
	Body any
	m    *message
}

// By is the client that sent it, and what it was doing then.
func (r *Request) By() *trace.Actor { return r.m.ctx.actor() }

// Handshake says that it only sets the connection up.
func (r *Request) Handshake() bool { return r.m.ctx.handshake }

// A Packet is a message that a server sends.
type Packet struct {
	// Bytes are what a client's library reads.
	Bytes []byte
	// Body is what another node gets instead.
	Body any
	// Text is the message for people.
	Text string
	// Learns are events of what a client learns when it reads the packet: of
	// [trace.KindAlive] or [trace.KindNotify], without the client.
	Learns []trace.Event
	// Background is a packet between nodes that only says that one is there. It is under way
	// as any other, so that faults of processes and of the network act on it; but no trace
	// shows it, nothing counts it, and no run goes on for it.
	Background bool
	// Delay is how much later than by the network alone it arrives, if nobody asked for it. Before
	// the story begins nothing is late.
	Delay time.Duration
}

// An End is a server's end of one connection.
type End struct {
	c *conn
	// dialled: the server has opened the connection itself.
	dialled bool
}

// Peer is the name of the process at the other end.
func (e *End) Peer() string {
	if e.dialled {
		return e.c.serverProcess.name
	}
	return e.c.clientProcess.name
}

// Send sends what nobody has asked for.
func (e *End) Send(p Packet) {
	half := e.c.down
	if e.dialled {
		half = e.c.up
	}
	m := p.message()
	half.send(m)
	if e.c.w.started {
		m.due += p.Delay
	}
}

// Reply answers the oldest request of a client that has no answer yet.
func (e *End) Reply(p Packet) { e.c.answer(p.message()) }

// Answer answers a request of a client; it may do so several times.
func (e *End) Answer(r *Request, p Packet) { e.c.answerTo(r.m, p.message()) }

func (p Packet) message() *message {
	return &message{bytes: p.Bytes, body: p.Body, text: p.Text, learns: p.Learns, background: p.Background}
}

// Close closes the connection.
func (e *End) Close() {
	if e.dialled {
		e.c.close()
		return
	}
	e.c.down.send(&message{signal: finish})
}

// Done has f called by the loop, and Written after all that was done at the same moment:
// they are for goroutines of the server's own, which may call them at any time.
func (e *End) Done(f func())    { e.post(classStep, f) }
func (e *End) Written(f func()) { e.post(classWrite, f) }

func (e *End) post(class class, f func()) {
	server, client := e.c.serverProcess, e.c.clientProcess
	e.c.w.post(&request{process: server, class: class, rank: client.index, sub: e.c.number, admit: f})
}

// nodeEnd is an Endpoint as the network has it.
type nodeEnd struct{ Endpoint }

func (e nodeEnd) receive(m *message) { e.Receive(&Request{Body: m.body, m: m}) }
func (e nodeEnd) hangUp(reset bool)  { e.HangUp(reset) }
