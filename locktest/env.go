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

// Env is what the simulated process gives to the lock that runs in it.
type Env struct{ env *locks.Env }

// Key returns the name of the lock. Unless [Config.Slots] says otherwise, it is also the
// key of the grant.
func (e *Env) Key() string { return e.env.Key }

// Client returns the name of the process, for a lock that distinguishes grants by their
// holder.
func (e *Env) Client() string { return e.env.Client }

// TTL returns how long a grant must last. It is positive, and not always a whole number of
// seconds. A lock that does not support this TTL returns an error from [New]; the test
// cases with such a TTL are then skipped.
func (e *Env) TTL() time.Duration { return e.env.TTL }

// Nodes returns the number of nodes, which can differ from [Config.Nodes]: see there.
func (e *Env) Nodes() int { return len(e.env.Nodes) }

// Addr returns the address of a node, as IP:port. Nodes are counted from 0.
func (e *Env) Addr(node int) string { return e.env.Nodes[node] }

// Redis returns a go-redis client of a node, the same one each time. Nodes are counted from
// 0. The client sends each command once, and a context limits the time of the whole
// command. To choose other settings, build a client on [Env.Dialer].
func (e *Env) Redis(node int) *redis.Client { return locks.RedisClient(e.env, node) }

// Dialer returns a function that opens connections to a node. The function ignores the
// address that it is given. A client of any library can be built on it. Nodes are counted
// from 0. The connection is made only when it is first used, so the first write or read
// returns the error of a failed dial.
func (e *Env) Dialer(node int) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return e.env.Dialer(node)
}

// Clock returns the process's clocks. A lock that reads no other clocks can claim
// [Config.OwnClock].
func (e *Env) Clock() fakeclock.Clock { return e.env.Clock }

// Rand returns the process's source of random bytes. Reading it never fails. A lock that
// reads it instead of crypto/rand behaves the same in every replay.
func (e *Env) Rand() io.Reader { return e.env.Rand }

// Warm registers f to be called after all handles are made and before the clients start.
// Use it to open the connections that a long-running process has open. A constructor can
// also do so itself: the network takes no time yet.
func (e *Env) Warm(f func(context.Context)) { e.env.OnWarmUp(f) }

// Cleanup registers f to be called at the end of the world, after everything else, the last
// registered first. Use it to close clients, and to end goroutines that the lock keeps.
func (e *Env) Cleanup(f func()) { e.env.Cleanup(f) }

// Base returns the process in the form in which the locks of package locks receive it. A
// library needs it if its handles or its goroutines share something: see [locks.Share] and
// [locks.Env.WaitTurn].
func (e *Env) Base() *locks.Env { return e.env }
