package sim

import (
	"fmt"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A storageConn is a process's connection to the storage, or to a service that passes requests on
// to the storage. At most one request at a time is pending on a storageConn. It opens a new
// connection when the old one has ended.
type storageConn struct {
	p       *process // the process that sends the requests
	peer    *process // the storage or the service
	conn    *conn
	isOpen  bool
	pending *storageCall // the request that has no response yet, or nil
}

// A storageCall is one request to the storage, with its origin (the client for which it is sent)
// and the services that still have to pass it on. onResult is called with the response, or with an
// error if there is none.
type storageCall struct {
	request           storage.Request
	remainingServices []string
	origin            origin
	onResult          func(storage.Response, error)
}

// serviceRequest is the body of a request that a service receives.
type serviceRequest struct {
	request           storage.Request
	remainingServices []string
}

// serviceFailure is the body of a service's answer if the service got no response from the
// storage.
type serviceFailure struct{ error }

// connect opens a connection, and sends the pending request when the connection is open.
func (c *storageConn) connect() {
	c.isOpen = false
	c.conn = c.p.w.connect(c.p, c.peer, c, func(conn *conn, err error) {
		c.conn, c.isOpen = conn, err == nil
		if err != nil {
			c.finish(storage.Response{}, fmt.Errorf("dial %s: %w", c.peer.name, err))
		} else if c.pending != nil {
			c.send()
		}
	})
}

// call sends a request. It opens a new connection first if there is none.
func (c *storageConn) call(k *storageCall) {
	c.pending = k
	switch {
	case c.conn == nil || c.conn.clientEnd == nil:
		c.connect()
	case c.isOpen:
		c.send()
	}
}

// send sends the pending request.
func (c *storageConn) send() {
	k := c.pending
	m := &message{body: k.request, text: describeRequest(k.request), origin: k.origin}
	if c.peer.role == trace.RoleService {
		m.body = serviceRequest{k.request, k.remainingServices}
	}
	c.conn.sendRequest(m)
}

// giveUp stops waiting for the response to the pending request, and closes the connection.
// The request may still arrive at the server.
func (c *storageConn) giveUp() {
	c.pending = nil
	c.conn.close()
}

// finish ends the pending request with its result.
func (c *storageConn) finish(r storage.Response, err error) {
	if k := c.pending; k != nil {
		c.pending = nil
		k.onResult(r, err)
	}
}

// receive ends the pending request with its response. With hangUp, it makes a storageConn an
// [endpoint].
func (c *storageConn) receive(m *message) {
	switch body := m.body.(type) {
	case serviceFailure:
		c.finish(storage.Response{}, body.error)
	case storage.Response:
		c.finish(body, nil)
	}
}

// hangUp ends the pending request with an error, because the connection has ended.
func (c *storageConn) hangUp(reset bool) {
	err := fmt.Errorf("read %s: %w", c.peer.name, errReset)
	if !reset {
		err = fmt.Errorf("read %s: the connection was closed", c.peer.name)
	}
	c.finish(storage.Response{}, err)
}
