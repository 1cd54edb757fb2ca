package http1

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Server is the HTTP of one node. It belongs to the loop, and has no goroutines.
type Server struct {
	host  *sim.Host
	serve func(*Call)
	out   *agenda.Outbox
}

// NewServer is the HTTP of a node: serve is called with each request whose turn it is.
func NewServer(host *sim.Host, serve func(*Call)) *Server {
	return &Server{host: host, serve: serve, out: agenda.NewOutbox(host)}
}

// Do does something, as a timer of the server's does, and sends what is answered meanwhile.
// Requests are served so anyway.
func (s *Server) Do(f func()) { s.out.Do(f) }

// Crash forgets what was to be sent. The connections have hung up.
func (s *Server) Crash() { s.out.Crash() }

// ClockChanged, Restart and Stop are as in [sim.Server]; there is nothing to do.
func (s *Server) ClockChanged() {}

// Restart is as ClockChanged.
func (s *Server) Restart() {}

// Stop is as ClockChanged.
func (s *Server) Stop() {}

// Accept is as in [sim.Server].
func (s *Server) Accept(end *sim.End) sim.Endpoint { return &conn{s: s, end: end} }

// A conn is the server's end of one connection. Of requests that come before others are
// answered each waits: net/http serves one at a time.
type conn struct {
	s     *Server
	end   *sim.End
	calls []*Call
	// over: nothing is answered any more.
	over bool
}

// A Call is a request that is to be answered.
type Call struct {
	*Request
	c    *conn
	r    *sim.Request
	gone func()
	done bool
}

// By is the client that has asked, and what it was doing then.
func (call *Call) By() *trace.Actor { return call.r.By() }

// Peer is the name of the process that has asked.
func (call *Call) Peer() string { return call.c.end.Peer() }

// Gone has f called if the client closes the connection, or it breaks, before the call is
// answered.
func (call *Call) Gone(f func()) { call.gone = f }

// Answer answers the call, which is over then. It may be called whenever there is an answer,
// within [Server.Do] if nobody has just asked for anything. What answers after the client is
// gone does nothing.
func (call *Call) Answer(a Answer) {
	if call.done {
		return
	}
	call.gone = nil
	p := sim.Packet{Bytes: a.write(call.Request, call.c.s.host.Clock().Now()), Text: a.Text, Learns: a.Learns}
	if p.Text == "" {
		p.Text = fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status))
	}
	call.finish(p, call.closes)
}

// finish sends what a call comes to, and goes on with the next.
func (call *Call) finish(p sim.Packet, last bool) {
	call.done = true
	c := call.c
	c.s.out.Send(func() {
		if c.over {
			return
		}
		c.end.Answer(call.r, p)
		if last {
			c.over = true
			c.end.Close()
		}
		c.calls = c.calls[1:]
		c.s.Do(c.next)
	})
}

// Receive is as in [sim.Endpoint].
func (c *conn) Receive(r *sim.Request) {
	call := &Call{c: c, r: r}
	call.Request, _ = r.Body.(*Request)
	c.calls = append(c.calls, call)
	if len(c.calls) == 1 {
		c.s.Do(c.next)
	}
}

// next serves the request whose turn it is.
func (c *conn) next() {
	if c.over || len(c.calls) == 0 {
		return
	}
	switch call := c.calls[0]; body := call.r.Body.(type) {
	case goesOn:
		call.finish(sim.Packet{Bytes: []byte("HTTP/1.1 100 Continue\r\n\r\n"), Text: "100 Continue"}, false)
	case refusal:
		c.s.host.Doubt(fmt.Sprintf("%s wrote to %s what is no request of HTTP/1.1", c.end.Peer(), c.s.host.Node().Name))
		call.finish(sim.Packet{Bytes: body.write(), Text: fmt.Sprintf("%d %s", body.Status, http.StatusText(body.Status))}, true)
	default:
		c.s.serve(call)
	}
}

// HangUp is as in [sim.Endpoint]. Of its requests the server notices only the one that it is
// about to answer.
func (c *conn) HangUp(bool) {
	c.over = true
	calls := slices.Clone(c.calls)
	c.calls = nil
	for _, call := range calls {
		call.done = true
	}
	if len(calls) > 0 && calls[0].gone != nil {
		calls[0].gone()
	}
}
