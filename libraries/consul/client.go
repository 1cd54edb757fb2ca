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

// Client makes a client; call it when a lock is made. All clients of a process share its
// connections, which Env.Close closes. One connection is opened before the run begins.
//
// The client is as consul/api makes it, on a transport as github.com/hashicorp/go-cleanhttp
// makes it, except for this:
//
//   - Connections are made by Env.Dial. A dial is given up after 30 s, as there.
//   - Up to five idle connections are kept, whatever the number of processors; there, one more
//     than the number of processors. They are not closed after 90 s, because that timer does
//     not use the process's clock.
//   - In a world requests take turns, and those of a paused process wait until it resumes, as
//     everything does that waits for a timer.
//   - The network has no TCP keep-alives. A real connection on which nothing arrives any more,
//     and on which nothing is under way, breaks after 165 s: 30 s as there, and nine probes of
//     the kernel, one each 15 s.
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

// connections are the connections of a process.
type connections struct {
	transport *http.Transport
	clients   int
}

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

// turnTransport makes a process send its requests in an order that is not random:
// goroutines that timers and answers wake together renew sessions, read keys and do the
// work.
type turnTransport struct {
	transport *http.Transport
	env       *locks.Env
	client    string // the number of the process's client
}

// RoundTrip implements [http.RoundTripper].
func (t turnTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.env.WaitAfterTimer != nil {
		t.env.WaitAfterTimer(r.Context(), requestWords(r, t.client)...)
	}
	return t.transport.RoundTrip(r)
}

// requestWords returns the words of a request by which it is ordered: the method, the
// endpoint, and then what may be random, such as a session.
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

// describeError returns the text of an error, without what depends on which of net/http's
// goroutines saw it first: each of them reports a broken connection in its own words.
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
		return op.Err.Error() // without the address
	case errors.As(err, &op), errors.Is(err, io.EOF), strings.Contains(reason, "EOF"), strings.Contains(reason, "http: "), strings.Contains(reason, "tcp"):
		return "the connection broke"
	}
	return reason
}
