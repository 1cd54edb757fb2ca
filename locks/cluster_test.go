package locks_test

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
	"github.com/locksim/locksim/locks"
)

const (
	key = "resource"
	ttl = 30 * time.Second
)

// cluster is a few Redis nodes in a bubble, without a network between them and
// their clients.
type cluster struct {
	began time.Time
	nodes []*node

	mu  sync.Mutex
	log []string
}

type node struct {
	*miniredis.Miniredis
	addr string
	// down refuses connections and mute lets a dial hang.
	down, mute bool
	// cut says for which commands the node closes the connection, when they are
	// done, instead of answering.
	cut func(command string) bool
	// replicas is how many the node says have confirmed what was written.
	replicas int
	// replies says how long the answer to a command takes; that to a script, by
	// the last command in it.
	replies func(command string) time.Duration

	last string // the command that is being served
}

// inBubble runs a test with n nodes.
func inBubble(t *testing.T, n int, test func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{began: time.Now()}
		for i := range n {
			c.nodes = append(c.nodes, c.newNode(t, i))
		}
		test(t, c)
	})
}

func (c *cluster) newNode(t *testing.T, i int) *node {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	t.Cleanup(m.Close)
	first, err := m.Dial() // makes the server
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	n := &node{
		Miniredis: m,
		addr:      fmt.Sprintf("10.0.0.%d:6379", i+1),
		cut:       func(string) bool { return false },
		replicas:  1,
		replies:   func(string) time.Duration { return 0 },
	}
	m.Server().SetPreHook(func(p *server.Peer, command string, args ...string) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		n.last = command
		if command != "HELLO" {
			c.log = append(c.log, fmt.Sprintf("%v node %d %s", time.Since(c.began), i+1, command))
		}
		if command == "WAIT" { // miniredis has no replicas
			p.WriteInt(n.replicas)
			return true
		}
		return false
	})
	return n
}

// change changes how the nodes behave while clients may be asking them.
func (c *cluster) change(how func(*node)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		how(n)
	}
}

// commands is what the nodes were asked since the last call, as "TIME node N
// COMMAND".
func (c *cluster) commands() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.log
	c.log = nil
	return log
}

// slowly is a server's end of a connection, whose answers take their time. The
// server itself goes on: it writes with a mutex locked.
type slowly struct {
	net.Conn
	c *cluster
	n *node
}

func (s slowly) Write(b []byte) (int, error) {
	s.c.mu.Lock()
	wait, cut := s.n.replies(s.n.last), s.n.cut(s.n.last)
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

func (c *cluster) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	for _, n := range c.nodes {
		c.mu.Lock()
		down, mute := n.down, n.mute
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
			n.Server().ServeConn(slowly{srv, c, n})
			return socket{client}, nil
		}
	}
	return nil, fmt.Errorf("no node at %s %s", network, addr)
}

// socket takes deadlines after the other end has hung up, as those of a kernel do:
// a pipe would not, and then chance decides by which error the client learns of it.
type socket struct{ net.Conn }

func (s socket) SetReadDeadline(t time.Time) error {
	if err := s.Conn.SetReadDeadline(t); err != io.ErrClosedPipe {
		return err
	}
	return nil
}

// takes says whether a command is the one by which some lock takes the key: the
// last one in its script, if it has a script.
func takes(command string) bool { return command == "SET" || command == "SETNX" || command == "INCR" }

// take sets the lock's key on some nodes, counted from 1, for somebody else.
func (c *cluster) take(t *testing.T, nodes ...int) {
	t.Helper()
	for _, i := range nodes {
		if err := c.nodes[i-1].Set(key, "somebody else"); err != nil {
			t.Fatal(err)
		}
	}
}

// held is the numbers, from 1, of the nodes on which the lock's key stands with
// another value than that of take.
func (c *cluster) held() (nodes []int) {
	for i, n := range c.nodes {
		if value, err := n.Get(key); err == nil && value != "somebody else" {
			nodes = append(nodes, i+1)
		}
	}
	return nodes
}

var all = []int{1, 2, 3, 4, 5}

// A setting changes the environment of a lock.
type setting func(*locks.Env)

func without(features ...string) setting {
	return func(e *locks.Env) { e.Options.Without = features }
}

func asking(a locks.Ask) setting { return func(e *locks.Env) { e.Options.Ask = a } }

func fallingBack(f locks.Fallback) setting { return func(e *locks.Env) { e.Options.Fallback = f } }

func lasting(d time.Duration) setting { return func(e *locks.Env) { e.TTL = d } }

func by(k fakeclock.Kind, c fakeclock.Clock) setting {
	return func(e *locks.Env) { e.Options.Clock, e.Clock = k, c }
}

// seed makes every client of a test binary another one.
var seed uint64

// env is a new client's environment.
func (c *cluster) env() *locks.Env {
	seed++
	var bytes [32]byte
	bytes[0], bytes[1] = byte(seed), byte(seed>>8)
	e := &locks.Env{
		Key:   key,
		TTL:   ttl,
		Dial:  c.dial,
		Clock: fakeclock.System(),
		Rand:  rand.NewChaCha8(bytes),
	}
	for _, n := range c.nodes {
		e.Nodes = append(e.Nodes, n.addr)
	}
	return e
}

// client is a new client's handle on the lock.
func (c *cluster) client(t *testing.T, kind string, settings ...setting) locks.Lock {
	t.Helper()
	e := c.env()
	for _, set := range settings {
		set(e)
	}
	k, ok := locks.Lookup(kind)
	if !ok {
		t.Fatalf("no lock is called %s", kind)
	}
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

func acquire(t *testing.T, l locks.Lock) locks.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// fail has an attempt fail and returns what the error says.
func fail(t *testing.T, l locks.Lock) string {
	t.Helper()
	_, err := l.Acquire(t.Context())
	if !errors.Is(err, locks.ErrNotAcquired) {
		t.Fatalf("Acquire returned %v, want ErrNotAcquired", err)
	}
	return err.Error()
}

func release(t *testing.T, l locks.Lease) {
	t.Helper()
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func extend(t *testing.T, l locks.Lease) error {
	t.Helper()
	e, ok := l.(locks.Extender)
	if !ok {
		t.Fatal("the lease cannot be extended")
	}
	return e.Extend(t.Context())
}

func expires(t *testing.T, l locks.Lease) fakeclock.Reading {
	t.Helper()
	e, ok := l.(locks.Expirer)
	if !ok {
		t.Fatal("the lease does not say when it ends")
	}
	return e.Expires()
}

// left is the time until a lease ends by a clock.
func left(t *testing.T, l locks.Lease, c fakeclock.Clock) time.Duration {
	t.Helper()
	ends := expires(t, l)
	return ends.Sub(c.Read(ends.Clock))
}

func equal(t *testing.T, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: nodes %v, want %v", what, got, want)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
}
