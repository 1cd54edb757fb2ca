package reality

import (
	"net"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A conn is a connection of a client to a server, which goes through the harness.
type conn struct {
	client *client
	node   *node
	number int
	// fromClient is the connection that the client has opened, and toServer the harness's own
	// connection to the server.
	fromClient *net.TCPConn
	toServer   net.Conn
	cutter     cutter

	requests, replies *stream
	// asked are the requests that have reached the server and that it has not answered, the
	// oldest first.
	asked []*message
	isCut bool
}

// serve passes on what a client and a server say to each other on a new connection.
func (r *run) serve(c *client, n *node, accepted *net.TCPConn) {
	network, address := n.server.address()
	toServer, err := net.Dial(network, address)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || r.ended || c.isDown {
		_ = accepted.SetLinger(0)
		accepted.Close()
		r.emit(trace.Event{Kind: trace.KindRefuse, Process: c.cfg.Name, Peer: n.cfg.Name})
		if toServer != nil {
			toServer.Close()
		}
		return
	}
	number := 1
	for _, o := range n.conns {
		if o.client == c {
			number = max(number, o.number+1)
		}
	}
	conn := &conn{
		client: c, node: n, number: number, fromClient: accepted, toServer: toServer, cutter: n.server.cutter(),
		requests: &stream{r: r, link: r.linkBetween(c.cfg.Name, n.cfg.Name)},
		replies:  &stream{r: r, link: r.linkBetween(n.cfg.Name, c.cfg.Name)},
	}
	n.conns = append(n.conns, conn)
	r.emit(trace.Event{Kind: trace.KindConnect, Process: c.cfg.Name, Peer: n.cfg.Name, Conn: number})
	go conn.readClient()
	go conn.carryRequests()
	go conn.readServer()
	go conn.carryReplies()
	r.settle()
}

// readClient reads what the client writes, and sends each message on its way.
func (c *conn) readClient() {
	r := c.node.r
	buffer := make([]byte, 0, 4096)
	for {
		n, err := c.fromClient.Read(grow(&buffer))
		buffer = buffer[:len(buffer)+n]
		r.do(func() {
			for len(buffer) > 0 && !c.isCut {
				size, frame := c.cutter.Next(buffer)
				if size == 0 {
					break
				}
				section, step := c.client.doing()
				if frame.KeepAlive {
					step = "" // it belongs to no step
				}
				c.requests.send(&message{
					event: trace.Event{
						Process: c.client.cfg.Name, Peer: c.node.cfg.Name, Conn: c.number, Section: section, Step: step,
						Text: frame.Text, Handshake: frame.Handshake || !r.started, KeepAlive: frame.KeepAlive,
					},
					bytes: slices.Clone(buffer[:size]), body: frame,
				})
				buffer = buffer[size:]
			}
			if err != nil && !c.isCut {
				// Messages that were sent still arrive: closing a connection recalls nothing.
				c.requests.close()
				r.emit(trace.Event{Kind: trace.KindClose, Process: c.client.cfg.Name, Peer: c.node.cfg.Name, Conn: c.number})
			}
		})
		if err != nil {
			return
		}
	}
}

// grow returns the free end of a buffer, which it makes larger if it is full.
func grow(b *[]byte) []byte {
	if len(*b) == cap(*b) {
		*b = slices.Grow(*b, max(cap(*b), 4096))
	}
	return (*b)[len(*b):cap(*b)]
}

// carryRequests delivers the requests to the server, one at a time.
func (c *conn) carryRequests() {
	n, r := c.node, c.node.r
	r.mu.Lock()
	defer r.mu.Unlock()
	// The server may still work on an earlier request that it does not answer soon. A request that
	// changes keys would then have to wait at the server, and the requests of all other connections
	// would have to wait for that request.
	isReady := func(m *message) bool {
		return n.runs() && (!c.isExclusive(m) || n.executing == nil && len(c.asked) == 0)
	}
	for m := c.requests.next(isReady); m != nil; m = c.requests.next(isReady) {
		if c.isExclusive(m) {
			n.executing = m
		}
		m.due = r.now() // the moment from which on the server may execute it
		c.asked = c.cutter.expect(c.asked, m)
		r.cluster.expect(c, m)
		c.requests.arrive(m)
		r.settle()
		r.mu.Unlock()
		_, err := c.toServer.Write(m.bytes)
		r.mu.Lock()
		if err != nil {
			break
		}
	}
	if c.requests.isClosed && !c.isCut {
		// The server answers the requests that it has received, and nobody reads the answers.
		r.await(func() bool { return !c.isExecuting() || c.isCut || n.isDown })
		c.cut()
	}
}

// isExclusive reports whether no other request may be executed until this one is answered.
// A cluster says which session each change belongs to, so its members need not take turns.
func (c *conn) isExclusive(m *message) bool { return c.node.keeper != nil && c.isAnswered(m) }

// isAnswered reports whether the server answers a request soon.
func (c *conn) isAnswered(m *message) bool { return c.cutter.isAnswered(m.body.(sim.Frame)) }

// isExecuting reports whether the server will soon answer a request that has reached it.
func (c *conn) isExecuting() bool { return slices.ContainsFunc(c.asked, c.isAnswered) }

// readServer reads what the server writes, and sends each message on its way. Before it sends
// an answer, it asks the server which keys the request has changed.
func (c *conn) readServer() {
	r, n := c.node.r, c.node
	buffer := make([]byte, 0, 4096)
	for {
		k, err := c.toServer.Read(grow(&buffer))
		buffer = buffer[:len(buffer)+k]
		for len(buffer) > 0 {
			size := c.cutter.answerSize(buffer)
			if size == 0 {
				break
			}
			answer := slices.Clone(buffer[:size])
			buffer = buffer[size:]
			var m *message
			var decoded reading
			r.do(func() {
				decoded = c.cutter.read(answer, c.asked)
				if decoded.completes >= 0 && decoded.completes < len(c.asked) {
					m = c.asked[decoded.completes]
				}
			})
			finish := func() {
				c.asked = slices.DeleteFunc(c.asked, func(o *message) bool { return o == m })
				n.endExecution(m)
				c.reply(m, answer, decoded)
				if c.isCut && !c.isExecuting() {
					c.toServer.Close()
				}
			}
			switch {
			case n.keeper == nil:
				r.cluster.await(c, decoded, m, finish)
			case decoded.completes < 0:
				r.do(func() { c.reply(nil, answer, decoded) })
			case m == nil || m.body.(sim.Frame).Handshake:
				r.do(finish)
			default:
				n.probe(&trace.Actor{Client: c.client.cfg.Name, Section: m.event.Section, Sent: m.sendSeq}, m.due, false, finish)
			}
		}
		if err != nil {
			r.do(func() { c.serverClosed() })
			return
		}
	}
}

// reply sends a message of the server on its way to the client. m is the request that the
// message answers; nil if it answers none.
func (c *conn) reply(m *message, answer []byte, decoded reading) {
	if c.isCut || c.replies.isDropped {
		return
	}
	section, step := c.client.doing()
	ev := trace.Event{
		Process: c.node.cfg.Name, Peer: c.client.cfg.Name, Conn: c.number, Reply: true, Section: section, Step: step,
		Text: decoded.text, Handshake: decoded.isHandshake,
	}
	if m != nil {
		ev.Section, ev.Step, ev.Handshake, ev.KeepAlive = m.event.Section, m.event.Step, m.event.Handshake, m.event.KeepAlive
	}
	c.replies.send(&message{event: ev, bytes: answer, learned: decoded.learned})
}

// carryReplies delivers the replies to the client's machine. A client that is stopped reads
// them when it continues.
func (c *conn) carryReplies() {
	r := c.node.r
	r.mu.Lock()
	defer r.mu.Unlock()
	anyMessage := func(*message) bool { return true }
	for m := c.replies.next(anyMessage); m != nil; m = c.replies.next(anyMessage) {
		c.client.take(m)
		r.settle()
		r.mu.Unlock()
		_ = c.fromClient.SetWriteDeadline(time.Now().Add(10 * time.Second))
		_, _ = c.fromClient.Write(m.bytes)
		r.mu.Lock()
	}
	if c.replies.isClosed && !c.isCut {
		c.cut()
	}
}

// serverClosed is called when the server has closed the connection. What it had sent before
// still arrives, and then the end of the connection.
func (c *conn) serverClosed() {
	c.toServer.Close()
	c.node.lookAfterClose()
	for _, m := range c.asked {
		c.node.endExecution(m)
	}
	c.asked = nil
	if c.isCut {
		return
	}
	c.requests.drop()
	c.replies.close()
}

// cut ends the connection. Requests that have reached the server are still executed, and
// only then the connection to the server is closed. The mutex is held.
func (c *conn) cut() {
	if c.isCut {
		return
	}
	c.isCut = true
	c.requests.drop()
	c.replies.drop()
	c.fromClient.Close()
	if !c.isExecuting() || c.node.isDown || c.node.r.ended {
		c.toServer.Close()
		c.node.lookAfterClose()
	}
}

// resetBetween cuts all connections between a client and a server, as a reset does.
func (r *run) resetBetween(a, b string) {
	switch trace.StorageName {
	case a:
		r.storage.reset(b)
	case b:
		r.storage.reset(a)
	}
	for _, n := range r.nodes {
		for _, c := range n.conns {
			x, y := c.client.cfg.Name, n.cfg.Name
			if c.isCut || !(x == a && y == b || x == b && y == a) {
				continue
			}
			_ = c.fromClient.SetLinger(0)
			c.cut()
			r.emit(trace.Event{Kind: trace.KindReset, Process: x, Peer: y, Conn: c.number})
			r.emit(trace.Event{Kind: trace.KindReset, Process: y, Peer: x, Conn: c.number})
		}
	}
}
