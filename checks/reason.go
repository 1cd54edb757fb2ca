package checks

import (
	"fmt"
	"strings"
)

// A Reason is why something is as it is found to be: a code, and what it is about. Its sentence
// is written by internal/story.
type Reason struct {
	Code Code
	// Args are the arguments of the code, of the types with which it is declared: names of
	// processes and of sections, [time.Duration] and [history.Moment] of true time, each
	// [Token], numbers, texts and reasons.
	Args []any
	// More is what there is to add.
	More []Reason
}

// A Code names a kind of reason.
type Code string

// A Token is a fencing token that a reason is about.
type Token uint64

func reason(code Code, args ...any) Reason { return Reason{Code: code, Args: args} }

// And is the reason with something to add.
func (r Reason) And(more Reason) Reason {
	r.More = append(r.More[:len(r.More):len(r.More)], more)
	return r
}

// roomFor adds for how many the lock has room, if that is not one.
func (r Reason) roomFor(n int) Reason {
	if n < 2 {
		return r
	}
	return r.And(roomFor.Reason(n))
}

// IsZero says that there is no reason.
func (r Reason) IsZero() bool { return r.Code == "" }

// IsEnding reports whether the reason is that a client's code ended the run: its trace has an
// [trace.Ending].
func (r Reason) IsEnding() bool { return r.Code == Code(endedEarly) }

// String is the code with its arguments, and what is added, for programs and tests.
func (r Reason) String() string {
	var s strings.Builder
	s.WriteString(string(r.Code))
	for _, arg := range r.Args {
		if nested, ok := arg.(Reason); ok {
			arg = "(" + nested.String() + ")"
		}
		fmt.Fprintf(&s, " %v", arg)
	}
	for _, more := range r.More {
		s.WriteString("; " + more.String())
	}
	return s.String()
}
