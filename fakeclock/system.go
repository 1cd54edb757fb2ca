package fakeclock

import (
	"context"
	"time"
)

// System returns the clocks of this machine. Its monotonic clock counts from the start of
// the program.
func System() Clock { return system{} }

// system implements [Clock] with package time.
type system struct{}

// programStart is the moment at which the monotonic clock reads 0.
var programStart = time.Now()

func (system) Now() time.Time { return time.Now() }

func (system) Read(k Kind) Reading {
	if k == Monotonic {
		return Reading{Clock: Monotonic, Nanos: int64(time.Since(programStart))}
	}
	return Reading{Clock: Wall, Nanos: time.Now().UnixNano()}
}

func (system) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (system) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}
