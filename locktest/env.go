package locktest

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// Env is what a lock gets from the simulated process that it runs in.
type Env struct{ env *locks.Env }

// Key is the name of the lock. Unless [Config.Slots] says otherwise it is also
// what the lock is kept under.
func (e *Env) Key() string { return e.env.Key }

// Client is the name of the process, for a lock whose grants are told apart by who holds
// them.
func (e *Env) Client() string { return e.env.Client }

// TTL is how long a grant has to last. It is positive, and not always a whole number of
// seconds: a lock that cannot keep to it returns an error from [New], and is not put through
// the stories that have such a TTL.
func (e *Env) TTL() time.Duration { return e.env.TTL }

// Nodes is how many nodes there are. It can be another number than that of
// [Config.Nodes]: see there.
func (e *Env) Nodes() int { return len(e.env.Nodes) }

// Addr is the address of a node, counted from 0, as IP:port.
func (e *Env) Addr(node int) string { return e.env.Nodes[node] }

// Redis is a go-redis client of a node, counted from 0, and the same one each
// time. It sends each command once, and a context bounds the whole of it; for a
// client with settings of your own, build it on [Env.Dialer].
func (e *Env) Redis(node int) *redis.Client { return e.env.Redis(node) }

// Dialer opens connections to a node, counted from 0, whatever address it is
// given. Any client can be built on it. The connection is made when it is
// first used, so that an error of the dial is one of the first write or read.
func (e *Env) Dialer(node int) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return e.env.Dialer(node)
}

// Clock is the process's clocks. A lock that reads no others can claim
// [Config.OwnClock].
func (e *Env) Clock() fakeclock.Clock { return e.env.Clock }

// Rand is the process's source of random bytes. Reading it never fails. A lock
// that draws from it, and not from crypto/rand, is the same in every replay.
func (e *Env) Rand() io.Reader { return e.env.Rand }

// Warm has f called when all handles are made and before the story begins: to open the
// connections that a process which has been running for a while has open. A constructor
// can do so itself: the network takes no time yet.
func (e *Env) Warm(f func(context.Context)) { e.env.Warm(f) }

// Cleanup has f called at the end of the world, after everything else, the last
// first: to close clients, and to end goroutines that the lock keeps.
func (e *Env) Cleanup(f func()) { e.env.Cleanup(f) }

// Base is the process as the locks of package locks take it. It has what a library needs
// whose handles share something, or whose goroutines do: [locks.Share], [locks.Env.Turn].
func (e *Env) Base() *locks.Env { return e.env }
