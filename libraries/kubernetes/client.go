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

// Config is how the process speaks with the API server, for clients of client-go: the first
// of the nodes, over a transport that all handles of the process share. It is as client-go
// makes one of a configuration that says nothing but where the server is, with these
// differences:
//
//   - HTTP/1.1 without TLS, where client-go speaks HTTP/2 over TLS.
//   - JSON, where client-go v0.37 prefers protobuf.
//   - Its client-side rate limiter is off: it lets five requests a second pass, which leader
//     election never comes near.
//   - In a world the requests of one moment go out in one order.
func Config(e *locks.Env) *rest.Config {
	t := locks.Share(e, "kubernetes", func() *transport { return newTransport(e) })
	c := &rest.Config{Host: "http://" + e.Nodes[0], Transport: t, QPS: -1, UserAgent: "leader-election"}
	c.ContentType, c.AcceptContentTypes = "application/json", "application/json"
	return c
}

// A transport sends requests.
type transport struct {
	*http.Transport
	env *locks.Env

	mu    sync.Mutex
	conns []net.Conn
}

// newTransport is the one that client-go caches by configuration, but for who dials:
// tlsTransportCache.get in k8s.io/client-go/transport/cache.go.
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
			if e.Woken == nil {
				return conn, nil
			}
			return patient{conn, e.Woken, strconv.Itoa(len(t.conns))}, nil
		},
	}
	e.Cleanup(t.close)
	return t
}

// RoundTrip is as in [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.env.Turn != nil {
		t.env.Turn(r.Method, r.URL.Path)
	}
	return t.Transport.RoundTrip(r)
}

// A patient connection is closed when the process runs. What closes one is mostly a timer: that
// the answer has taken too long, which may also be the end of the election. net/http does it
// with a mutex locked, and must not wait.
type patient struct {
	net.Conn
	woken func(ctx context.Context, words ...string)
	name  string // which of the process's
}

// Close is as in [net.Conn].
func (p patient) Close() error {
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
