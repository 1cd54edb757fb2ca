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

// Goroutines that share a connection are often woken at the same time: when the connection
// breaks, when a new one is made for which all of them wait, or when a context ends. They
// would then send in the order in which they happen to run, which differs from run to run.
// So each of them waits for its turn before it sends. Once a call has a connection, it
// waits for its turn. A stream waits for a turn before each message. The turns are ordered
// by words: strings that describe a request. The words of a call are in its context.

// takeTurns returns the dial options that make the goroutines of a client take turns.
func takeTurns(e *locks.Env) []grpc.DialOption {
	t := &turns{wait: e.WaitTurn, waitAfterTimer: e.WaitAfterTimer, process: e.ProcessContext()}
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(t.unary),
		grpc.WithChainStreamInterceptor(t.stream),
		// The client asks for round robin by itself, which is replaced here.
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"` + balancerName + `": {}}]}`),
	}
}

// turns orders the goroutines that use one client. Both wait and waitAfterTimer wait for a turn;
// the second is for a goroutine that a timer may have woken while the process was paused. See
// [locks.Env].
type turns struct {
	wait           func(words ...string)
	waitAfterTimer func(ctx context.Context, words ...string)
	// process is a context that ends with the process. After that no goroutine waits for a
	// turn, so gRPC would retry on a closed connection without a pause, and no other
	// goroutine would get the time to notice that the connection is closed. Therefore Pick
	// then sleeps for 1 ms.
	process context.Context
	// callCount is the number of calls so far. Each call goes to the next endpoint.
	callCount atomic.Uint32
}

// turn returns a context whose requests have additional words for the order of their turns.
// The words distinguish goroutines that make equal requests, for example each for a lease
// of its own.
func turn(ctx context.Context, words ...string) context.Context {
	return context.WithValue(ctx, turnKey{}, words)
}

// turnKey is the key under which a context has these words.
type turnKey struct{}

// unary is a gRPC interceptor for unary calls. It only notes the words of the call; the
// call waits for its turn in [chooser.Pick].
func (t *turns) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(t.call(ctx, method, messageKey(req)), method, req, reply, cc, opts...)
}

const (
	keepAlive = "/etcdserverpb.Lease/LeaseKeepAlive"
	// keepAliveDelay is how long it takes to open a stream of keep-alives.
	keepAliveDelay = time.Microsecond
)

// stream is a gRPC interceptor for streaming calls. It returns a stream that waits for its
// turn before each message.
func (t *turns) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(t.call(ctx, method), desc, cc, method, opts...)
	switch {
	case err != nil:
		return nil, err
	case method == keepAlive:
		// The client sends the first keep-alive if time has passed since the lease was
		// granted. On a real machine some time always has passed, but in a simulated run
		// none has. Also, the client's loop that looks for expired leases and its loop that
		// sends keep-alives would start at the same moment. They repeat every second and
		// every half second, so their order would be random.
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

// A stream waits for its turn before each message that it sends.
type stream struct {
	grpc.ClientStream
	turns  *turns
	method string
}

// SendMsg implements [grpc.ClientStream].
func (s *stream) SendMsg(m any) error {
	s.turns.wait(s.method, messageKey(m))
	return s.ClientStream.SendMsg(m)
}

// CloseSend implements [grpc.ClientStream].
func (s *stream) CloseSend() error {
	s.turns.wait(s.method)
	return s.ClientStream.CloseSend()
}

// keepAlives is a stream on which the client renews its leases. The client goes through its
// leases in the random order of a map. This stream sends the messages of one moment in the
// order of the lease IDs.
type keepAlives struct {
	grpc.ClientStream
	turns *turns

	mu        sync.Mutex
	isSending bool                                // a goroutine sends the waiting messages
	waiting   map[int64]*pb.LeaseKeepAliveRequest // by lease ID
	sendErr   error                               // the error of an earlier message
}

// SendMsg implements [grpc.ClientStream]. It queues a message and returns the error of an
// earlier one, if any. It may do so, because a stream of gRPC also delays messages until
// there is room for them. While the process is paused, the client keeps queueing messages.
// Only one message is sent for each lease.
func (s *keepAlives) SendMsg(m any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := m.(*pb.LeaseKeepAliveRequest)
	if s.waiting == nil {
		s.waiting = map[int64]*pb.LeaseKeepAliveRequest{}
	}
	s.waiting[r.ID] = r
	if !s.isSending {
		s.isSending = true
		go s.send()
	}
	return s.sendErr
}

// send sends the queued messages. The client's timers, which queue them, also fire while
// the process is paused. When the process resumes, all other goroutines wait, so all
// messages of this moment are in the queue.
func (s *keepAlives) send() {
	for {
		s.turns.waitAfterTimer(context.Background(), keepAlive)
		for _, r := range s.takeWaiting() {
			if err := s.ClientStream.SendMsg(r); err != nil {
				s.mu.Lock()
				s.sendErr = err
				s.mu.Unlock()
			}
		}
		s.mu.Lock()
		s.isSending = len(s.waiting) > 0
		more := s.isSending
		s.mu.Unlock()
		if !more {
			return
		}
	}
}

// takeWaiting removes and returns the queued messages, in the order of the lease IDs.
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

// CloseSend implements [grpc.ClientStream].
func (s *keepAlives) CloseSend() error {
	s.turns.wait(keepAlive)
	return s.ClientStream.CloseSend()
}

// callKey is the key under which the context of a call has the call.
type callKey struct{}

// A call is a gRPC call that waits for its turn, with the words that order the turns.
type call struct {
	*turns
	words []string
}

// call returns the context of a call with these words, and those of [turn].
func (t *turns) call(ctx context.Context, words ...string) context.Context {
	if more, ok := ctx.Value(turnKey{}).([]string); ok {
		words = append(words, more...)
	}
	return context.WithValue(ctx, callKey{}, call{t, words})
}

// balancerName is the name of a gRPC balancer. It works like round robin, which the client
// uses, with two differences. Calls wait for their turn before they choose an endpoint, and
// the first call uses the first endpoint. Round robin itself begins at a random endpoint,
// from a source that cannot be seeded.
const balancerName = "locksim_in_turns"

func init() { balancer.Register(builder{}) }

// builder implements [balancer.Builder].
type builder struct{}

func (builder) Name() string { return balancerName }

func (builder) Build(cc balancer.ClientConn, opts balancer.BuildOptions) balancer.Balancer {
	return balancer.Get(roundrobin.Name).Build(&chooser{ClientConn: cc}, opts)
}

// A chooser makes a balancer choose endpoints by the chooser's own Pick.
type chooser struct {
	balancer.ClientConn
	connected atomic.Pointer[[]endpointsharding.ChildState] // the connected endpoints; nil if there are none
}

// UpdateState implements [balancer.ClientConn]: it replaces the picker of round robin by
// the chooser.
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

// connectedOf returns those of the endpoints that are connected, in the order of their
// addresses.
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

// Pick implements [balancer.Picker]. It chooses among the endpoints that are connected when
// the call has its turn, and not when the call was made. Whether a call was made before or
// after a connection broke is random.
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
		next = call.callCount.Add(1) - 1
	}
	endpoints := *connected
	return endpoints[next%uint32(len(endpoints))].State.Picker.Pick(info)
}
