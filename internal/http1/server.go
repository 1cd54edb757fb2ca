package http1

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Server is the HTTP server of one simulated node. It has no goroutines: the event loop of the
// world calls it.
type Server struct {
	host   *sim.Host
	serve  func(*Call)
	outbox *agenda.Outbox
}

// NewServer makes the HTTP server of a node. It calls serve for each request, once all
// earlier requests on the same connection have been answered.
func NewServer(host *sim.Host, serve func(*Call)) *Server {
	return &Server{host: host, serve: serve, outbox: agenda.NewOutbox(host)}
}

// Do calls f and then sends the answers that f has given. Code that a timer calls must use Do to
// answer. Code that is called to serve a request need not.
func (s *Server) Do(f func()) { s.outbox.Do(f) }

// Crash discards answers that have not been sent. The world has already closed the
// connections.
func (s *Server) Crash() { s.outbox.Crash() }

// ClockChanged does nothing; it implements [sim.Server].
func (s *Server) ClockChanged() {}

// Restart does nothing; it implements [sim.Server].
func (s *Server) Restart() {}

// Stop does nothing; it implements [sim.Server].
func (s *Server) Stop() {}

// Accept implements [sim.Server].
func (s *Server) Accept(end *sim.End) sim.Endpoint { return &conn{s: s, end: end} }

// A conn is the server's end of one connection. Its requests are served one at a time, as
// in net/http.
type conn struct {
	s   *Server
	end *sim.End
	// calls are the requests without an answer, the oldest first. Only the first one is
	// being served.
	calls []*Call
	// isClosed reports whether the connection has ended, so that no more answers are sent.
	isClosed bool
}

// A Call is a request that waits for its answer.
type Call struct {
	*Request
	conn       *conn
	simRequest *sim.Request
	onGone     func()
	isAnswered bool
}

// By returns the client that sent the request, and what it was doing then.
func (call *Call) By() *trace.Actor { return call.simRequest.Sender() }

// Peer returns the name of the process that has sent the request.
func (call *Call) Peer() string { return call.conn.end.Peer() }

// OnGone makes the server call f if the connection ends before the call is answered.
func (call *Call) OnGone(f func()) { call.onGone = f }

// Answer answers the call. A server may also answer after its serve function has returned; then it
// must call Answer within [Server.Do]. Answer does nothing if the connection has ended.
func (call *Call) Answer(a Answer) {
	if call.isAnswered {
		return
	}
	call.onGone = nil
	p := sim.Packet{Bytes: a.encode(call.Request, call.conn.s.host.Clock().Now()), Text: a.Text, ClientEvents: a.ClientEvents}
	if p.Text == "" {
		p.Text = fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status))
	}
	call.finish(p, call.wantsClose)
}

// finish sends the packet that answers a call. Then it closes the connection if last is
// set, and otherwise serves the next call.
func (call *Call) finish(p sim.Packet, last bool) {
	call.isAnswered = true
	c := call.conn
	c.s.outbox.Send(func() {
		if c.isClosed {
			return
		}
		c.end.ReplyTo(call.simRequest, p)
		if last {
			c.isClosed = true
			c.end.Close()
		}
		c.calls = c.calls[1:]
		c.s.Do(c.serveNext)
	})
}

// Receive implements [sim.Endpoint].
func (c *conn) Receive(r *sim.Request) {
	call := &Call{conn: c, simRequest: r}
	call.Request, _ = r.Body.(*Request)
	c.calls = append(c.calls, call)
	if len(c.calls) == 1 {
		c.s.Do(c.serveNext)
	}
}

// serveNext serves the oldest request that has not been answered.
func (c *conn) serveNext() {
	if c.isClosed || len(c.calls) == 0 {
		return
	}
	switch call := c.calls[0]; body := call.simRequest.Body.(type) {
	case expectContinue:
		call.finish(sim.Packet{Bytes: []byte("HTTP/1.1 100 Continue\r\n\r\n"), Text: "100 Continue"}, false)
	case refusal:
		c.s.host.Doubt(fmt.Sprintf("%s sent %s bytes that are no HTTP/1.1 request", c.end.Peer(), c.s.host.Node().Name))
		call.finish(sim.Packet{Bytes: body.encode(), Text: fmt.Sprintf("%d %s", body.Status, http.StatusText(body.Status))}, true)
	default:
		c.s.serve(call)
	}
}

// HangUp implements [sim.Endpoint]. It calls the function given to OnGone for the request
// that is being served. The server does not know of the requests that wait behind this one.
func (c *conn) HangUp(bool) {
	c.isClosed = true
	calls := slices.Clone(c.calls)
	c.calls = nil
	for _, call := range calls {
		call.isAnswered = true
	}
	if len(calls) > 0 && calls[0].onGone != nil {
		calls[0].onGone()
	}
}
