package consul

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
)

// Client makes a client of Consul. Call it when a lock is made. All clients of a process
// share their connections, which Env.Close closes. One connection is opened before the run
// begins.
//
// It is the client of consul/api on a transport of github.com/hashicorp/go-cleanhttp, with
// these differences:
//
//   - Connections are made by Env.Dial. As in go-cleanhttp, a dial is given up after 30 s.
//   - Up to five idle connections are kept. go-cleanhttp keeps one more than the number of
//     processors, so runs would depend on the machine. Idle connections are not closed after
//     90 s, because that timer does not use the process's clock.
//   - In a world, which is a simulation, requests take turns. A paused process sends nothing
//     until it resumes.
//   - The network has no TCP keep-alives. A real connection that is idle and on which nothing
//     can arrive any more breaks after 165 s: go-cleanhttp's 30 s, and nine probes of the
//     kernel, one every 15 s.
//
// Requests have no timeout: consul/api sets none, and its Lock passes no context.
func Client(e *locks.Env) (*api.Client, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("a lock on Consul needs a server, but there is none")
	}
	shared := locks.Share(e, "consul", func() *connections { return connect(e) })
	shared.clients++
	return api.NewClient(&api.Config{
		Address: e.Nodes[0], Scheme: "http",
		HttpClient: &http.Client{Transport: turnTransport{shared.transport, e, strconv.Itoa(shared.clients)}},
	})
}

// connections are what all clients of a process share.
type connections struct {
	transport *http.Transport
	clients   int // the number of clients that were made
}

// connect makes the transport of a process, and opens a connection before the run begins.
func connect(e *locks.Env) *connections {
	life := e.Lifetime()
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
			defer cancel()
			defer context.AfterFunc(life, cancel)()
			return e.Dial(ctx, network, addr)
		},
		MaxIdleConns: 100, MaxIdleConnsPerHost: 5,
		ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10,
	}
	e.Cleanup(t.CloseIdleConnections)
	e.OnWarmUp(func(ctx context.Context) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.Nodes[0]+"/v1/status/leader", nil)
		if err != nil {
			return
		}
		if answer, err := t.RoundTrip(r); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
	})
	return &connections{transport: t}
}

// A turnTransport sends requests in an order that is the same in every run. Timers and
// answers can wake several goroutines at the same moment, such as one that renews a session
// and one that reads a key.
type turnTransport struct {
	transport *http.Transport
	env       *locks.Env
	client    string // the number of the client within its process
}

// RoundTrip implements [http.RoundTripper].
func (t turnTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.env.WaitAfterTimer != nil {
		t.env.WaitAfterTimer(r.Context(), requestWords(r, t.client)...)
	}
	return t.transport.RoundTrip(r)
}

// requestWords returns the words by which a request is ordered. Words that may be random,
// such as a session ID, come after the method and the endpoint.
func requestWords(r *http.Request, client string) []string {
	all := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	words := append([]string{r.Method}, all...)
	query := r.URL.Query()
	for _, name := range []string{"acquire", "release", "cas", "index", "wait", "consistent"} {
		if query.Has(name) {
			words = append(words, name, query.Get(name))
		}
	}
	return slices.Concat(words, []string{client})
}

// describeError returns the text of an error. It is the same whichever goroutine of
// net/http has noticed the error first: each of them reports a broken connection in other
// words.
func describeError(err error) string {
	var op *net.OpError
	var status api.StatusError
	reason := answers.Reason(err)
	switch {
	case reason == "timed out", reason == "cancelled":
		return reason
	case errors.As(err, &status):
		return status.Error()
	case errors.As(err, &op) && op.Op == "dial":
		return op.Err.Error() // without the address, which adds nothing
	case errors.As(err, &op), errors.Is(err, io.EOF), strings.Contains(reason, "EOF"), strings.Contains(reason, "http: "), strings.Contains(reason, "tcp"):
		return "the connection broke"
	}
	return reason
}
