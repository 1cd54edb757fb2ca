package answers

import "context"

// Await returns what comes on a channel, until ctx ends: then it is not ok. If both have
// happened the channel wins, always.
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

// Call calls f, which no context ends, and returns what it returns. It is not ok if ctx ends
// before that. Then late, which may be nil, is called with what f returns later, unless that is
// an error.
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
