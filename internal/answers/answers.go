// Package answers describes what the nodes of a lock answered to its requests, in words
// that do not depend on chance. A trace contains the errors of locks word by word.
package answers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// An Answer is the answer of one node, counted from 0, to a request.
type Answer struct {
	Node int
	Yes  bool
	Err  error
}

// Answers are the answers of all nodes, sorted by node.
type Answers []Answer

// YesNodes returns the nodes that answered yes.
func (a Answers) YesNodes() (nodes []int) {
	for _, answer := range a {
		if answer.Yes {
			nodes = append(nodes, answer.Node)
		}
	}
	return nodes
}

// MayHaveYes reports whether n nodes may have answered yes, including nodes whose answer is
// not known.
func (a Answers) MayHaveYes(n int) bool {
	for _, answer := range a {
		if answer.Yes || answer.Err != nil {
			n--
		}
	}
	return n <= 0
}

// Refusals describes why nodes did not answer yes, in parentheses; "" if all did. no is the
// word for nodes that answered no. It counts nodes from 1 and depends only on the answers.
func (a Answers) Refusals(no string) string {
	var refusals []string
	for _, answer := range a {
		switch {
		case answer.Err != nil:
			refusals = append(refusals, fmt.Sprintf("node %d: %s", answer.Node+1, Reason(answer.Err)))
		case !answer.Yes:
			refusals = append(refusals, fmt.Sprintf("node %d: %s", answer.Node+1, no))
		}
	}
	if refusals == nil {
		return ""
	}
	return " (" + strings.Join(refusals, ", ") + ")"
}

// Sort sorts the answers by node.
func (a Answers) Sort() {
	slices.SortFunc(a, func(x, y Answer) int { return x.Node - y.Node })
}

// Reason returns the text of an error. A deadline passes for the context and for the
// connection at the same moment, and chance decides which of them go-redis reports. Both
// get the same text.
func Reason(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timed out"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return err.Error()
}

// WithCause adds the cause of ctx's end to an error, if ctx has ended. The nodes' answers
// are then only a consequence of that.
func WithCause(ctx context.Context, err error) error {
	if cause := EndCause(ctx); cause != nil {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// EndCause returns the cause of ctx's end, or nil. A context whose deadline is now has
// ended, even if its timer has not fired yet.
func EndCause(ctx context.Context) error {
	cause := context.Cause(ctx)
	if deadline, ok := ctx.Deadline(); cause == nil && ok && !time.Now().Before(deadline) {
		cause = context.DeadlineExceeded
	}
	return cause
}
