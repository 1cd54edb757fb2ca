package locks

import (
	"context"
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

// Mistyped returns the methods of a lease that have the name of a method of [Expirer],
// [Extender], [Renewer], [Tokener], [Sessioner] or [Notifier], but another signature, each
// with both signatures. locksim ignores such a method.
//
// Each name is written out: if a program looks for a method by a name that the linker cannot
// know, the linker keeps every method of every type, which makes the program 50 % larger.
func Mistyped(l Lease) (methods []string) {
	if l == nil {
		return nil
	}
	v := reflect.ValueOf(l)
	check := func(name string, method reflect.Value, want reflect.Type) {
		if method.IsValid() && method.Type() != want {
			methods = append(methods, fmt.Sprintf("%s is a %s, and not a %s", name, method.Type(), want))
		}
	}
	if _, endsByTime := l.(timeExpirer); !endsByTime {
		check("Expires", v.MethodByName("Expires"), reflect.TypeFor[func() fakeclock.Reading]())
	}
	check("Extend", v.MethodByName("Extend"), reflect.TypeFor[func(context.Context) error]())
	check("Renewals", v.MethodByName("Renewals"), reflect.TypeFor[func() <-chan fakeclock.Reading]())
	check("Token", v.MethodByName("Token"), reflect.TypeFor[func() uint64]())
	check("Session", v.MethodByName("Session"), reflect.TypeFor[func() string]())
	check("Lost", v.MethodByName("Lost"), reflect.TypeFor[func() <-chan struct{}]())
	return methods
}
