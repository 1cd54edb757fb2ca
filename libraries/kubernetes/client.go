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

// Config returns the configuration with which clients of client-go reach the API server:
// the first of the nodes, over a transport that all handles of the process share. It is the
// one that client-go makes when only the server's address is configured, with these
// differences:
//
//   - HTTP/1.1 without TLS, where client-go speaks HTTP/2 over TLS.
//   - JSON, where client-go v0.37 prefers protobuf.
//   - Its client-side rate limiter is off: it allows five requests a second, which leader
//     election never comes near.
//   - In a world the requests of one moment are sent in a fixed order.
func Config(e *locks.Env) *rest.Config {
	t := locks.Share(e, "kubernetes", func() *transport { return newTransport(e) })
	c := &rest.Config{Host: "http://" + e.Nodes[0], Transport: t, QPS: -1, UserAgent: "leader-election"}
	c.ContentType, c.AcceptContentTypes = "application/json", "application/json"
	return c
}

// A transport sends HTTP requests.
type transport struct {
	*http.Transport
	env *locks.Env

	mu    sync.Mutex
	conns []net.Conn
}

// newTransport makes the transport that client-go caches by configuration, except that
// Env.Dial makes its connections: tlsTransportCache.get in
// k8s.io/client-go/transport/cache.go.
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

// A lateClosingConn is closed only when the process runs. A connection is mostly closed by
// a timer: because the answer has taken too long, which may also end the election. net/http
// calls Close with a mutex locked, so Close must not block.
type lateClosingConn struct {
	net.Conn
	woken func(ctx context.Context, words ...string)
	name  string // the number of the process's connection
}

// Close implements [net.Conn]. It returns immediately; the connection is closed later.
func (p lateClosingConn) Close() error {
	go func() {
		p.woken(context.Background(), "close", p.name)
		_ = p.Conn.Close()
	}()
	return nil
}

func (t *transport) close() {
	t.CloseIdleConnections()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.conns {
		_ = c.Close()
	}
}
