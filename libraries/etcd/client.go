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

// Config is the client's own defaults, with all members of the cluster as its endpoints.
// What is not a default is what a world needs, and what would only cost it time:
//
//   - Connections are made by Env.Dial.
//   - What has no context of its own, as what Mutex.Lock cleans up after it has failed, has
//     Env.Process.
//   - Nothing is logged: what goes wrong is also returned.
//   - There is no jitter in the pauses between two attempts, of a request (25 ms) or of a
//     connection (1 s at first, 1.6 times as long each time, 120 s at most): it comes from
//     sources that cannot be seeded.
//   - The windows of flow control are fixed at 64 KiB. By default the client measures the
//     network with a ping after most answers, and raises them to what it finds.
//   - Buffers of 4 KiB for each connection instead of 32.
//
// The defaults that matter most to a lock: no keep-alive of the connection, so that a
// connection on which nothing comes any more is never given up; requests wait for a
// connection as long as their context lets them, and none of them has a deadline of its
// own; a request that may be sent twice, which writes may not, is sent up to a hundred times
// while the answer is that the server is not available.
func Config(e *locks.Env) clientv3.Config {
	return clientv3.Config{
		Endpoints: e.Nodes,
		Context:   e.Process(),
		Logger:    zap.NewNop(),
		// Too small to change a single nanosecond; 0 would be the default of a tenth.
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

// Open makes a client. In a world its goroutines take turns, so that what they do does not
// depend on the scheduler, and requests go to the endpoints in turn. Env.Close closes it.
func Open(e *locks.Env, config clientv3.Config) (*clientv3.Client, error) {
	if len(config.Endpoints) == 0 {
		return nil, errors.New("etcd has no endpoint: a lock on it needs at least one node")
	}
	if e.Turn != nil {
		config.DialOptions = append(config.DialOptions, inTurns(e)...)
	}
	c, err := clientv3.New(config)
	if err != nil {
		return nil, err
	}
	e.Cleanup(func() {
		_ = c.Close() // that it was cancelled, which is what closing it means
		if e.Turn != nil {
			// It leaves goroutines behind that try for a quarter of a second to tell those
			// who watch that it is over, and none may outlive a world.
			time.Sleep(time.Second)
		}
	})
	return c, nil
}

// Client is the process's client, made as [Config] says: always the same one, to be asked
// for when a lock is made and not from several goroutines.
func Client(e *locks.Env) (*clientv3.Client, error) {
	return shared(e, "etcd client", Config(e))
}

// localClient is as Client, but has one endpoint: the member of the process's own number,
// as an application has that runs beside it. That of client-1 is the first.
func localClient(e *locks.Env) (*clientv3.Client, error) { return memberClient(e, number(e.Client)) }

// memberClient has the n-th member for its only endpoint, counted from 1 and round; all of
// them if n is 0.
func memberClient(e *locks.Env, n int) (*clientv3.Client, error) {
	config := Config(e)
	if n > 0 && len(config.Endpoints) > 0 {
		i := (n - 1) % len(config.Endpoints)
		config.Endpoints = config.Endpoints[i : i+1]
	}
	return shared(e, "etcd client of "+strings.Join(config.Endpoints, ", "), config)
}

// number is that at the end of a name, 0 if there is none.
func number(name string) int {
	n, _ := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	return n
}

func shared(e *locks.Env, name string, config clientv3.Config) (*clientv3.Client, error) {
	made := locks.Share(e, name, func() opened {
		c, err := Open(e, config)
		return opened{c, err}
	})
	return made.client, made.err
}

type opened struct {
	client *clientv3.Client
	err    error
}
