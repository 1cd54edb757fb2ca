// Package answers collects the answers of a lock's nodes to one request, and describes them
// in the text of an error. The text is equal in equal runs, because traces contain the
// errors of locks, and equal worlds must have equal traces.
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

// An Answer is the answer of one node to a request.
type Answer struct {
	// Node is the number of the node, from 0. Yes reports whether the node did what it was
	// asked to do. Err is the error of a request whose result is not known.
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

// MayHaveYes reports whether at least n nodes may have answered yes. It counts a node whose
// request failed, because the node may have carried out the request.
func (a Answers) MayHaveYes(n int) bool {
	for _, answer := range a {
		if answer.Yes || answer.Err != nil {
			n--
		}
	}
	return n <= 0
}

// Refusals lists, in parentheses, the nodes that did not answer yes, each with the reason;
// "" if all answered yes. noReason is the reason given for a node that answered no. Nodes
// are numbered from 1 in the list.
func (a Answers) Refusals(noReason string) string {
	var refusals []string
	for _, answer := range a {
		switch {
		case answer.Err != nil:
			refusals = append(refusals, fmt.Sprintf("node %d: %s", answer.Node+1, Reason(answer.Err)))
		case !answer.Yes:
			refusals = append(refusals, fmt.Sprintf("node %d: %s", answer.Node+1, noReason))
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
// connection at the same moment, and it is random which of the two errors a client library
// returns. Reason therefore gives both the same text.
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

// WithCause returns err with the reason why ctx ended added, or err itself if ctx has not ended. If
// ctx has ended, the answers that err lists are only a consequence of that.
func WithCause(ctx context.Context, err error) error {
	if cause := EndCause(ctx); cause != nil {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// EndCause returns the reason why ctx ended, or nil if it has not ended. A context whose
// deadline is the present moment counts as ended, even if its timer has not fired yet.
func EndCause(ctx context.Context) error {
	cause := context.Cause(ctx)
	if deadline, ok := ctx.Deadline(); cause == nil && ok && !time.Now().Before(deadline) {
		cause = context.DeadlineExceeded
	}
	return cause
}
