package sim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/locksim/locksim/trace"
)

// conduct is what a client's code did that ended a world with an error. It is empty
// for other errors, which are not the code's.
func conduct(err error) string {
	switch {
	case errors.Is(err, ErrPanic):
		return trace.ConductPanic
	case errors.Is(err, ErrStuck):
		return trace.ConductHang
	case errors.Is(err, ErrLeak):
		return trace.ConductLeak
	case errors.Is(err, ErrTooMuch):
		return trace.ConductEndless
	}
	return ""
}

// Ending is how the code of a client ended a world, by the error of the world; nil if it did
// not, as with an error that is not the code's.
func Ending(err error) *trace.Ending {
	rule := conduct(err)
	if rule == "" {
		return nil
	}
	why, stacks := withoutStacks(err)
	return &trace.Ending{Rule: rule, Why: why, Stacks: stacks}
}

// A Stacked is an error that shows the goroutines to blame. Its text is that of Err, which
// is one line, and the stacks below it.
type Stacked struct {
	Err    error
	Stacks string
}

func (s *Stacked) Error() string { return s.Err.Error() + "\n" + s.Stacks }
func (s *Stacked) Unwrap() error { return s.Err }

// panicked is the error of a panic in some code. What the panic says in more than one line
// goes with the stack.
func panicked(in string, says any, stack []byte) error {
	said, more, several := strings.Cut(fmt.Sprint(says), "\n")
	if several {
		more += "\n"
	}
	return &Stacked{fmt.Errorf("%w in %s: %s", ErrPanic, in, said), more + string(stack)}
}

// withoutStacks is an error without the stacks that it shows, nor what it was wrapped with,
// and those stacks. One that shows none is as it is.
func withoutStacks(err error) (said, stacks string) {
	var s *Stacked
	if errors.As(err, &s) {
		return s.Err.Error(), s.Stacks
	}
	return err.Error(), ""
}
