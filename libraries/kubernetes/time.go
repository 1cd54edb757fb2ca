package kubernetes

import (
	"reflect"
	"time"
	"unsafe"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/clock"

	"github.com/locksim/locksim/fakeclock"
)

// observe has an elector tell by the process's clock how long a Lease has not been renewed. It
// has a clock of its own for its tests, which it keeps to itself.
func observe(e *leaderelection.LeaderElector, c fakeclock.Clock) {
	own := reflect.ValueOf(e).Elem().FieldByName("clock")
	own = reflect.NewAt(own.Type(), unsafe.Pointer(own.UnsafeAddr())).Elem()
	own.Set(reflect.ValueOf(observer{c: c, since: c.Now().Add(-time.Duration(c.Read(fakeclock.Monotonic).Nanos))}))
}

// An observer is a process's clock as client-go reads it. It compares times of time.Now, whose
// differences are by the monotonic clock: one that is set changes nothing. How long it waits
// it measures itself, by true time.
type observer struct {
	clock.RealClock
	c     fakeclock.Clock
	since time.Time
}

// Now is as in [clock.PassiveClock].
func (o observer) Now() time.Time {
	return o.since.Add(time.Duration(o.c.Read(fakeclock.Monotonic).Nanos))
}

// Since is as in [clock.PassiveClock].
func (o observer) Since(t time.Time) time.Duration { return o.Now().Sub(t) }
