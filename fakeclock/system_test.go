package fakeclock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// The system's clock reads and waits as package time does.
func TestSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fakeclock.System()
		if now := time.Now(); !c.Now().Equal(now) || c.Read(fakeclock.Wall).Nanos != now.UnixNano() {
			t.Errorf("the wall clock reads %v and %v, want %v", c.Now(), c.Read(fakeclock.Wall), now)
		}
		began, beganWall := c.Read(fakeclock.Monotonic), c.Read(fakeclock.Wall)
		if err := c.Sleep(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := c.Read(fakeclock.Monotonic).Sub(began); got != time.Minute {
			t.Errorf("over a sleep of a minute the monotonic clock advanced by %v", got)
		}
		if got := c.Read(fakeclock.Wall).Sub(beganWall); got != time.Minute {
			t.Errorf("over a sleep of a minute the wall clock advanced by %v", got)
		}

		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		c.AfterFunc(time.Second, func() { cancel(enough) })
		if err := c.Sleep(ctx, time.Hour); err != enough {
			t.Errorf("a cancelled Sleep returned %v, want the context's cause", err)
		}
		if c.AfterFunc(time.Second, func() { t.Error("a stopped timer fired") })() != true {
			t.Error("stop of a waiting timer returned false, want true: it prevented the call")
		}

		timeout, cancelTimeout := fakeclock.WithTimeout(t.Context(), c, time.Second)
		defer cancelTimeout()
		before := time.Now()
		<-timeout.Done()
		if waited := time.Since(before); waited != time.Second || timeout.Err() != context.DeadlineExceeded {
			t.Errorf("the context ended after %v with %v, want 1s and DeadlineExceeded", waited, timeout.Err())
		}
		time.Sleep(time.Minute)
	})
}
