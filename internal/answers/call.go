package answers

import "context"

// Await returns the next value from a channel. ok is false if ctx ends first. If both have
// happened, the channel always wins.
func Await[T any](ctx context.Context, from <-chan T) (got T, ok bool) {
	select {
	case got = <-from:
		return got, true
	case <-ctx.Done():
	}
	select {
	case got = <-from:
		return got, true
	default:
		return got, false
	}
}

// Call calls f, which no context ends, and returns its results. ok is false if ctx ends
// first. In that case late, which may be nil, is later called with the value of f, unless f
// returns an error.
func Call[T any](ctx context.Context, f func() (T, error), late func(T)) (got T, ok bool, err error) {
	type outcome struct {
		got T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		got, err := f()
		done <- outcome{got, err}
	}()
	o, ok := Await(ctx, done)
	if !ok && late != nil {
		go func() {
			if o := <-done; o.err == nil {
				late(o.got)
			}
		}()
	}
	return o.got, ok, o.err
}
