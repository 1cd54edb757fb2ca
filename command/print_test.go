package command

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Each of several errors has a line of its own, and so has each line of a stack. A line
// break in a name is escaped.
func TestErrorLines(t *testing.T) {
	const name = "x\n::error::boo"
	const shown = `x\n::error::boo`
	one := &fs.PathError{Op: "open", Path: name, Err: errors.New("no " + name)}
	for _, c := range []struct {
		name string
		err  error
		want []string
	}{
		{"a single error", one, []string{"open " + shown + ": no " + shown}},
		{"an error inside another error", fmt.Errorf("locksim: %s: %w (%s)", name, one, name), []string{"locksim: " + shown + ": open " + shown + ": no " + shown + " (" + shown + ")"}},
		{"several joined errors", errors.Join(one, errors.Join(errors.New("b"), errors.New("c")), errors.New("d\te")), []string{"open " + shown + ": no " + shown, "b", "c", `d\te`}},
		{"several joined errors inside another error", fmt.Errorf("locksim: %w; so it is", errors.Join(errors.New("a"), errors.New("b\n"))), []string{"locksim: a", `b\n; so it is`}},
		{"errors of scenario files", scenarios.Errors{{File: name, Line: 1, Message: "a"}, {File: "y", Message: "b"}}, []string{"x ::error::boo:1: a", "y: b"}},
		{"two errors inside one error", fmt.Errorf("%w: %w", errors.New("a\n"), errors.New("b\n")), []string{`a\n: b\n`}},
		{"the error with which a command ends", failure{unexpected, fmt.Errorf("locksim: %w", one)}, []string{"locksim: open " + shown + ": no " + shown}},
		{"a panic with its stack", errors.Join(fmt.Errorf("%s: %w", name, &sim.ErrorWithStacks{
			Err: fmt.Errorf("%w in client-1: oh", sim.ErrPanic), Stacks: "::error::no\ngoroutine 1 [running]:\nmain.f()\n\tf.go:1\n\t ##[error]",
		}), errors.New("replay: it")),
			[]string{shown + ": panic in client-1: oh", "::error::no", "goroutine 1 [running]:", "main.f()", "  f.go:1", "   ##[error]", "replay: it"}},
	} {
		if got := errorLines(c.err); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: the lines are\n%q, want\n%q", c.name, got, c.want)
		}
	}
}
