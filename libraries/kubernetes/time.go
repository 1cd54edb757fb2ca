package kubernetes

import (
	"reflect"
	"time"
	"unsafe"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/clock"

	"github.com/locksim/locksim/fakeclock"
)

// setElectorClock makes an elector measure by the process's clock for how long a Lease was
// not renewed. client-go has a field for a clock, but it is unexported, for its own tests.
func setElectorClock(e *leaderelection.LeaderElector, c fakeclock.Clock) {
	own := reflect.ValueOf(e).Elem().FieldByName("clock")
	own = reflect.NewAt(own.Type(), unsafe.Pointer(own.UnsafeAddr())).Elem()
	own.Set(reflect.ValueOf(electorClock{c: c, zero: c.Now().Add(-time.Duration(c.Read(fakeclock.Monotonic).Nanos))}))
}

// An electorClock shows an elector the process's monotonic clock. client-go compares times that
// time.Now has returned. Differences of such times follow the monotonic clock, so a jump of the
// wall clock has no effect. client-go's timers still use true time, which passes for all processes
// alike.
type electorClock struct {
	clock.RealClock
	c    fakeclock.Clock
	zero time.Time // the time at which the monotonic clock read 0
}

// Now implements [clock.PassiveClock].
func (o electorClock) Now() time.Time {
	return o.zero.Add(time.Duration(o.c.Read(fakeclock.Monotonic).Nanos))
}

// Since implements [clock.PassiveClock].
func (o electorClock) Since(t time.Time) time.Duration { return o.Now().Sub(t) }
