package kubernetes

import (
	"reflect"
	"time"
	"unsafe"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/clock"

	"github.com/locksim/locksim/fakeclock"
)

// setElectorClock makes an elector measure by the process's clock how long a Lease has not
// been renewed. The elector has a clock for its own tests, in an unexported field.
func setElectorClock(e *leaderelection.LeaderElector, c fakeclock.Clock) {
	own := reflect.ValueOf(e).Elem().FieldByName("clock")
	own = reflect.NewAt(own.Type(), unsafe.Pointer(own.UnsafeAddr())).Elem()
	own.Set(reflect.ValueOf(electorClock{c: c, since: c.Now().Add(-time.Duration(c.Read(fakeclock.Monotonic).Nanos))}))
}

// An electorClock is a process's clock as client-go reads it. client-go compares times of
// time.Now, whose differences follow the monotonic clock, so setting the wall clock changes
// nothing. Timers keep using true time.
type electorClock struct {
	clock.RealClock
	c     fakeclock.Clock
	since time.Time
}

// Now implements [clock.PassiveClock].
func (o electorClock) Now() time.Time {
	return o.since.Add(time.Duration(o.c.Read(fakeclock.Monotonic).Nanos))
}

// Since implements [clock.PassiveClock].
func (o electorClock) Since(t time.Time) time.Duration { return o.Now().Sub(t) }
