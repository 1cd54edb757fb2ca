package locks_test

import (
	"testing"

	"github.com/locksim/locksim/locks"
)

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
				t.Error("a lease that is no lease promises something")
			}
			release(t, lease)
		}
	})
}
