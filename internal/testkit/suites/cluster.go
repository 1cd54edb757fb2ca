package suites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
)

// Key and TTL are the key and the TTL of the lock in all tests of this package.
const (
	Key = "resource"
	TTL = 30 * time.Second
)

// A Cluster is a few real Redis nodes (miniredis) in a bubble of testing/synctest. Clients
// reach them without a simulated network.
type Cluster struct {
	Nodes []*Node
	Began time.Time

	mu  sync.Mutex
	log []string
}

// A Node is one node of a Cluster.
type Node struct {
	*miniredis.Miniredis
	// Down makes the node refuse connections; Mute makes it ignore them, so a dial never
	// returns.
	Down, Mute bool
	// CutsAfter reports for which commands the node closes the connection instead of
	// answering, after it has executed the command.
	CutsAfter func(command string) bool
	// Replicas is how many replicas, according to the node, have confirmed what was
	// written.
	Replicas int
	// AnswerDelay returns by how long the node delays its answer to a command. For a
	// script, command is the last command in it.
	AnswerDelay func(command string) time.Duration

	addr string

	last string // the command that the node is executing
}

// InBubble runs a test with n nodes in a bubble, where time passes only while all
// goroutines wait.
func InBubble(t *testing.T, n int, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &Cluster{Began: time.Now()}
		for i := range n {
			c.Nodes = append(c.Nodes, c.newNode(t, i))
		}
		test(t, c)
	})
}

// newNode starts the i-th node, counted from 0.
func (c *Cluster) newNode(t *testing.T, i int) *Node {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	t.Cleanup(m.Close)
	first, err := m.Dial() // the first dial makes the server
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	n := &Node{
		Miniredis:   m,
		addr:        fmt.Sprintf("10.0.0.%d:6379", i+1),
		CutsAfter:   func(string) bool { return false },
		Replicas:    1,
		AnswerDelay: func(string) time.Duration { return 0 },
	}
	m.Server().SetPreHook(func(p *server.Peer, command string, args ...string) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		n.last = command
		if command != "HELLO" {
			c.log = append(c.log, fmt.Sprintf("%v node %d %s", time.Since(c.Began), i+1, command))
		}
		if command == "WAIT" { // miniredis has no replicas
			p.WriteInt(n.Replicas)
			return true
		}
		return false
	})
	return n
}

// Change changes how the nodes behave, and may be called while clients use them.
func (c *Cluster) Change(how func(*Node)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.Nodes {
		how(n)
	}
}

// Commands returns the commands that the nodes received since the last call of Commands,
// each as "TIME node N COMMAND".
func (c *Cluster) Commands() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.log
	c.log = nil
	return log
}

// slowConn is a server's end of a connection that delays answers. Write must return without
// waiting, because the server calls it with a mutex locked.
type slowConn struct {
	net.Conn
	c *Cluster
	n *Node
}

// Write writes an answer as the node's settings say: after a delay, or not at all.
func (s slowConn) Write(b []byte) (int, error) {
	s.c.mu.Lock()
	wait, cut := s.n.AnswerDelay(s.n.last), s.n.CutsAfter(s.n.last)
	s.c.mu.Unlock()
	if cut {
		return 0, s.Conn.Close()
	}
	if wait == 0 {
		return s.Conn.Write(b)
	}
	answer := slices.Clone(b)
	time.AfterFunc(wait, func() {
		// The client may have given up.
		_, _ = s.Conn.Write(answer)
	})
	return len(b), nil
}

// Dial opens a connection to the node with an address. It is the [locks.Env.Dial] of the
// clients.
func (c *Cluster) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	for _, n := range c.Nodes {
		c.mu.Lock()
		down, mute := n.Down, n.Mute
		c.mu.Unlock()
		switch {
		case n.addr != addr:
		case down:
			return nil, errors.New("connection refused")
		case mute:
			<-ctx.Done()
			return nil, ctx.Err()
		default:
			client, srv := net.Pipe()
			n.Server().ServeConn(slowConn{srv, c, n})
			return socket{client}, nil
		}
	}
	return nil, fmt.Errorf("no node at %s %s", network, addr)
}

// socket accepts a new deadline even if the other end has closed the connection, as a
// kernel's socket does. A pipe returns an error, and then chance would decide which error
// the client sees when the connection is closed.
type socket struct{ net.Conn }

func (s socket) SetReadDeadline(t time.Time) error {
	if err := s.Conn.SetReadDeadline(t); err != io.ErrClosedPipe {
		return err
	}
	return nil
}

// TakesKey reports whether a lock may acquire its key with this command. For a script,
// command is the last command in it.
func TakesKey(command string) bool {
	return command == "SET" || command == "SETNX" || command == "INCR"
}

// TakeKey sets the lock's key for another client on some nodes, counted from 1.
func (c *Cluster) TakeKey(t *testing.T, nodes ...int) {
	t.Helper()
	for _, i := range nodes {
		if err := c.Nodes[i-1].Set(Key, "somebody else"); err != nil {
			t.Fatal(err)
		}
	}
}

// HeldNodes returns the nodes, counted from 1, on which a client of the test has set the
// lock's key.
func (c *Cluster) HeldNodes() (nodes []int) {
	for i, n := range c.Nodes {
		if value, err := n.Get(Key); err == nil && value != "somebody else" {
			nodes = append(nodes, i+1)
		}
	}
	return nodes
}

// A Setting changes the environment of a lock.
type Setting func(*locks.Env)

// WithoutFeatures turns features off.
func WithoutFeatures(features ...string) Setting {
	return func(e *locks.Env) { e.Options.Without = features }
}

// WithAskOrder sets the order in which the lock asks the nodes.
func WithAskOrder(a locks.Ask) Setting { return func(e *locks.Env) { e.Options.Ask = a } }

// WithFallback sets what the lock does while its nodes do not answer.
func WithFallback(f locks.Fallback) Setting { return func(e *locks.Env) { e.Options.Fallback = f } }

// WithTTL sets the TTL.
func WithTTL(d time.Duration) Setting { return func(e *locks.Env) { e.TTL = d } }

// WithClock sets which kind of clock the lock reads, and the clocks of its process.
func WithClock(k fakeclock.Kind, c fakeclock.Clock) Setting {
	return func(e *locks.Env) { e.Options.Clock, e.Clock = k, c }
}

// seed is different for each client of a test binary, because each needs random values of
// its own.
var seed uint64

// Env returns the environment of a new client.
func (c *Cluster) Env() *locks.Env {
	seed++
	var bytes [32]byte
	bytes[0], bytes[1] = byte(seed), byte(seed>>8)
	e := &locks.Env{
		Key:   Key,
		TTL:   TTL,
		Dial:  c.Dial,
		Clock: fakeclock.System(),
		Rand:  rand.NewChaCha8(bytes),
	}
	for _, n := range c.Nodes {
		e.Nodes = append(e.Nodes, n.addr)
	}
	return e
}

// Client returns a new client's handle on a lock of the given kind.
func (c *Cluster) Client(t *testing.T, kind string, settings ...Setting) locks.Lock {
	t.Helper()
	e := c.Env()
	for _, set := range settings {
		set(e)
	}
	k := simtest.Lock(t, kind)
	if err := k.Check(e.Options); err != nil {
		t.Fatal(err)
	}
	l, err := k.New(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Acquire acquires the lock. An error fails the test.
func Acquire(t *testing.T, l locks.Lock) locks.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// MustNotAcquire tries to acquire the lock, and fails the test unless the error wraps
// ErrNotAcquired. It returns the text of the error.
func MustNotAcquire(t *testing.T, l locks.Lock) string {
	t.Helper()
	_, err := l.Acquire(t.Context())
	if !errors.Is(err, locks.ErrNotAcquired) {
		t.Fatalf("Acquire returned %v, want ErrNotAcquired", err)
	}
	return err.Error()
}

// Release releases a lease; an error fails the test.
func Release(t *testing.T, l locks.Lease) {
	t.Helper()
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Extend extends a lease and returns the error. The test fails if the lease cannot be
// extended.
func Extend(t *testing.T, l locks.Lease) error {
	t.Helper()
	e, ok := l.(locks.Extender)
	if !ok {
		t.Fatal("the lease cannot be extended")
	}
	return e.Extend(t.Context())
}

// Expires returns when a lease ends. The test fails if the lease does not declare that.
func Expires(t *testing.T, l locks.Lease) fakeclock.Reading {
	t.Helper()
	e, ok := l.(locks.Expirer)
	if !ok {
		t.Fatal("the lease does not declare when it ends")
	}
	return e.Expires()
}

// TimeLeft returns the time until a lease ends, according to a clock.
func TimeLeft(t *testing.T, l locks.Lease, c fakeclock.Clock) time.Duration {
	t.Helper()
	ends := Expires(t, l)
	return ends.Sub(c.Read(ends.Clock))
}

// EqualNodes fails the test if two lists of nodes differ.
func EqualNodes(t *testing.T, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: nodes %v, want %v", what, got, want)
	}
}

// Contains fails the test if the text does not contain all parts.
func Contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
}
