package sim

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// An Endpoint is what a server does with its end of one connection.
type Endpoint interface {
	// Receive handles a message that has arrived.
	Receive(*Request)
	// HangUp is called when the other end has closed the connection, or, if reset, when the
	// connection was cut.
	HangUp(reset bool)
}

// A Request is a message that has arrived at a server.
type Request struct {
	// Body is the content of the message: the Body of its [Frame] or its [Packet].
	Body any
	m    *message
}

// Sender returns the client that sent the request, and what the client was doing then.
func (r *Request) Sender() *trace.Actor { return r.m.ctx.actor() }

// IsHandshake reports whether the request only sets the connection up.
func (r *Request) IsHandshake() bool { return r.m.ctx.handshake }

// A Packet is a message that a server sends.
type Packet struct {
	// Bytes are what a client's library reads.
	Bytes []byte
	// Body is what another node receives instead of Bytes.
	Body any
	// Text describes the message to people.
	Text string
	// ClientEvents are events of what a client learns when it reads the packet: of
	// [trace.KindAlive] or [trace.KindNotify], without the client's name.
	ClientEvents []trace.Event
	// Background is set for a packet between nodes that only shows that the sender is
	// alive. It travels like any other packet, so faults of processes and of the network
	// act on it. But no trace shows it, nothing counts it, and no run continues because of
	// it.
	Background bool
	// Delay is added to the network's latency, for a packet that answers no request. Before
	// the story begins nothing is delayed.
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
func (e *End) Reply(p Packet) { e.c.reply(p.message()) }

// ReplyTo answers one request of a client. It may be called several times for the same
// request.
func (e *End) ReplyTo(r *Request, p Packet) { e.c.replyTo(r.m, p.message()) }

func (p Packet) message() *message {
	return &message{bytes: p.Bytes, body: p.Body, text: p.Text, clientEvents: p.ClientEvents, background: p.Background}
}

// Close closes the connection.
func (e *End) Close() {
	if e.dialled {
		e.c.close()
		return
	}
	e.c.down.send(&message{signal: finish})
}

// RunOnLoop makes the loop call f. It is for goroutines of the server's own, which may call
// it at any time.
func (e *End) RunOnLoop(f func()) { e.post(classStep, f) }

// RunAfterSteps makes the loop call f after everything else that was done at the same
// moment. It is for goroutines of the server's own, which may call it at any time.
func (e *End) RunAfterSteps(f func()) { e.post(classWrite, f) }

func (e *End) post(class class, f func()) {
	server, client := e.c.serverProcess, e.c.clientProcess
	e.c.w.post(&request{process: server, class: class, rank: client.index, sub: e.c.number, admit: f})
}

// nodeEnd makes an Endpoint an endpoint of the network.
type nodeEnd struct{ Endpoint }

func (e nodeEnd) receive(m *message) { e.Receive(&Request{Body: m.body, m: m}) }
func (e nodeEnd) hangUp(reset bool)  { e.HangUp(reset) }
