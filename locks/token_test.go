package locks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/locksim/locksim/locks"
)

// newTokenEnv returns the environment of a new client whose tokens the nodes count.
func newTokenEnv(t *testing.T, c *cluster, settings ...setting) *locks.Env {
	e := c.Env()
	e.Counters, e.Nodes = e.Nodes, nil
	for _, set := range settings {
		set(e)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// source returns the token source with a name.
func source(t *testing.T, name string) locks.TokenSource {
	t.Helper()
	s, ok := locks.LookupTokenSource(name)
	if !ok {
		t.Fatalf("there is no token source %s", name)
	}
	return s
}

// mint returns a new token of a source.
func mint(t *testing.T, name string, e *locks.Env) uint64 {
	t.Helper()
	token, err := source(t, name).Mint(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// mintError asks a source for a token, which must fail, and returns the text of the error.
func mintError(t *testing.T, name string, e *locks.Env) string {
	t.Helper()
	token, err := source(t, name).Mint(t.Context(), e)
	if err == nil {
		t.Fatalf("minted %d, want an error", token)
	}
	return err.Error()
}

// checkToken fails the test if a token is not the expected one.
func checkToken(t *testing.T, what string, got, want uint64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: token %d, want %d", what, got, want)
	}
}

func TestTokenSources(t *testing.T) {
	counts := []string{"incr", "quorum-incr"}
	if got, want := locks.TokenSourceNames(), []string{"clock", "incr", "quorum-incr", "random"}; !slices.Equal(got, want) {
		t.Errorf("the token sources are %q, want %q", got, want)
	}
	for _, name := range locks.TokenSourceNames() {
		s := source(t, name)
		if want := slices.Contains(counts, name); s.Title == "" || s.Counts != want {
			t.Errorf("the source %s has the title %q and counts: %t; want a title and %t", name, s.Title, s.Counts, want)
		}
		inBubble(t, 3, func(t *testing.T, c *cluster) {
			if mint(t, name, newTokenEnv(t, c)) == 0 {
				t.Errorf("%s minted 0, which is no token", name)
			}
		})
		if s.Counts {
			inBubble(t, 0, func(t *testing.T, c *cluster) {
				mustContain(t, mintError(t, name, newTokenEnv(t, c)), "the source "+name+" needs")
			})
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a second token source with the name incr was registered, want a panic")
		}
	}()
	locks.RegisterTokenSource(locks.TokenSource{Name: "incr"})
}

func TestIncrCounts(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *cluster) {
		first, second := newTokenEnv(t, c), newTokenEnv(t, c)
		for want := uint64(1); want < 10; want += 2 {
			checkToken(t, "the first client", mint(t, "incr", first), want)
			checkToken(t, "the second client", mint(t, "incr", second), want+1)
		}
		if count, err := c.Nodes[0].Get(key + ":token"); count != "10" {
			t.Errorf("the counter is %q (%v), want 10", count, err)
		}
		c.Nodes[0].FlushAll()
		checkToken(t, "the first client, after the node has lost its counter", mint(t, "incr", first), 1)
	})
}

func TestIncrUsesTheFirstCounter(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, c *cluster) {
		mint(t, "incr", newTokenEnv(t, c))
		if got, want := c.Commands(), []string{"0s node 1 INCR"}; !slices.Equal(got, want) {
			t.Errorf("commands %q, want %q", got, want)
		}
	})
}

func TestIncrFails(t *testing.T) {
	tests := []struct {
		name string
		fail func(*node) // makes the node fail
		want string      // the error
		took time.Duration
	}{
		{"the node is down", func(n *node) { n.Down = true }, "no fencing token: connection refused", 0},
		{"the node cannot be reached", func(n *node) { n.Mute = true }, "no fencing token: timed out", 5 * time.Second},
		{"the node answers a minute late", func(n *node) { n.AnswerDelay = slowSet(time.Minute) }, "no fencing token: timed out", 5 * time.Second},
		{"the key is not a counter", func(n *node) { n.HSet(key+":token", "a", "b") }, "no fencing token: WRONGTYPE Operation against a key holding the wrong kind of value", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, c *cluster) {
				test.fail(c.Nodes[0])
				began := time.Now()
				if text := mintError(t, "incr", newTokenEnv(t, c)); text != test.want {
					t.Errorf("the error is %q, want %q", text, test.want)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("the attempt to mint took %v, want %v", took, test.took)
				}
			})
		})
	}
}

func TestMintIsBoundedByItsContext(t *testing.T) {
	for _, name := range []string{"incr", "quorum-incr"} {
		inBubble(t, 3, func(t *testing.T, c *cluster) {
			for _, n := range c.Nodes {
				n.Mute = true
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := source(t, name).Mint(ctx, newTokenEnv(t, c))
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 20*time.Millisecond {
				t.Errorf("Mint of %s returned %v after %v, want DeadlineExceeded after 20ms", name, err, took)
			}
		})
	}
}

// setReachable sets which nodes, counted from 1, can be reached by clients.
func setReachable(c *cluster, nodes ...int) {
	for i, n := range c.Nodes {
		n.Mute = !slices.Contains(nodes, i+1)
	}
}

func TestQuorumIncr(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, c *cluster) {
		e := newTokenEnv(t, c)
		checkToken(t, "all nodes are equal", mint(t, "quorum-incr", e), 1)
		if _, err := c.Nodes[1].Incr(key+":token", 10); err != nil {
			t.Fatal(err)
		}
		checkToken(t, "the counter of node 2 is ahead by 10", mint(t, "quorum-incr", e), 12)
		began := time.Now()
		setReachable(c, 1, 3)
		checkToken(t, "node 2 cannot be reached", mint(t, "quorum-incr", newTokenEnv(t, c)), 3)
		if took := time.Since(began); took != 50*time.Millisecond {
			t.Errorf("with a node that cannot be reached Mint took %v, want 50ms", took)
		}
		setReachable(c, 2)
		text := mintError(t, "quorum-incr", newTokenEnv(t, c))
		if want := "no fencing token: 1 of 3 counters answered, at least 2 are needed (node 1: timed out, node 3: timed out)"; text != want {
			t.Errorf("the error is %q, want %q", text, want)
		}
	})
}

// Any two majorities have a node in common, but that node need not have the highest count.
// So a token is issued twice, without any fault of a clock and without a crash.
func TestQuorumIncrMintsATokenTwice(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, c *cluster) {
		for _, holder := range []struct {
			reaches []int
			want    uint64
		}{
			{[]int{1, 2}, 1},
			{[]int{2, 3}, 2},
			{[]int{1, 3}, 2},
		} {
			setReachable(c, holder.reaches...)
			checkToken(t, fmt.Sprint("a holder that can reach the nodes ", holder.reaches), mint(t, "quorum-incr", newTokenEnv(t, c)), holder.want)
		}
	})
}

// Failed attempts have made the count of one node higher than those of the others.
func TestQuorumIncrGoesBack(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, c *cluster) {
		setReachable(c, 2)
		for range 3 {
			mintError(t, "quorum-incr", newTokenEnv(t, c))
		}
		setReachable(c, 2, 3)
		checkToken(t, "the older holder", mint(t, "quorum-incr", newTokenEnv(t, c)), 4)
		setReachable(c, 1, 3)
		checkToken(t, "the newer holder", mint(t, "quorum-incr", newTokenEnv(t, c)), 2)
	})
}

// A warm-up opens the connections to the nodes that count tokens.
func TestWarmUpConnectsCounters(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, c *cluster) {
		e := newTokenEnv(t, c)
		source, _ := locks.LookupTokenSource("quorum-incr")
		source.Warm(e)
		e.WarmUp(t.Context())
		setReachable(c) // no node can be reached by a new connection
		checkToken(t, "over the connections that the warm-up opened", mint(t, "quorum-incr", e), 1)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		mintError(t, "quorum-incr", e)
	})
}

func TestClockToken(t *testing.T) {
	inBubble(t, 0, func(t *testing.T, c *cluster) {
		ahead, behind := newFake(), newFake()
		defer ahead.Close()
		defer behind.Close()
		behind.Jump(-time.Second)
		now := uint64(time.Now().UnixMilli())
		checkToken(t, "the old holder", mint(t, "clock", newTokenEnv(t, c, withClock("", ahead))), now)
		time.Sleep(500*time.Millisecond + 999*time.Microsecond)
		checkToken(t, "the new holder, whose clock is a second behind", mint(t, "clock", newTokenEnv(t, c, withClock("", behind))), now-500)
		behind.Jump(-time.Duration(time.Now().UnixNano()))
		mustContain(t, mintError(t, "clock", newTokenEnv(t, c, withClock("", behind))), "before 1970")
	})
}

func TestRandomToken(t *testing.T) {
	from := func(bytes ...io.Reader) setting {
		return func(e *locks.Env) { e.Rand = io.MultiReader(bytes...) }
	}
	inBubble(t, 0, func(t *testing.T, c *cluster) {
		checkToken(t, "only ones give the highest token", mint(t, "random", newTokenEnv(t, c, from(allOnes()))), 1<<63-1)
		checkToken(t, "after a token 0 another is drawn", mint(t, "random", newTokenEnv(t, c, from(allZeros(), bytes.NewReader([]byte{0, 0, 0, 0, 0, 0, 0, 1}), allOnes()))), 1<<63-1)
		broken := iotest.ErrReader(errors.New("broken"))
		mustContain(t, mintError(t, "random", newTokenEnv(t, c, from(broken))), "cannot draw random bits: broken")

		// Random tokens do not grow from grant to grant.
		e := newTokenEnv(t, c)
		var tokens []uint64
		for range 20 {
			tokens = append(tokens, mint(t, "random", e))
		}
		if slices.IsSorted(tokens) || len(slices.Compact(slices.Sorted(slices.Values(tokens)))) != 20 {
			t.Errorf("20 random tokens are in order, or not all different: %v", tokens)
		}
	})
}
