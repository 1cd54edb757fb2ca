package suites

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// requirements are tests that every lock has to pass, whatever its kind.
var requirements = []struct {
	name string
	test func(t *testing.T, c *Cluster, client func() locks.Lock)
}{
	{"a held lock is not granted again", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		Acquire(t, client())
		held := c.HeldNodes()
		MustNotAcquire(t, client())
		if !slices.Equal(c.HeldNodes(), held) {
			t.Errorf("a failed attempt moved the key from nodes %v to %v", held, c.HeldNodes())
		}
	}},
	{"a released lock is granted again", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		Release(t, Acquire(t, client()))
		EqualNodes(t, "held after release", c.HeldNodes(), nil)
		Release(t, Acquire(t, client()))
	}},
	{"one handle can be used again", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		l := client()
		Release(t, Acquire(t, l))
		lease := Acquire(t, l)
		MustNotAcquire(t, l)
		Release(t, lease)
	}},
	{"an expired lock is granted again", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		Acquire(t, client())
		time.Sleep(TTL)
		Acquire(t, client())
	}},
	{"release does not free another's lock", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		old := Acquire(t, client())
		time.Sleep(TTL)
		Acquire(t, client())
		if err := old.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
			t.Errorf("release of a lost lock returned %v, want ErrLost", err)
		}
		MustNotAcquire(t, client())
	}},
	{"a lock is lost when its time is over", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		lease := Acquire(t, client())
		time.Sleep(TTL)
		if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrLost) {
			t.Errorf("release returned %v, want ErrLost", err)
		}
	}},
	{"a lease ends before its key", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		left := TimeLeft(t, Acquire(t, client()), fakeclock.System())
		if left > TTL || left < TTL*9/10 {
			t.Errorf("a lease of %v ends in %v", TTL, left)
		}
	}},
	{"extend prolongs", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		lease := Acquire(t, client())
		before := Expires(t, lease)
		time.Sleep(TTL / 2)
		if err := Extend(t, lease); err != nil {
			t.Fatal(err)
		}
		if moved := Expires(t, lease).Sub(before); moved != TTL/2 {
			t.Errorf("the end moved by %v, want %v", moved, TTL/2)
		}
		time.Sleep(TTL * 3 / 4)
		MustNotAcquire(t, client())
		Release(t, lease)
	}},
	{"a lost lock cannot be extended", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		lease := Acquire(t, client())
		time.Sleep(TTL)
		if err := Extend(t, lease); !errors.Is(err, locks.ErrLost) {
			t.Errorf("extend of an expired lock returned %v, want ErrLost", err)
		}
		Acquire(t, client())
		if err := Extend(t, lease); !errors.Is(err, locks.ErrLost) {
			t.Errorf("extend of another's lock returned %v, want ErrLost", err)
		}
	}},
	{"nothing is granted by dead nodes", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		for _, n := range c.Nodes {
			n.Down = true
		}
		Contains(t, MustNotAcquire(t, client()), "connection refused")
	}},
	{"a request whose answer is lost is not sent again", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		for _, n := range c.Nodes {
			n.CutsAfter = func(command string) bool { return TakesKey(command) || command == "PEXPIRE" }
		}
		MustNotAcquire(t, client())
		sent := 0
		for _, command := range c.Commands() {
			if strings.HasSuffix(command, " SET") || strings.HasSuffix(command, "SETNX") {
				sent++
			}
		}
		if sent != len(c.Nodes) {
			t.Errorf("SET was sent %d times to %d nodes", sent, len(c.Nodes))
		}
	}},
	{"the context bounds an attempt", func(t *testing.T, c *Cluster, client func() locks.Lock) {
		for _, n := range c.Nodes {
			n.Mute = true
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

// A Subject is a lock under test, with its nodes and settings.
type Subject struct {
	Name, Kind string
	// Nodes is the number of its nodes.
	Nodes    int
	Settings []Setting
	// Except names the requirements that the lock need not meet.
	Except []string
}

// CheckRequirements tests each subject against all requirements. It fails the test if there
// is no subject for a lock that mustTest selects. Locks that are granted to everybody need
// no subject.
func CheckRequirements(t *testing.T, subjects []Subject, mustTest func(locks.Kind) bool) {
	tested := map[string]bool{}
	for _, s := range subjects {
		tested[s.Kind] = true
		excepted := 0
		for _, requirement := range requirements {
			if slices.Contains(s.Except, requirement.name) {
				excepted++
				continue
			}
			t.Run(s.Name+"/"+requirement.name, func(t *testing.T) {
				InBubble(t, s.Nodes, func(t *testing.T, c *Cluster) {
					requirement.test(t, c, func() locks.Lock { return c.Client(t, s.Kind, s.Settings...) })
				})
			})
		}
		if excepted != len(s.Except) {
			t.Errorf("%s has an exception that is not a requirement: %q", s.Name, s.Except)
		}
	}
	for _, kind := range locks.Names() {
		if k, _ := locks.Lookup(kind); !tested[kind] && mustTest(k) && !k.Open {
			t.Errorf("lock %s is registered but not tested", kind)
		}
	}
}

// These are exceptions for [Subject.Except]: requirements that some locks need not meet.
var (
	// EndlessExceptions is for a lock whose grants do not end by themselves or are renewed
	// by the lock, and so cannot be extended.
	EndlessExceptions = []string{
		"an expired lock is granted again", "release does not free another's lock",
		"a lock is lost when its time is over", "extend prolongs", "a lost lock cannot be extended",
	}
	// SilentExceptions is for a lock whose leases do not declare when they end.
	SilentExceptions = []string{"a lease ends before its key", "extend prolongs"}
	// InsistentExceptions is for a lock that sends a request again if it gets no answer, in
	// its own code or by go-redis's defaults.
	InsistentExceptions = []string{"a request whose answer is lost is not sent again"}
)
