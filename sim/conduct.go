package sim

import "errors"

// What a client's code did that ended a world before its time.
const (
	ConductPanic   = "panic"
	ConductHang    = "hang"
	ConductLeak    = "goroutine leak"
	ConductEndless = "endless retry"
)

// Conduct is what a client's code did that ended a world with an error. It is empty
// for other errors, which are not the code's.
func Conduct(err error) string {
	switch {
	case errors.Is(err, ErrPanic):
		return ConductPanic
	case errors.Is(err, ErrStuck):
		return ConductHang
	case errors.Is(err, ErrLeak):
		return ConductLeak
	case errors.Is(err, ErrTooMuch):
		return ConductEndless
	}
	return ""
}
