package locks_test

import (
	"testing"

	"github.com/locksim/locksim/locks"
)

// The lock none is granted to everybody, and its lease promises nothing.
func TestNone(t *testing.T) {
	inBubble(t, 0, func(t *testing.T, c *cluster) {
		first := acquire(t, c.Client(t, "none"))
		second := acquire(t, c.Client(t, "none"))
		for _, lease := range []locks.Lease{first, second} {
			_, expires := lease.(locks.Expirer)
			_, extends := lease.(locks.Extender)
			_, mints := lease.(locks.Tokener)
			_, notifies := lease.(locks.Notifier)
			if expires || extends || mints || notifies {
				t.Errorf("a lease of none expires: %v, extends: %v, has a token: %v, has a loss signal: %v; want none of these", expires, extends, mints, notifies)
			}
			release(t, lease)
		}
	})
}
