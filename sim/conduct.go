package sim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/locksim/locksim/trace"
)

// conductOf returns the rule of conduct that a client's code broke when it ended a world
// with an error. It is "" for other errors, which are not the code's fault.
func conductOf(err error) string {
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

// Ending describes how the code of a client ended a world, from the world's error. It is
// nil if the error is not the code's fault.
func Ending(err error) *trace.Ending {
	rule := conductOf(err)
	if rule == "" {
		return nil
	}
	why, stacks := splitStacks(err)
	return &trace.Ending{Rule: rule, Why: why, Stacks: stacks}
}

// An ErrorWithStacks is an error that shows the goroutines to blame. Its text is the text
// of Err, which is one line, followed by the stacks.
type ErrorWithStacks struct {
	Err    error
	Stacks string
}

func (s *ErrorWithStacks) Error() string { return s.Err.Error() + "\n" + s.Stacks }
func (s *ErrorWithStacks) Unwrap() error { return s.Err }

// newPanicError returns the error of a panic in some code. All but the first line of the
// panic's value is put before the stack.
func newPanicError(in string, value any, stack []byte) error {
	first, rest, several := strings.Cut(fmt.Sprint(value), "\n")
	if several {
		rest += "\n"
	}
	return &ErrorWithStacks{fmt.Errorf("%w in %s: %s", ErrPanic, in, first), rest + string(stack)}
}

// splitStacks returns the text of an error and the stacks that it shows, if it contains an
// [ErrorWithStacks]. The text then leaves out whatever the error was wrapped with. Any
// other error keeps its whole text, and has no stacks.
func splitStacks(err error) (text, stacks string) {
	var s *ErrorWithStacks
	if errors.As(err, &s) {
		return s.Err.Error(), s.Stacks
	}
	return err.Error(), ""
}
