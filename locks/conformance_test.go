package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// What every lock must do, whatever its kind.
var conformance = []struct {
	name string
	test func(t *testing.T, c *cluster, client func() locks.Lock)
}{
	{"a held lock is not granted again", func(t *testing.T, c *cluster, client func() locks.Lock) {
		acquire(t, client())
		held := c.held()
		fail(t, client())
		if !slices.Equal(c.held(), held) {
			t.Errorf("a failed attempt moved the key from nodes %v to %v", held, c.held())
		}
	}},
	{"a released lock is granted again", func(t *testing.T, c *cluster, client func() locks.Lock) {
		release(t, acquire(t, client()))
		equal(t, "held after release", c.held(), nil)
		release(t, acquire(t, client()))
	}},
	{"one handle can be used again", func(t *testing.T, c *cluster, client func() locks.Lock) {
		l := client()
		release(t, acquire(t, l))
		lease := acquire(t, l)
		fail(t, l)
		release(t, lease)
	}},
	{"an expired lock is granted again", func(t *testing.T, c *cluster, client func() locks.Lock) {
		acquire(t, client())
		time.Sleep(ttl)
		acquire(t, client())
	}},
	{"release does not free another's lock", func(t *testing.T, c *cluster, client func() locks.Lock) {
		old := acquire(t, client())
		time.Sleep(ttl)
		acquire(t, client())
		if err := old.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
			t.Errorf("release of a lost lock returned %v, want ErrLost", err)
		}
		fail(t, client())
	}},
	{"a lock is lost when its time is over", func(t *testing.T, c *cluster, client func() locks.Lock) {
		lease := acquire(t, client())
		time.Sleep(ttl)
		if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
			t.Errorf("release returned %v, want ErrLost", err)
		}
	}},
	{"a lease ends before its key", func(t *testing.T, c *cluster, client func() locks.Lock) {
		left := left(t, acquire(t, client()), fakeclock.System())
		if left > ttl || left < ttl*9/10 {
			t.Errorf("a lease of %v ends in %v", ttl, left)
		}
	}},
	{"extend prolongs", func(t *testing.T, c *cluster, client func() locks.Lock) {
		lease := acquire(t, client())
		before := expires(t, lease)
		time.Sleep(ttl / 2)
		if err := extend(t, lease); err != nil {
			t.Fatal(err)
		}
		if moved := expires(t, lease).Sub(before); moved != ttl/2 {
			t.Errorf("the end moved by %v, want %v", moved, ttl/2)
		}
		time.Sleep(ttl * 3 / 4)
		fail(t, client())
		release(t, lease)
	}},
	{"a lost lock cannot be extended", func(t *testing.T, c *cluster, client func() locks.Lock) {
		lease := acquire(t, client())
		time.Sleep(ttl)
		if err := extend(t, lease); !errors.Is(err, locks.ErrLost) {
			t.Errorf("extend of an expired lock returned %v, want ErrLost", err)
		}
		acquire(t, client())
		if err := extend(t, lease); !errors.Is(err, locks.ErrLost) {
			t.Errorf("extend of another's lock returned %v, want ErrLost", err)
		}
	}},
	{"nothing is granted by dead nodes", func(t *testing.T, c *cluster, client func() locks.Lock) {
		for _, n := range c.nodes {
			n.down = true
		}
		contains(t, fail(t, client()), "connection refused")
	}},
	{"a request whose answer is lost is not sent again", func(t *testing.T, c *cluster, client func() locks.Lock) {
		for _, n := range c.nodes {
			n.cut = func(command string) bool { return takes(command) || command == "PEXPIRE" }
		}
		fail(t, client())
		sent := 0
		for _, command := range c.commands() {
			if strings.HasSuffix(command, " SET") || strings.HasSuffix(command, "SETNX") {
				sent++
			}
		}
		if sent != len(c.nodes) {
			t.Errorf("SET was sent %d times to %d nodes", sent, len(c.nodes))
		}
	}},
	{"the context bounds an attempt", func(t *testing.T, c *cluster, client func() locks.Lock) {
		for _, n := range c.nodes {
			n.mute = true
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := client().Acquire(ctx)
		if !errors.Is(err, locks.ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Acquire returned %v, want ErrNotAcquired because of the deadline", err)
		}
		if took := time.Since(began); took != 20*time.Millisecond {
			t.Errorf("Acquire took %v, want the context's 20ms", took)
		}
	}},
}

func TestConformance(t *testing.T) {
	// A grant that does not end, or that prolongs itself, cannot be extended.
	endless := []string{
		"an expired lock is granted again", "release does not free another's lock",
		"a lock is lost when its time is over", "extend prolongs", "a lost lock cannot be extended",
	}
	// A grant that does not say when it ends.
	silent := []string{"a lease ends before its key", "extend prolongs"}
	// A lock that sends what it has sent again, by itself or by go-redis's defaults.
	insistent := []string{"a request whose answer is lost is not sent again"}
	// rueidislock deletes its keys after a failed attempt, whether the context has
	// ended or not, and waits for that for up to a TTL.
	rueidislock := slices.Concat(endless, insistent, []string{"a lease ends before its key", "the context bounds an attempt"})
	tests := []struct {
		name, kind string
		nodes      int
		settings   []setting
		except     []string
	}{
		{"single", "single", 1, nil, nil},
		{"single by the wall clock", "single", 1, []setting{by(fakeclock.Wall, fakeclock.System())}, nil},
		{"redlock", "redlock", 5, nil, nil},
		{"redlock all at once", "redlock", 5, []setting{asking(locks.AllAtOnce)}, nil},
		{"redlock on one node", "redlock", 1, nil, nil},
		{"redsync", "redsync", 5, nil, nil},
		{"redsync-retrying", "redsync-retrying", 5, nil, insistent},
		{"redsync-defaults", "redsync-defaults", 5, nil, insistent},
		{"rueidislock", "rueidislock", 1, nil, rueidislock},
		{"rueidislock-strict", "rueidislock-strict", 1, nil, rueidislock},
		{"redislock", "redislock", 1, nil, silent},
		{"redislock-defaults", "redislock-defaults", 1, nil, append(silent, insistent...)},
		{"single-plain-del", "single-plain-del", 1, nil, []string{"release does not free another's lock"}},
		{"single-get-then-del", "single-get-then-del", 1, nil, nil},
		{"single-no-ttl", "single-no-ttl", 1, nil, append(endless, "a lease ends before its key")},
		{"setnx-then-expire", "setnx-then-expire", 1, nil, nil},
		{"single-wait", "single-wait", 1, nil, nil},
		{"single-token", "single-token", 1, nil, nil},
		{"watchdog", "watchdog", 1, nil, endless},
		{"adaptive-ttl", "adaptive-ttl", 1, nil, nil},
		{"circuit-breaker", "circuit-breaker", 1, nil, nil},
		{"circuit-breaker that goes ahead", "circuit-breaker", 1, []setting{fallingBack(locks.GoAhead)}, nil},
	}
	tested := map[string]bool{}
	for _, test := range tests {
		tested[test.kind] = true
		excepted := 0
		for _, must := range conformance {
			if slices.Contains(test.except, must.name) {
				excepted++
				continue
			}
			t.Run(test.name+"/"+must.name, func(t *testing.T) {
				inBubble(t, test.nodes, func(t *testing.T, c *cluster) {
					must.test(t, c, func() locks.Lock { return c.client(t, test.kind, test.settings...) })
				})
			})
		}
		if excepted != len(test.except) {
			t.Errorf("%s is excepted from what no lock must do: %q", test.name, test.except)
		}
	}
	for _, kind := range locks.Names() {
		if k, _ := locks.Lookup(kind); !tested[kind] && !k.Open {
			t.Errorf("lock %s is registered but not tested", kind)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, kind := range locks.Names() {
		k, _ := locks.Lookup(kind)
		slots, quorum := k.Slots("k", 5)
		want, wantQuorum := 1, 1
		switch kind {
		case "redlock", "redsync", "redsync-retrying", "redsync-defaults":
			want, wantQuorum = 5, 3
		case "rueidislock", "rueidislock-strict":
			want, wantQuorum = 3, 2
		case "none":
			want, wantQuorum = 0, 0
		}
		if len(slots) != want || quorum != wantQuorum {
			t.Errorf("%s keeps a grant in %d slots and needs %d; want %d and %d", kind, len(slots), quorum, want, wantQuorum)
		}
		for i, slot := range slots {
			place := locks.Slot{Node: i, Key: "k"}
			if strings.HasPrefix(kind, "rueidislock") {
				place = locks.Slot{Key: fmt.Sprintf("rueidislock:%d:k", i)}
			}
			if slot != place {
				t.Errorf("%s: slot %d is %+v", kind, i, slot)
			}
		}
		if _, err := k.New(&locks.Env{Key: "k", TTL: time.Second}); (err == nil) != k.Open {
			t.Errorf("%s, made without a node: %v", kind, err)
		}
		if k.Endless != (kind == "single-no-ttl") || k.Open != (kind == "none") {
			t.Errorf("%s says that it is endless: %v, and open: %v", kind, k.Endless, k.Open)
		}
	}
}
