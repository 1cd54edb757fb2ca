package answers

import "context"

// Await returns the next value from a channel. ok is false if ctx ends before there is a
// value. If there is a value and ctx has ended, Await returns the value.
func Await[T any](ctx context.Context, values <-chan T) (value T, ok bool) {
	select {
	case value = <-values:
		return value, true
	case <-ctx.Done():
	}
	select {
	case value = <-values:
		return value, true
	default:
		return value, false
	}
}

// Call calls f, which cannot be cancelled, and returns its results. ok is false if ctx ends
// before f returns. In that case Call leaves f running. When f returns a value without an
// error, Call passes the value to handleLate, which may be nil.
func Call[T any](ctx context.Context, f func() (T, error), handleLate func(T)) (got T, ok bool, err error) {
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
	if !ok && handleLate != nil {
		go func() {
			if o := <-done; o.err == nil {
				handleLate(o.got)
			}
		}()
	}
	return o.got, ok, o.err
}
