package etcd

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/locksim/locksim/locks"
)

// Config returns the client's own defaults, with all members of the cluster as its endpoints. The
// result differs from the defaults only where a world (a simulation) needs that, or where a default
// would waste time:
//
//   - Connections are made by Env.Dial.
//   - Operations without their own context, such as the cleanup after a failed Mutex.Lock, use
//     Env.ProcessContext.
//   - Nothing is logged, because errors are also returned.
//   - The pauses between two attempts have no jitter, because it comes from sources that cannot
//     be seeded. The pause is 25 ms between two attempts of a request. It is 1 s after the first
//     attempt to connect, then 1.6 times as long each time, and 120 s at most.
//   - The windows of flow control are fixed at 64 KiB. By default the client measures the
//     network with a ping after most responses, and raises the windows accordingly.
//   - Each connection has buffers of 4 KiB instead of 32.
//
// These defaults matter most to a lock: Connections have no keep-alive, so the client never
// gives up a connection on which nothing arrives. Requests have no deadline of their own.
// They wait for a connection as long as their context allows. If the response is that the
// server is not available, the client sends a request up to a hundred times. It does so
// only with a request that may be repeated, which a write may not.
func Config(e *locks.Env) clientv3.Config {
	return clientv3.Config{
		Endpoints: e.Nodes,
		Context:   e.ProcessContext(),
		Logger:    zap.NewNop(),
		// This is too small to change a pause by a nanosecond. 0 would mean the default, a
		// tenth.
		BackoffJitterFraction: 1e-18,
		DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
				return e.Dial(ctx, "tcp", addr)
			}),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: time.Second, Multiplier: 1.6, MaxDelay: 120 * time.Second},
				MinConnectTimeout: 20 * time.Second,
			}),
			grpc.WithInitialWindowSize(64 << 10),
			grpc.WithInitialConnWindowSize(64 << 10),
			grpc.WithReadBufferSize(4 << 10),
			grpc.WithWriteBufferSize(4 << 10),
		},
	}
}

// Open makes a client, which Env.Close closes. In a world the client's goroutines take
// turns, so their order does not depend on Go's scheduler, and requests go to one endpoint
// after the other.
func Open(e *locks.Env, config clientv3.Config) (*clientv3.Client, error) {
	if len(config.Endpoints) == 0 {
		return nil, errors.New("etcd has no endpoint: a lock on it needs at least one node")
	}
	if e.WaitTurn != nil {
		config.DialOptions = append(config.DialOptions, takeTurns(e)...)
	}
	c, err := clientv3.New(config)
	if err != nil {
		return nil, err
	}
	e.Cleanup(func() {
		_ = c.Close() // the error only says that the client was cancelled, which closing does
		if e.WaitTurn != nil {
			// For a quarter of a second, goroutines of the client still try to notify
			// watchers that the client is closed. No goroutine may outlive a world.
			time.Sleep(time.Second)
		}
	})
	return c, nil
}

// Client returns the process's client, which is made as [Config] says. Each call returns
// the same client. Call it when a lock is made, and not from several goroutines at a time.
func Client(e *locks.Env) (*clientv3.Client, error) {
	return sharedClient(e, "etcd client", Config(e))
}

// localClient is like [Client], but the client has only one endpoint: client-1 uses the
// first member, and so on. It acts like an application that runs on the same machine as a
// member.
func localClient(e *locks.Env) (*clientv3.Client, error) {
	return memberClient(e, trailingNumber(e.Client))
}

// memberClient returns a client whose only endpoint is the n-th member. n counts from 1; after the
// last member, the count begins again with the first one. n = 0 means all members.
func memberClient(e *locks.Env, n int) (*clientv3.Client, error) {
	config := Config(e)
	if n > 0 && len(config.Endpoints) > 0 {
		i := (n - 1) % len(config.Endpoints)
		config.Endpoints = config.Endpoints[i : i+1]
	}
	return sharedClient(e, "etcd client of "+strings.Join(config.Endpoints, ", "), config)
}

// trailingNumber returns the number after the last hyphen of a name; 0 if there is none.
func trailingNumber(name string) int {
	n, _ := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	return n
}

// sharedClient returns the process's client with this name, and makes it first if there is
// none.
func sharedClient(e *locks.Env, name string, config clientv3.Config) (*clientv3.Client, error) {
	shared := locks.Share(e, name, func() openedClient {
		c, err := Open(e, config)
		return openedClient{c, err}
	})
	return shared.client, shared.err
}

// An openedClient is the result of [Open].
type openedClient struct {
	client *clientv3.Client
	err    error
}
