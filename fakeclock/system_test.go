package fakeclock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

func TestSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fakeclock.System()
		if now := time.Now(); !c.Now().Equal(now) || c.Read(fakeclock.Wall).Nanos != now.UnixNano() {
			t.Errorf("reads %v and %v, want %v", c.Now(), c.Read(fakeclock.Wall), now)
		}
		began, beganWall := c.Read(fakeclock.Monotonic), c.Read(fakeclock.Wall)
		if err := c.Sleep(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := c.Read(fakeclock.Monotonic).Sub(began); got != time.Minute {
			t.Errorf("the monotonic clock showed %v of a minute's sleep", got)
		}
		if got := c.Read(fakeclock.Wall).Sub(beganWall); got != time.Minute {
			t.Errorf("the wall clock showed %v of a minute's sleep", got)
		}

		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		c.AfterFunc(time.Second, func() { cancel(enough) })
		if err := c.Sleep(ctx, time.Hour); err != enough {
			t.Errorf("a cancelled Sleep returned %v, want the context's cause", err)
		}
		if c.AfterFunc(time.Second, func() { t.Error("a stopped timer fired") })() != true {
			t.Error("stop of a waiting timer says that it prevented nothing")
		}

		timeout, cancelTimeout := fakeclock.WithTimeout(t.Context(), c, time.Second)
		defer cancelTimeout()
		before := time.Now()
		<-timeout.Done()
		if waited := time.Since(before); waited != time.Second || timeout.Err() != context.DeadlineExceeded {
			t.Errorf("ended after %v with %v", waited, timeout.Err())
		}
		time.Sleep(time.Minute)
	})
}
