package goose

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"time"
	"unsafe"

	"github.com/pressly/goose/v3/lock"
	"github.com/sethvargo/go-retry"

	"github.com/locksim/locksim/locks"
)

// makeDeterministic replaces what a locker of the library draws at random. The library gives no
// access to these values. A locker names itself by its host, its process and four random bytes. It
// waits between two tries for the set time, plus or minus up to a quarter. It draws the deviation
// from a random source that the whole program shares. In a world, which is a simulation, the locker
// instead gets a name made from the client's name, and draws from the client process's own random
// source. makeDeterministic returns that name. Outside a world, where e.WaitAfterTimer is nil, it
// changes nothing and returns "".
func makeDeterministic(e *locks.Env, l lock.Locker) (name string) {
	if e.WaitAfterTimer == nil {
		return ""
	}
	var seed [8]byte
	_, _ = io.ReadFull(e.Rand, seed[:]) // never fails
	fields := reflect.ValueOf(l).Elem()
	name = fmt.Sprintf("%s-1-%x", e.Client, seed[:4])
	*field[string](fields, "instanceID") = name
	source := rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[:]), 0))
	for b, interval := range map[*retry.Backoff]time.Duration{
		field[retry.Backoff](fields, "retryLock"):   lockEvery,
		field[retry.Backoff](fields, "retryUnlock"): unlockEvery,
	} {
		*b = withSource(*b, interval, source)
	}
	return name
}

// withSource returns a backoff that ends when the library's backoff does. Its waits are
// drawn like the library's, but from another random source.
func withSource(backoff retry.Backoff, interval time.Duration, source *rand.Rand) retry.Backoff {
	return retry.BackoffFunc(func() (time.Duration, bool) {
		_, stop := backoff.Next()
		if stop {
			return 0, true
		}
		return time.Duration(float64(interval) * (1 - float64(source.Int64N(50)-25)/100)), false
	})
}

// field returns a pointer to an unexported field of a struct.
func field[T any](v reflect.Value, name string) *T {
	return (*T)(unsafe.Pointer(v.FieldByName(name).UnsafeAddr()))
}
