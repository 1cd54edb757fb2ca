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

// Goroutines that share a connection are often woken together: when it breaks, when a new
// one that all of them wait for is made, or when a context ends. They would then send in
// the order in which they happen to run. So each waits for its turn before it sends: a call
// when there is a connection for it, and a stream before each message. The words that order
// the turns of a call are in its context.

// takeTurns returns the dial options that make the goroutines of a connection take turns.
func takeTurns(e *locks.Env) []grpc.DialOption {
	t := &turns{wait: e.WaitTurn, woken: e.WaitAfterTimer, process: e.ProcessContext()}
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(t.unary),
		grpc.WithChainStreamInterceptor(t.stream),
		// The client asks for round robin by itself.
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"` + balancerName + `": {}}]}`),
	}
}

// turns orders the goroutines that use one client.
type turns struct {
	wait  func(words ...string)
	woken func(ctx context.Context, words ...string)
	// process ends with the process. Then all turns come immediately, and gRPC would keep
	// retrying on a closed connection without giving anybody time to notice that.
	process context.Context
	// picked counts the calls; each goes to the next endpoint.
	picked atomic.Uint32
}

// Turn returns a context whose requests have more words for their turns: words that
// distinguish goroutines which make equal requests, such as each for a lease of its own.
func Turn(ctx context.Context, words ...string) context.Context {
	return context.WithValue(ctx, turnKey{}, words)
}

// turnKey is the key of these words in a context.
type turnKey struct{}

func (t *turns) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(t.call(ctx, method, messageKey(req)), method, req, reply, cc, opts...)
}

const (
	keepAlive = "/etcdserverpb.Lease/LeaseKeepAlive"
	// keepAliveDelay is how long it takes to open a stream of keep-alives.
	keepAliveDelay = time.Microsecond
)

func (t *turns) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(t.call(ctx, method), desc, cc, method, opts...)
	switch {
	case err != nil:
		return nil, err
	case method == keepAlive:
		// The client sends the first keep-alive when time has passed since its lease was
		// granted. It always has in reality, but not in a world. Also, the loop that looks
		// for expired leases and the loop that sends keep-alives start at the same moment
		// and repeat every second and every half second, so their order would be random.
		time.Sleep(keepAliveDelay)
		return &keepAlives{ClientStream: s, turns: t}, nil
	}
	return &stream{s, t, method}, nil
}

// messageKey returns the bytes of a message, by which two messages can be ordered.
func messageKey(m any) string {
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
	s.turns.wait(s.method, messageKey(m))
	return s.ClientStream.SendMsg(m)
}

func (s *stream) CloseSend() error {
	s.turns.wait(s.method)
	return s.ClientStream.CloseSend()
}

// keepAlives is a stream on which the client renews its leases. The client goes through
// them in the random order of a map; here those of one moment are sent in the order of the
// lease IDs.
type keepAlives struct {
	grpc.ClientStream
	turns *turns

	mu      sync.Mutex
	sending bool
	waiting map[int64]*pb.LeaseKeepAliveRequest
	failed  error
}

// SendMsg queues a message and returns the error of an earlier one, if there was one; a
// stream may delay messages until there is room for them anyway. During a pause the client
// keeps asking for keep-alives that have not been sent: each lease's is sent once.
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

// send sends the queued keep-alives. A timer asks for them, and the client's timers fire in
// a pause too. When the process resumes, all others wait, so everything that is to be sent
// at this moment has been queued.
func (s *keepAlives) send() {
	for {
		s.turns.woken(context.Background(), keepAlive)
		for _, r := range s.takeWaiting() {
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

func (s *keepAlives) takeWaiting() (requests []*pb.LeaseKeepAliveRequest) {
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

// callKey is the key of a call in its context.
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

// balancerName is round robin, as the client uses it, except that calls wait for their turn
// before they choose an endpoint, and begin with the first. Round robin itself begins at a
// random endpoint, from a source that cannot be seeded.
const balancerName = "locksim_in_turns"

func init() { balancer.Register(builder{}) }

type builder struct{}

func (builder) Name() string { return balancerName }

func (builder) Build(cc balancer.ClientConn, opts balancer.BuildOptions) balancer.Balancer {
	return balancer.Get(roundrobin.Name).Build(&chooser{ClientConn: cc}, opts)
}

// A chooser replaces the picker of round robin by its own.
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

// connectedOf returns the connected endpoints, in the order of their addresses.
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

// Pick chooses among the endpoints that are connected when the call has its turn: it is
// random whether the call was made before or after a connection broke.
func (c *chooser) Pick(info balancer.PickInfo) (balancer.PickResult, error) {
	call, isOurs := info.Ctx.Value(callKey{}).(call)
	if isOurs {
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
	if isOurs {
		next = call.picked.Add(1) - 1
	}
	endpoints := *connected
	return endpoints[next%uint32(len(endpoints))].State.Picker.Pick(info)
}
