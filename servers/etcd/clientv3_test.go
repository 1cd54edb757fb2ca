package etcd_test

import (
	"context"
	"fmt"
	"net"
	"time"
	_ "unsafe" // for go:linkname

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/servers/etcd"
)

// valCtxCh is a channel of the client's package. The client derives its watchers' contexts
// from it. The package makes the channel outside of any world, so a goroutine that waits for
// it would stop virtual time. The package never closes the channel, so nil has the same
// effect.
//
//go:linkname valCtxCh go.etcd.io/etcd/client/v3.valCtxCh
var valCtxCh chan struct{}

func init() { valCtxCh = nil }

// newClient returns the real client, which connects to members of the world. By default it has
// only the first member as its endpoint, because it would choose among several endpoints at
// random.
func newClient(env *locks.Env, endpoints ...string) (*clientv3.Client, error) {
	if len(endpoints) == 0 {
		endpoints = env.Nodes[:1]
	}
	return clientv3.New(clientv3.Config{
		Endpoints: endpoints, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return env.Dial(ctx, "tcp", addr) }),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: time.Second, Multiplier: 1.6, MaxDelay: 30 * time.Second}, MinConnectTimeout: 20 * time.Second}),
			grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				env.WaitTurn(method)
				return call(ctx, method, request, reply, cc, opts...)
			}),
			grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
				env.WaitTurn(method)
				s, err := stream(ctx, desc, cc, method, opts...)
				return orderedStream{s, env, method}, err
			}),
			grpc.WithInitialWindowSize(1 << 20), grpc.WithInitialConnWindowSize(1 << 20), // fixed windows; otherwise the client measures the network
		},
	})
}

// An orderedStream is a stream on which the goroutines of one process send one after the other.
type orderedStream struct {
	grpc.ClientStream
	env    *locks.Env
	method string
}

func (s orderedStream) SendMsg(m any) error {
	s.env.WaitTurn(s.method, "message")
	return s.ClientStream.SendMsg(m)
}

// mutex is concurrency.Mutex with one session for each process, through the first member.
var mutex = mutexBy(0, 0)

// mutexBy is [mutex] through other members. client-1 asks the member with the index asked1,
// and all other clients ask the member with the index asked2. 0 is the first member.
func mutexBy(asked1, asked2 int) locks.Kind {
	return locks.Kind{
		Name: "etcd-test", Title: "concurrency.Mutex", System: etcd.Name,
		Slots: func(key string, _ int) ([]locks.Slot, int) { return []locks.Slot{{Node: locks.Cluster, Key: key}}, 1 },
		New: func(env *locks.Env) (locks.Lock, error) {
			l := &mutexLock{env: env}
			member := asked2
			if env.Client == "client-1" {
				member = asked1
			}
			var err error
			if l.client, err = newClient(env, env.Nodes[member]); err != nil {
				return nil, err
			}
			env.Cleanup(func() { l.client.Close() })
			l.session, err = concurrency.NewSession(l.client, concurrency.WithTTL(int(env.TTL/time.Second)))
			return l, err
		},
	}
}

// A mutexLock is the lock of one process.
type mutexLock struct {
	env     *locks.Env
	client  *clientv3.Client
	session *concurrency.Session
}

func (l *mutexLock) Acquire(ctx context.Context) (locks.Lease, error) {
	select {
	case <-l.session.Done():
		// NewSession would ask for the lease without ctx, and wait for as long as the
		// client exists.
		lease, err := l.client.Grant(ctx, int64(l.env.TTL/time.Second))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
		}
		if l.session, err = concurrency.NewSession(l.client, concurrency.WithLease(lease.ID)); err != nil {
			return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
		}
	default:
	}
	m := concurrency.NewMutex(l.session, l.env.Key)
	if err := m.Lock(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	}
	return &mutexLease{l, l.session, m}, nil
}

type mutexLease struct {
	l *mutexLock
	s *concurrency.Session
	m *concurrency.Mutex
}

func (x *mutexLease) Release(ctx context.Context) error { return x.m.Unlock(ctx) }
func (x *mutexLease) Token() uint64                     { return uint64(x.m.Header().Revision) }
func (x *mutexLease) Lost() <-chan struct{}             { return x.s.Done() }
func (x *mutexLease) Session() string                   { return fmt.Sprintf("%x", x.s.Lease()) }
