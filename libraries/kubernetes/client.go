package kubernetes

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/locksim/locksim/locks"
)

// Config returns a configuration for clients of client-go. They reach the API server, which
// is the first node, over a transport that all handles of the process share. It is the
// configuration that client-go uses if only the server's address is given, with these
// differences:
//
//   - HTTP/1.1 without TLS, where client-go speaks HTTP/2 over TLS.
//   - JSON, where client-go v0.37 prefers protobuf.
//   - The rate limiter of the client is off. It would allow five requests a second, and
//     leader election sends far fewer.
//   - In a world, which is a simulation, requests that are made at the same moment are sent
//     in a fixed order.
func Config(e *locks.Env) *rest.Config {
	t := locks.Share(e, "kubernetes", func() *transport { return newTransport(e) })
	c := &rest.Config{Host: "http://" + e.Nodes[0], Transport: t, QPS: -1, UserAgent: "leader-election"}
	c.ContentType, c.AcceptContentTypes = "application/json", "application/json"
	return c
}

// A transport sends the HTTP requests of a process, in an order that is the same in every
// run.
type transport struct {
	*http.Transport
	env *locks.Env

	mu    sync.Mutex
	conns []net.Conn // all that were ever made
}

// newTransport makes a transport with the settings of the one that client-go makes by
// default: tlsTransportCache.get in k8s.io/client-go/transport/cache.go. But Env.Dial makes
// its connections.
func newTransport(e *locks.Env) *transport {
	t := &transport{env: e}
	life := e.Lifetime()
	t.Transport = &http.Transport{
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     90 * time.Second,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
			defer cancel()
			defer context.AfterFunc(life, cancel)()
			conn, err := e.Dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			t.mu.Lock()
			defer t.mu.Unlock()
			t.conns = append(t.conns, conn)
			if e.WaitAfterTimer == nil {
				return conn, nil
			}
			return lateClosingConn{conn, e.WaitAfterTimer, strconv.Itoa(len(t.conns))}, nil
		},
	}
	e.Cleanup(t.close)
	return t
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.env.WaitTurn != nil {
		t.env.WaitTurn(r.Method, r.URL.Path)
	}
	return t.Transport.RoundTrip(r)
}

// A lateClosingConn is a connection that is closed only when the process runs. net/http closes a
// connection mostly because of a timer: no answer has arrived in time. That must not happen while
// the process is paused. Close must not wait until the process resumes, because net/http calls
// Close with a mutex locked.
type lateClosingConn struct {
	net.Conn
	waitUntilRunning func(ctx context.Context, words ...string) // Env.WaitAfterTimer: returns when the process runs
	name             string                                     // the number of the connection within its process
}

// Close implements [net.Conn]. It returns immediately, and the connection is closed when
// the process runs.
func (p lateClosingConn) Close() error {
	go func() {
		p.waitUntilRunning(context.Background(), "close", p.name)
		_ = p.Conn.Close()
	}()
	return nil
}

// close closes all connections.
func (t *transport) close() {
	t.CloseIdleConnections()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.conns {
		_ = c.Close()
	}
}
