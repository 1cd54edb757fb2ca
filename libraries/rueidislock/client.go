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

// clientOption returns the options of rueidis: its defaults for one node that is not a
// cluster, and the node's address. The defaults that matter here:
//
//   - All goroutines share one connection. A command that is alone on it is
//     written by its own goroutine, which then reads the answer; if none comes
//     before the context's deadline, the connection is closed. Once two commands
//     meet on it, one goroutine writes for all and one reads, and a command that
//     is given up leaves the connection open.
//   - If the connection breaks, a command that may be sent twice, such as all of
//     rueidislock's scripts, is sent again until its context ends.
//   - A connection that is idle for a second is tested with PING. A connection without
//     an answer for ten seconds is closed.
//   - The context of the first command that needs a connection bounds the dial, to
//     at most five seconds. Others wait for it, whatever their own contexts say.
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

// Open makes a rueidis client, and its connection; if the dial fails, the first command
// tries again. In a world its goroutines take turns, so that their order does not depend on
// the scheduler. Open can serve as a library's builder of clients. The caller must close
// the client.
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

// backoff computes rueidis's pauses before it sends a command again: 2 µs, with as much
// jitter, twice as long each time, and at most a second.
type backoff struct {
	mu     sync.Mutex
	random *rand.Rand
	pauses int
}

func newBackoff(random io.Reader) *backoff {
	var seed [8]byte
	if random != nil {
		_, _ = io.ReadFull(random, seed[:]) // never fails
	}
	return &backoff{random: rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[:]), 0))}
}

// delay is rueidis's own formula, except that no two pauses end in the same nanosecond:
// then chance would decide which goroutine acts first.
func (b *backoff) delay(attempts int, _ rueidis.Completed, _ error) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	base := 1 << min(20, attempts)
	pause := min(time.Second, time.Duration(base+b.random.IntN(base))*time.Microsecond)
	b.pauses++
	now := time.Now()
	ends := now.Add(pause).Truncate(time.Microsecond).Add(time.Duration(b.pauses % 1000))
	return max(ends.Sub(now), 1)
}

// A dialError is the error of a dial. The type distinguishes it from other errors, because
// all goroutines that wait for the connection get the same one.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

// errorText describes an error of rueidis, without anything that depends on which of its
// goroutines has seen it first.
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
		return op.Err.Error() // without the address
	}
	return dial.Error()
}
