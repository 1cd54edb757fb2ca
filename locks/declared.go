package locks

import (
	"fmt"
	"reflect"
	"time"

	"github.com/locksim/locksim/fakeclock"
)

// timeExpirer is a lease that declares its end as most Go code does: by the wall clock. The
// zero time declares nothing.
type timeExpirer interface {
	Expires() time.Time
}

// EndOf returns the end that a lease declares, as an [Expirer] or by a method
// Expires() time.Time. declared is false if it declares none.
func EndOf(l Lease) (end fakeclock.Reading, declared bool) {
	switch e := l.(type) {
	case Expirer:
		return e.Expires(), true
	case timeExpirer:
		if t := e.Expires(); !t.IsZero() {
			return fakeclock.Reading{Clock: fakeclock.Wall, Nanos: nanosOf(t)}, true
		}
	}
	return fakeclock.Reading{}, false
}

// nanosOf returns the nanoseconds since 1970 of a time. A time that is centuries away, such
// as one that means "never", becomes one that is a century away: sums with it do not
// overflow.
func nanosOf(t time.Time) int64 {
	first, last := time.Unix(0, 0), time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC)
	switch {
	case t.Before(first):
		t = first
	case t.After(last):
		t = last
	}
	return t.UnixNano()
}

// leaseInterfaces are the interfaces by which a lease declares what it can do. Each has one
// method.
var leaseInterfaces = []reflect.Type{
	reflect.TypeFor[Expirer](), reflect.TypeFor[Extender](), reflect.TypeFor[Renewer](),
	reflect.TypeFor[Tokener](), reflect.TypeFor[Sessioner](), reflect.TypeFor[Notifier](),
}

// Mistyped returns the methods of a lease that have the name of a method of [Expirer],
// [Extender], [Renewer], [Tokener], [Sessioner] or [Notifier], but another type, each with
// both types. Such a method declares nothing.
func Mistyped(l Lease) (methods []string) {
	if l == nil {
		return nil
	}
	_, endsByTime := l.(timeExpirer)
	for _, i := range leaseInterfaces {
		want := i.Method(0)
		method := reflect.ValueOf(l).MethodByName(want.Name)
		isExpires := i == reflect.TypeFor[Expirer]()
		if method.IsValid() && !reflect.TypeOf(l).Implements(i) && !(isExpires && endsByTime) {
			methods = append(methods, fmt.Sprintf("%s is a %s, and not a %s", want.Name, method.Type(), want.Type))
		}
	}
	return methods
}
