package rueidislock

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/locksim/locksim/internal/answers"
	"github.com/locksim/locksim/locks"
)

// clientOption returns the options of a rueidis client for one node: the node's address, and
// otherwise mostly rueidis's defaults. With these defaults the client works like this:
//
//   - All goroutines share one connection. At first, the goroutine that has a
//     command writes it and reads the answer. If no answer arrives before the
//     context's deadline, it closes the connection. When a second command arrives
//     before the first is answered, this changes for good: one goroutine writes
//     all commands, and one reads all answers. Then a command that misses its
//     deadline leaves the connection open.
//   - If the connection breaks, a command that may be sent twice, such as all of
//     rueidislock's scripts, is sent again until its context ends.
//   - A connection that is idle for a second is tested with PING. A connection without
//     an answer for ten seconds is closed.
//   - The first command that needs a connection dials. The dial is given up when
//     that command's context ends, or after five seconds. Other commands wait for
//     the dial, even if their own contexts end earlier.
//
// These options are not rueidis's defaults:
//
//   - ForceSingleClient: it does not ask whether the node is a cluster.
//   - DisableCache: the simulated nodes do not notify clients of changed keys.
//   - RetryDelay draws its jitter from Env.Rand.
//   - Buffers of 4 KiB instead of 512, and 256 concurrent commands instead of
//     1024: worlds are many and short.
func clientOption(e *locks.Env, node int) rueidis.ClientOption {
	return rueidis.ClientOption{
		InitAddress: []string{e.Nodes[node]},
		DialCtxFn: func(ctx context.Context, addr string, dialer *net.Dialer, _ *tls.Config) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, dialer.Timeout)
			defer cancel()
			conn, err := e.Dial(ctx, "tcp", addr)
			if err != nil {
				return nil, dialError{err}
			}
			return conn, nil
		},
		ForceSingleClient:   true,
		DisableCache:        true,
		RetryDelay:          newBackoff(e.Rand).delay,
		ReadBufferEachConn:  4 << 10,
		WriteBufferEachConn: 4 << 10,
		RingScaleEachConn:   8,
	}
}

// Open makes a rueidis client and connects it; if the dial fails, the first command tries again. In
// a world, which is a simulation, the goroutines that use the client take turns, because otherwise
// their order would depend on the scheduler. A library that builds its own clients, as rueidislock
// does, can call Open instead. The caller must close the client.
func Open(e *locks.Env, o rueidis.ClientOption) (rueidis.Client, error) {
	c, err := rueidis.NewClient(o)
	if c == nil {
		return nil, err
	}
	if e.WaitTurn == nil {
		return c, nil
	}
	return turnClient{c, e.WaitTurn}, nil
}

// A backoff computes how long rueidis waits before it sends a command again: at first 2 µs
// plus a random time of up to as much, then twice as long each time, and at most a second.
type backoff struct {
	mu         sync.Mutex
	random     *rand.Rand
	pauseCount int // how many pauses it has computed
}

// newBackoff makes a backoff whose random times are determined by a source of bytes.
func newBackoff(random io.Reader) *backoff {
	var seed [8]byte
	if random != nil {
		_, _ = io.ReadFull(random, seed[:]) // never fails
	}
	return &backoff{random: rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[:]), 0))}
}

// delay returns the next pause by rueidis's own formula, changed so that no two pauses end
// in the same nanosecond. If two goroutines woke at the same moment, chance would decide
// which acts first.
func (b *backoff) delay(attempts int, _ rueidis.Completed, _ error) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	base := 1 << min(20, attempts)
	pause := min(time.Second, time.Duration(base+b.random.IntN(base))*time.Microsecond)
	b.pauseCount++
	now := time.Now()
	ends := now.Add(pause).Truncate(time.Microsecond).Add(time.Duration(b.pauseCount % 1000))
	return max(ends.Sub(now), 1)
}

// A dialError is the error of a dial. errorText must distinguish it from other errors: all
// goroutines that have waited for the connection get the same one.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

// errorText returns the text of an error of rueidis. It leaves out what depends on which
// goroutine of rueidis has noticed the error first.
func errorText(err error) string {
	var dial dialError
	var op *net.OpError
	var answer *rueidis.RedisError
	switch text := answers.Reason(err); {
	case text == "timed out", text == "cancelled":
		return text
	case errors.As(err, &answer):
		return answer.Error()
	case !errors.As(err, &dial):
		return "the connection broke"
	case errors.As(err, &op):
		return op.Err.Error() // without the address, which adds nothing
	}
	return dial.Error()
}
