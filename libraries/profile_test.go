package libraries_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// timesOf returns the times at which node 1 has received a command since the last call.
func timesOf(c *cluster, command string) (at []string) {
	for _, line := range c.Commands() {
		if when, ok := strings.CutSuffix(line, " node 1 "+command); ok {
			at = append(at, when)
		}
	}
	return at
}

// If a node does not answer, the settings of the library limit how long an acquire waits.
func TestWaitForAnAnswer(t *testing.T) {
	for kind, want := range map[string]time.Duration{"redislock": 20 * time.Millisecond, "redislock-defaults": 5 * time.Second} {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, c *cluster) {
				l := c.Client(t, kind)
				release(t, acquire(t, l)) // connected, and the node knows the scripts
				c.Nodes[0].AnswerDelay = func(string) time.Duration { return time.Hour }
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				began := time.Now()
				_, err := l.Acquire(ctx)
				if !errors.Is(err, locks.ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Acquire returned %v, want ErrNotAcquired because of the deadline", err)
				}
				if took := time.Since(began); took != want {
					t.Errorf("an attempt with a deadline of 20ms took %v, want %v", took, want)
				}
			})
		})
	}
}

// If a response is lost, the settings of the library say at which times the request is sent
// again.
func TestRequestsAreSentAgain(t *testing.T) {
	for kind, want := range map[string][]string{
		"redislock":          {"0s"},
		"redislock-defaults": {"0s", "20ms", "40ms", "60ms"},
	} {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, c *cluster) {
				l := c.Client(t, kind)
				release(t, acquire(t, l))
				c.Commands()
				c.Nodes[0].CutsAfter = func(command string) bool { return command == "PEXPIRE" || command == "MSET" }
				contains(t, mustNotAcquire(t, l), "redislock: EOF")
				if got := timesOf(c, "EVALSHA"); !slices.Equal(got, want) {
					t.Errorf("the script was sent at %v, want %v", got, want)
				}
				equalNodes(t, "the nodes that hold the lock, because only the answers were lost", c.HeldNodes(), []int{1})
			})
		})
	}
}

// The response to a release is lost. A client that sends the release only once does not
// know whether the lock was released. A client that sends it again finds the key deleted,
// and cannot know that its own first request has deleted it.
func TestReleaseThatIsSentAgain(t *testing.T) {
	for kind, lost := range map[string]bool{
		"redsync": false, "redislock": false, "redsync-retrying": false,
		"redsync-defaults": true, "redislock-defaults": true,
	} {
		inBubble(t, 1, func(t *testing.T, c *cluster) {
			l := c.Client(t, kind)
			release(t, acquire(t, l))
			lease := acquire(t, l)
			c.Nodes[0].CutsAfter = func(command string) bool { return command == "DEL" }
			if err := lease.Release(t.Context()); err == nil || errors.Is(err, locks.ErrLost) != lost {
				t.Errorf("%s: release: %v; want ErrLost: %v", kind, err, lost)
			}
			equalNodes(t, "held", c.HeldNodes(), nil)
		})
	}
}

// dials runs an acquire with a deadline on a node that does not answer dials. It returns
// the times at which the client has dialled, and how long the acquire has taken.
func dials(t *testing.T, c *cluster, kind string, patience time.Duration, dial func(context.Context) (net.Conn, error)) (at []time.Duration, took time.Duration) {
	t.Helper()
	began := time.Now()
	l := c.Client(t, kind, func(e *locks.Env) {
		e.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			at = append(at, time.Since(began))
			return dial(ctx)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := l.Acquire(ctx); !errors.Is(err, locks.ErrNotAcquired) {
		t.Errorf("Acquire returned %v, want ErrNotAcquired", err)
	}
	took = time.Since(began)
	time.Sleep(time.Minute)
	synctest.Wait()
	return at, took
}

// The settings of the library say at which times a client dials a node that does not accept
// the connection, and how long the request takes.
func TestDialsAreRepeated(t *testing.T) {
	refused := func(context.Context) (net.Conn, error) { return nil, errors.New("connection refused") }
	silence := func(ctx context.Context) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ms := func(n ...time.Duration) []time.Duration {
		for i := range n {
			n[i] *= time.Millisecond
		}
		return n
	}
	tests := []struct {
		name, kind string
		patience   time.Duration // the deadline of the request
		dial       func(context.Context) (net.Conn, error)
		want       []time.Duration // the times of the dials
		took       time.Duration   // the time that the request takes
	}{
		{"strict client, the connection is refused", "redislock", time.Second, refused, ms(0), 0},
		{"strict client, no answer within the deadline", "redislock", time.Second, silence, ms(0), time.Second},
		{"strict client, no answer within the timeout of a dial", "redislock", 20 * time.Second, silence, ms(0), 5 * time.Second},
		{"default client, the connection is refused", "redislock-defaults", time.Second, refused, ms(0, 100, 200, 300, 400), 400 * time.Millisecond},
		// The request gives up at its deadline, but the client continues to dial.
		{"default client, no answer within the deadline", "redislock-defaults", time.Second, silence, ms(0, 5100, 10200, 15300, 20400), time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, c *cluster) {
				at, took := dials(t, c, test.kind, test.patience, test.dial)
				if !slices.Equal(at, test.want) || took != test.took {
					t.Errorf("dialled at %v, and the request took %v; want %v and %v", at, took, test.want, test.took)
				}
			})
		})
	}
}

// A dial may succeed after the request that needed it has given up. The next request uses
// its connection.
func TestLateConnectionIsUsed(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		dialled := 0
		l := c.Client(t, "redislock-defaults", func(e *locks.Env) {
			e.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				dialled++
				time.Sleep(time.Second)
				return c.Dial(ctx, network, addr)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := l.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Acquire returned %v, want that the deadline is exceeded", err)
		}
		time.Sleep(2 * time.Second)
		acquire(t, l)
		if dialled != 1 {
			t.Errorf("dialled %d times, want once", dialled)
		}
	})
}

// When a world ends, nothing of a client may remain, whatever a dial in the background is
// waiting for at that moment.
func TestCloseEndsBackgroundDials(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 5050 * time.Millisecond, 12 * time.Second} {
		inBubble(t, 1, func(t *testing.T, c *cluster) {
			c.Nodes[0].Mute = true
			l := c.Client(t, "redislock-defaults") // the cleanup of the test closes the client
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if _, err := l.Acquire(ctx); err == nil {
				t.Error("a node that does not answer granted the lock")
			}
			time.Sleep(after)
		})
	}
}

// The scheduler may run the goroutines of unmodified libraries and of go-redis in any
// order. That must not change a trace, whatever faults strike.
func TestProfilesAreDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	worlds := map[string][]sim.Fault{
		"no fault":                     nil,
		"client-1 is paused":           {timedFault(5*time.Second, time.Minute, &sim.Pause{Process: "client-1"})},
		"client-1 is cut off":          {timedFault(5*time.Second, 12*time.Second, &sim.Partition{Process: "client-1", From: []string{"redis-1", "redis-2"}})},
		"client-2 is cut off for good": {timedFault(5*time.Second, 0, &sim.Partition{Process: "client-2", From: []string{"redis-1", "redis-2"}})},
		"a node is cut off for good":   {timedFault(0, 0, &sim.Partition{Process: "redis-1", From: []string{"client-1", "client-2"}})},
		"a node restarts":              {timedFault(5*time.Second, time.Second, &sim.CrashFault{Process: "redis-1"})},
		"a node loses power":           {timedFault(5*time.Second, 20*time.Second, &sim.CrashFault{Process: "redis-1", How: trace.PowerLoss})},
		"a node is paused":             {timedFault(5*time.Second, 20*time.Second, &sim.Pause{Process: "redis-1"})},
		"answers come late":            {timedFault(0, 0, &sim.Delay{Process: "redis-1", To: "client-1", By: 6 * time.Second, Direction: sim.To})},
		"requests come late":           {timedFault(0, 0, &sim.Delay{Process: "client-1", To: "redis-1", By: 6 * time.Second, Direction: sim.To})},
		"connections are reset":        {timedFault(5*time.Second, 0, &sim.Reset{Process: "client-2", From: "redis-1"}), timedFault(7*time.Second, 0, &sim.Reset{Process: "client-1", From: "redis-1"})},
	}
	for _, kind := range []string{"redsync", "redsync-retrying", "redsync-defaults", "redislock", "redislock-defaults"} {
		for name, faults := range worlds {
			t.Run(kind+"/"+name, func(t *testing.T) {
				cfg := world(t, kind,
					sim.Client{Name: "client-1", Works: 8 * time.Second, ExtendsEvery: 3 * time.Second, Attempts: 3},
					sim.Client{Name: "client-2", RetryEvery: 2 * time.Second, Attempts: 4})
				cfg.Horizon = time.Minute
				cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "redis-2"}, sim.Node{Name: "redis-3"})
				cfg.Faults = faults
				want := runWithoutDoubts(t, cfg)
				cfg.Disturb = func() {
					for range rand.IntN(4) {
						runtime.Gosched()
					}
				}
				for i := range 3 {
					runtime.GOMAXPROCS(1 << (i % 3))
					if got := runWithoutDoubts(t, cfg); got.Hash() != want.Hash() {
						t.Fatalf("run %d differs: %s", i+2, trace.FirstDifference(want, got))
					}
				}
			})
		}
	}
}
