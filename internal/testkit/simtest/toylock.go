package simtest

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// ToyLock is a lock on nodes that are toys: a client holds it if it has taken the key on a
// majority of them.
var ToyLock = locks.Kind{
	Name:     "toy",
	Title:    "a key on most of some toys",
	System:   "toy",
	OwnClock: true,
	Features: []string{"value-check"},
	Slots: func(key string, nodes int) (slots []locks.Slot, quorum int) {
		for i := range nodes {
			slots = append(slots, locks.Slot{Node: i, Key: key})
		}
		return slots, nodes/2 + 1
	},
	New: func(env *locks.Env) (locks.Lock, error) {
		l := &toyLock{env: env}
		for i := range env.Nodes {
			l.nodes = append(l.nodes, newToyClient(env, env.Nodes[i]))
		}
		return l, nil
	},
}

// ToyTokens is a token source that counts with incr on the first node that counts tokens.
var ToyTokens = locks.TokenSource{
	Name: "toy", Title: "incr on a toy", Counts: true, System: "toy",
	Warm: func(env *locks.Env) { toyCounter(env) },
	Mint: func(ctx context.Context, env *locks.Env) (token uint64, err error) {
		answer, err := toyCounter(env).Ask(ctx, "incr "+env.Key+":token")
		if err == nil {
			_, err = fmt.Sscan(answer, &token)
		}
		return token, err
	},
}

// toyCounter returns the process's client of the first node that counts tokens.
func toyCounter(env *locks.Env) *ToyClient {
	return locks.Share(env, "toy counter", func() *ToyClient { return newToyClient(env, env.Counters[0]) })
}

// toyLock is a client's handle on a ToyLock.
type toyLock struct {
	env   *locks.Env
	nodes []*ToyClient
}

// toyLease is one grant: the random value that the client has stored, and the end of the
// lease by the process's clock.
type toyLease struct {
	*toyLock
	value string
	ends  fakeclock.Reading
}

func (l *toyLock) Acquire(ctx context.Context) (locks.Lease, error) {
	value := make([]byte, 8)
	l.env.Rand.Read(value) // never fails
	lease := &toyLease{toyLock: l, value: hex.EncodeToString(value)}
	if err := lease.ask(ctx, "take"); err != nil {
		_ = lease.ask(context.WithoutCancel(ctx), "drop")
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	}
	return lease, nil
}

func (l *toyLease) Expires() fakeclock.Reading        { return l.ends }
func (l *toyLease) Extend(ctx context.Context) error  { return l.ask(ctx, "keep") }
func (l *toyLease) Release(ctx context.Context) error { return l.ask(ctx, "drop") }

// ask sends a command to the nodes one by one, and fails unless a majority says yes.
func (l *toyLease) ask(ctx context.Context, verb string) error {
	line := fmt.Sprintf("%s %s %s %d", verb, l.env.Key, l.value, l.env.TTL.Milliseconds())
	if verb == "drop" && !l.env.Options.Has("value-check") {
		line = "drop " + l.env.Key
	}
	began := l.env.Clock.Read(fakeclock.Monotonic)
	yes, answers := 0, []string(nil)
	for _, node := range l.nodes {
		answer, err := node.Ask(ctx, line)
		if err != nil {
			answer = err.Error()
		}
		if answer == "yes" {
			yes++
		}
		answers = append(answers, answer)
	}
	if yes <= len(l.nodes)/2 {
		return fmt.Errorf("they say %s", strings.Join(answers, ", "))
	}
	if verb != "drop" {
		l.ends = began.Add(l.env.TTL)
	}
	return nil
}

// A ToyClient sends requests to one toy, one at a time. It opens a connection when it sends
// the first request, and a new one after a failure.
type ToyClient struct {
	env    *locks.Env
	addr   string
	conn   net.Conn
	reader *bufio.Reader
}

func newToyClient(env *locks.Env, addr string) *ToyClient {
	c := &ToyClient{env: env, addr: addr}
	env.OnWarmUp(func(ctx context.Context) { _ = c.Do(ctx, "ping") })
	return c
}

// Toy returns the process's client of a node, counted from 0.
func Toy(p *sim.Program, node int) *ToyClient { return ToyOf(p.Env(), node) }

// ToyOf is [Toy] for a lock, which has the process's environment.
func ToyOf(env *locks.Env, node int) *ToyClient {
	return locks.Share(env, fmt.Sprint("toy ", node), func() *ToyClient { return newToyClient(env, env.Nodes[node]) })
}

// Do is [ToyClient.Ask] for callers that do not need the answer.
func (c *ToyClient) Do(ctx context.Context, line string) error {
	_, err := c.Ask(ctx, line)
	return err
}

// Ask sends a line and returns the answer, or an error if its context ends before. Like a
// client library, it passes the context's deadline to the connection, and checks whether an
// idle connection is still open before it sends over it.
func (c *ToyClient) Ask(ctx context.Context, line string) (answer string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if c.conn != nil && isStale(c.conn) {
		c.hangUp()
	}
	if c.conn == nil {
		conn, err := c.env.Dial(ctx, "tcp", c.addr)
		if err != nil {
			return "", err
		}
		c.conn, c.reader = conn, bufio.NewReader(conn)
	}
	conn, cancelled := c.conn, func() bool { return false }
	deadline, bounded := ctx.Deadline()
	if conn.SetReadDeadline(deadline); !bounded {
		stop := context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) })
		cancelled = func() bool { return !stop() }
	}
	if _, err = io.WriteString(conn, line+"\n"); err == nil {
		answer, err = c.reader.ReadString('\n')
	}
	switch hasEnded := cancelled(); {
	case hasEnded && err != nil:
		err = ctx.Err()
		fallthrough
	case hasEnded, err != nil:
		c.hangUp()
	}
	return strings.TrimSpace(answer), err
}

// hangUp closes the connection; the next request opens a new one.
func (c *ToyClient) hangUp() {
	c.conn.Close()
	c.conn = nil
}

// isStale reports whether an idle connection must not be used any more.
func isStale(c net.Conn) bool {
	raw, err := c.(syscall.Conn).SyscallConn()
	return err != nil || raw.Read(func(uintptr) bool { return true }) != nil
}
