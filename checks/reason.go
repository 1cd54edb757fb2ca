package checks

import (
	"fmt"
	"strings"
)

// A Reason says why something was found, as a code with arguments. Package internal/story
// turns it into a sentence.
type Reason struct {
	Code Code
	// Args are the arguments of the code, of the types with which it is declared: names of
	// processes and of critical sections, [time.Duration] and [history.Moment] of true time,
	// [Token], numbers, texts and reasons.
	Args []any
	// More are reasons to add to this one.
	More []Reason
}

// A Code names a kind of reason.
type Code string

// A Token is a fencing token that a reason is about.
type Token uint64

// reason returns a reason. Only the Reason methods of the codes call it, so that the compiler
// checks the types of the arguments.
func reason(code Code, args ...any) Reason { return Reason{Code: code, Args: args} }

// And returns the reason with another one added.
func (r Reason) And(more Reason) Reason {
	r.More = append(r.More[:len(r.More):len(r.More)], more)
	return r
}

// withRoom adds the number of clients that may hold the lock at once, if it is more than
// one.
func (r Reason) withRoom(n int) Reason {
	if n < 2 {
		return r
	}
	return r.And(roomFor.Reason(n))
}

// IsZero reports whether there is no reason.
func (r Reason) IsZero() bool { return r.Code == "" }

// IsEnding reports whether the reason is that a client's code ended the run: its trace has
// a [trace.Ending].
func (r Reason) IsEnding() bool { return r.Code == Code(endedEarly) }

// String returns the codes with their arguments, for programs and tests. Added reasons
// follow.
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
