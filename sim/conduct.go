package sim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/locksim/locksim/trace"
)

// brokenConductRule returns the rule that a client's code has broken by misconduct, such as a
// panic, if that caused the error with which a world ended. It returns "" for an error that is not
// the code's fault.
func brokenConductRule(err error) string {
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

// Ending describes how the code of a client ended a world. err is the error of the world.
// Ending returns nil if the error is not the code's fault.
func Ending(err error) *trace.Ending {
	rule := brokenConductRule(err)
	if rule == "" {
		return nil
	}
	why, stacks := splitStacks(err)
	return &trace.Ending{Rule: rule, Why: why, Stacks: stacks}
}

// An ErrorWithStacks is an error with the stacks of the goroutines that may have caused it.
// Its text is the text of Err, which is one line, followed by the stacks.
type ErrorWithStacks struct {
	Err    error
	Stacks string
}

func (s *ErrorWithStacks) Error() string { return s.Err.Error() + "\n" + s.Stacks }
func (s *ErrorWithStacks) Unwrap() error { return s.Err }

// newPanicError returns the error of a panic. where says whose code panicked. The error's
// line contains the first line of the panic's value; the other lines of the value come
// before the stack.
func newPanicError(where string, value any, stack []byte) error {
	first, rest, several := strings.Cut(fmt.Sprint(value), "\n")
	if several {
		rest += "\n"
	}
	return &ErrorWithStacks{fmt.Errorf("%w in %s: %s", ErrPanic, where, first), rest + string(stack)}
}

// splitStacks separates the text of an error from its stacks. If the error wraps an
// [ErrorWithStacks], the text is that of its Err, without the text of the errors around it.
// For any other error, stacks is "".
func splitStacks(err error) (text, stacks string) {
	var s *ErrorWithStacks
	if errors.As(err, &s) {
		return s.Err.Error(), s.Stacks
	}
	return err.Error(), ""
}
