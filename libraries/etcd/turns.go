package etcd

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/balancer/endpointsharding"
	"google.golang.org/grpc/balancer/roundrobin"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/locks"
)

// Goroutines that share a connection are often woken together: by its loss, by a new one
// that all of them have waited for, by the end of a context. What they send then goes out
// in the order in which they happen to run. So each waits for its turn before it sends: a
// call once there is a connection for it, and a stream before each message. A call has
// its words, by which its turn comes, in its context.

// inTurns is what makes a connection one whose goroutines take turns.
func inTurns(e *locks.Env) []grpc.DialOption {
	t := &turns{wait: e.Turn, woken: e.Woken, process: e.Process()}
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(t.unary),
		grpc.WithChainStreamInterceptor(t.stream),
		// The client asks for round robin by itself.
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"` + balancing + `": {}}]}`),
	}
}

// turns are those of the goroutines that use one client.
type turns struct {
	wait  func(words ...string)
	woken func(ctx context.Context, words ...string)
	// process is until the process ends. Then all turns come at once, and gRPC would try
	// again on a connection that is gone, without any time in which that can be noticed.
	process context.Context
	// picked counts the calls, of which each goes to the next endpoint.
	picked atomic.Uint32
}

// Turn has the requests that are made with a context take their turns by some more words:
// what tells goroutines apart that ask for the same, such as each for a lease of its own.
func Turn(ctx context.Context, words ...string) context.Context {
	return context.WithValue(ctx, turnKey{}, words)
}

// turnKey is under which a context has more words.
type turnKey struct{}

func (t *turns) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(t.call(ctx, method, said(req)), method, req, reply, cc, opts...)
}

const (
	keepAlive = "/etcdserverpb.Lease/LeaseKeepAlive"
	// keepAliveComesAfter is how long it takes to open a stream of keep-alives.
	keepAliveComesAfter = time.Microsecond
)

func (t *turns) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(t.call(ctx, method), desc, cc, method, opts...)
	switch {
	case err != nil:
		return nil, err
	case method == keepAlive:
		// The client sends the first keep-alive when any time has passed since its lease
		// was granted, which it always has, but not in a world. And its loop that looks
		// for leases whose time is up and the one that sends keep-alives begin at one
		// moment and go round each second and each half: which of them is first would be
		// chance.
		time.Sleep(keepAliveComesAfter)
		return &keepAlives{ClientStream: s, turns: t}, nil
	}
	return &stream{s, t, method}, nil
}

// said is what a message says, so that two can be put in order.
func said(m any) string {
	message, ok := m.(proto.Message)
	if !ok {
		return ""
	}
	bytes, _ := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	return string(bytes)
}

// A stream waits for its turn before each message.
type stream struct {
	grpc.ClientStream
	turns  *turns
	method string
}

func (s *stream) SendMsg(m any) error {
	s.turns.wait(s.method, said(m))
	return s.ClientStream.SendMsg(m)
}

func (s *stream) CloseSend() error {
	s.turns.wait(s.method)
	return s.ClientStream.CloseSend()
}

// keepAlives is a stream on which the client prolongs its leases. It goes through them in
// the order of a map; here those of one moment are sent in the order of the leases.
type keepAlives struct {
	grpc.ClientStream
	turns *turns

	mu      sync.Mutex
	sending bool
	waiting map[int64]*pb.LeaseKeepAliveRequest
	failed  error
}

// SendMsg has a message sent, and returns the error of one before it, if there was one. A
// stream may keep messages anyway until there is room for them. In a pause the client
// goes on asking for what has not been sent yet: that is sent once.
func (s *keepAlives) SendMsg(m any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := m.(*pb.LeaseKeepAliveRequest)
	if s.waiting == nil {
		s.waiting = map[int64]*pb.LeaseKeepAliveRequest{}
	}
	s.waiting[r.ID] = r
	if !s.sending {
		s.sending = true
		go s.send()
	}
	return s.failed
}

// send sends what there is. A keep-alive is what a timer has asked for, and the client's timers
// go off in a pause, too. When it goes on everybody else waits, so all that is to be sent at
// this moment is there.
func (s *keepAlives) send() {
	for {
		s.turns.woken(context.Background(), keepAlive)
		for _, r := range s.take() {
			if err := s.ClientStream.SendMsg(r); err != nil {
				s.mu.Lock()
				s.failed = err
				s.mu.Unlock()
			}
		}
		s.mu.Lock()
		s.sending = len(s.waiting) > 0
		more := s.sending
		s.mu.Unlock()
		if !more {
			return
		}
	}
}

func (s *keepAlives) take() (requests []*pb.LeaseKeepAliveRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.waiting {
		requests = append(requests, r)
	}
	clear(s.waiting)
	slices.SortFunc(requests, func(a, b *pb.LeaseKeepAliveRequest) int { return cmp.Compare(a.ID, b.ID) })
	return requests
}

func (s *keepAlives) CloseSend() error {
	s.turns.wait(keepAlive)
	return s.ClientStream.CloseSend()
}

// callKey is under which the context of a call has the call.
type callKey struct{}

type call struct {
	*turns
	words []string
}

func (t *turns) call(ctx context.Context, words ...string) context.Context {
	if more, ok := ctx.Value(turnKey{}).([]string); ok {
		words = append(words, more...)
	}
	return context.WithValue(ctx, callKey{}, call{t, words})
}

// balancing is round robin, as the client has it, where calls wait for their turn
// before they choose an endpoint, and begin with the first: round robin itself begins
// anywhere, by a source that cannot be seeded.
const balancing = "locksim_in_turns"

func init() { balancer.Register(builder{}) }

type builder struct{}

func (builder) Name() string { return balancing }

func (builder) Build(cc balancer.ClientConn, opts balancer.BuildOptions) balancer.Balancer {
	return balancer.Get(roundrobin.Name).Build(&chooser{ClientConn: cc}, opts)
}

// A chooser is the connection as round robin has it: how an endpoint is chosen is changed
// on the way.
type chooser struct {
	balancer.ClientConn
	connected atomic.Pointer[[]endpointsharding.ChildState] // nil if there is none
}

func (c *chooser) UpdateState(s balancer.State) {
	var connected *[]endpointsharding.ChildState
	if s.ConnectivityState == connectivity.Ready {
		all := connectedOf(endpointsharding.ChildStatesFromPicker(s.Picker))
		connected = &all
		s.Picker = c
	}
	c.connected.Store(connected)
	c.ClientConn.UpdateState(s)
}

// connectedOf is the endpoints that are connected, in the order of their addresses.
func connectedOf(all []endpointsharding.ChildState) (connected []endpointsharding.ChildState) {
	for _, endpoint := range all {
		if endpoint.State.ConnectivityState == connectivity.Ready {
			connected = append(connected, endpoint)
		}
	}
	slices.SortFunc(connected, func(a, b endpointsharding.ChildState) int {
		return strings.Compare(a.Endpoint.Addresses[0].Addr, b.Endpoint.Addresses[0].Addr)
	})
	return connected
}

// Pick chooses among the endpoints that are connected when the call has its turn: whether
// it asked before some connection was lost or after that is chance.
func (c *chooser) Pick(info balancer.PickInfo) (balancer.PickResult, error) {
	call, ours := info.Ctx.Value(callKey{}).(call)
	if ours {
		call.wait(call.words...)
		if call.process.Err() != nil {
			time.Sleep(time.Millisecond)
		}
	}
	connected := c.connected.Load()
	if connected == nil {
		return balancer.PickResult{}, balancer.ErrNoSubConnAvailable
	}
	next := uint32(0)
	if ours {
		next = call.picked.Add(1) - 1
	}
	endpoints := *connected
	return endpoints[next%uint32(len(endpoints))].State.Picker.Pick(info)
}
