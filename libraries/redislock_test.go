package libraries_test

import (
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
)

var redislockKinds = []string{"redislock", "redislock-defaults"}

func TestRedislockExtends(t *testing.T) {
	for _, kind := range redislockKinds {
		inBubble(t, 1, func(t *testing.T, c *cluster) {
			lease := acquire(t, c.Client(t, kind))
			if _, declares := lease.(locks.Expirer); declares {
				t.Error("redislock does not track time, but the lease declares when it ends")
			}
			time.Sleep(ttl / 2)
			if err := extend(t, lease); err != nil {
				t.Fatal(err)
			}
			time.Sleep(ttl - time.Millisecond)
			mustNotAcquire(t, c.Client(t, kind))
			time.Sleep(time.Millisecond)
			acquire(t, c.Client(t, kind))
		})
	}
}

func TestRedislockErrors(t *testing.T) {
	for _, kind := range redislockKinds {
		inBubble(t, 1, func(t *testing.T, c *cluster) {
			l := c.Client(t, kind)
			lease := acquire(t, l)
			check := func(what, got, want string) {
				if got != want {
					t.Errorf("%s: %q, want %q", what, got, want)
				}
			}
			check("acquire while another client holds the lock", mustNotAcquire(t, l), "lock not acquired: redislock: taken")
			c.Nodes[0].Del(key)
			check("extend after the key is deleted", extend(t, lease).Error(), "lock lost: redislock: not extended: gone")
			check("release after the key is deleted", lease.Release(t.Context()).Error(), "lock lost: redislock: not released: gone")
			c.Nodes[0].AnswerDelay = func(string) time.Duration { return time.Hour }
			check("extend without an answer", extend(t, lease).Error(), "redislock: not extended: timed out")
			check("acquire without an answer", mustNotAcquire(t, l), "lock not acquired: redislock: timed out")
		})
	}
}
