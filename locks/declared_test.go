package locks_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// released is a lease that declares nothing.
type released struct{}

func (released) Release(context.Context) error { return nil }

type endsByReading struct{ released }

func (endsByReading) Expires() fakeclock.Reading {
	return fakeclock.Reading{Clock: fakeclock.Monotonic, Nanos: 7}
}

type endsByTime struct {
	released
	at time.Time
}

func (l endsByTime) Expires() time.Time { return l.at }

type endsInSeconds struct{ released }

func (endsInSeconds) Expires() int { return 7 }

// A lease declares its end by a reading of a clock, or by a time of the wall clock.
func TestEndOf(t *testing.T) {
	for name, c := range map[string]struct {
		lease    locks.Lease
		want     fakeclock.Reading
		declared bool
	}{
		"no method":         {released{}, fakeclock.Reading{}, false},
		"a reading":         {endsByReading{}, fakeclock.Reading{Clock: fakeclock.Monotonic, Nanos: 7}, true},
		"a time":            {endsByTime{at: time.Unix(0, 9)}, fakeclock.Reading{Clock: fakeclock.Wall, Nanos: 9}, true},
		"a time after 2262": {endsByTime{at: time.Unix(1<<40, 0)}, fakeclock.Reading{Clock: fakeclock.Wall, Nanos: time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()}, true},
		"the zero time":     {endsByTime{}, fakeclock.Reading{}, false},
		"a number":          {endsInSeconds{}, fakeclock.Reading{}, false},
		"no lease at all":   {nil, fakeclock.Reading{}, false},
	} {
		if got, declared := locks.EndOf(c.lease); got != c.want || declared != c.declared {
			t.Errorf("%s: got %v, %v; want %v, %v", name, got, declared, c.want, c.declared)
		}
	}
}

type mistyped struct{ released }

func (mistyped) Lost() chan struct{}                                { return nil }
func (mistyped) Extend(context.Context, time.Duration) (int, error) { return 0, nil }
func (mistyped) Token() uint64                                      { return 1 }
func (mistyped) Expires() time.Time                                 { return time.Time{} }

// A method with the right name and another type is reported with both types.
func TestMistyped(t *testing.T) {
	want := []string{
		"Extend is a func(context.Context, time.Duration) (int, error), and not a func(context.Context) error",
		"Lost is a func() chan struct {}, and not a func() <-chan struct {}",
	}
	if got := locks.Mistyped(mistyped{}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, l := range []locks.Lease{nil, released{}, endsByReading{}} {
		if got := locks.Mistyped(l); got != nil {
			t.Errorf("%T: got %q, want none", l, got)
		}
	}
	if got := locks.Mistyped(endsInSeconds{}); len(got) != 1 {
		t.Errorf("got %q, want one method", got)
	}
}

// Each interface by which a lease declares what it can do is checked: a lease that has its
// method with another type is mistyped, and a lease that implements it is not.
func TestMistypedKnowsEachInterface(t *testing.T) {
	wrong := map[string]locks.Lease{
		"Expires": endsInSeconds{}, "Extend": wrongExtend{}, "Renewals": wrongRenewals{},
		"Token": wrongToken{}, "Session": wrongSession{}, "Lost": wrongLost{},
	}
	for _, i := range []reflect.Type{
		reflect.TypeFor[locks.Expirer](), reflect.TypeFor[locks.Extender](), reflect.TypeFor[locks.Renewer](),
		reflect.TypeFor[locks.Tokener](), reflect.TypeFor[locks.Sessioner](), reflect.TypeFor[locks.Notifier](),
	} {
		method := i.Method(0)
		got := locks.Mistyped(wrong[method.Name])
		if len(got) != 1 || !strings.HasPrefix(got[0], method.Name+" is a ") || !strings.HasSuffix(got[0], ", and not a "+method.Type.String()) {
			t.Errorf("%s: got %q, want that it is not a %s", method.Name, got, method.Type)
		}
	}
}

type (
	wrongExtend   struct{ released }
	wrongRenewals struct{ released }
	wrongToken    struct{ released }
	wrongSession  struct{ released }
	wrongLost     struct{ released }
)

func (wrongExtend) Extend() error       { return nil }
func (wrongRenewals) Renewals() int     { return 0 }
func (wrongToken) Token() int           { return 0 }
func (wrongSession) Session() int       { return 0 }
func (wrongLost) Lost() chan<- struct{} { return nil }
