// Package answers is what the nodes of a lock say to its requests, in words that do
// not depend on chance: a trace has the errors of locks word by word.
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

// One is what one node, counted from 0, said to a request.
type One struct {
	Node int
	Yes  bool
	Err  error
}

// All are sorted by node.
type All []One

// Yes is the nodes that said yes.
func (a All) Yes() (nodes []int) {
	for _, answer := range a {
		if answer.Yes {
			nodes = append(nodes, answer.Node)
		}
	}
	return nodes
}

// CanHave reports whether n nodes may have said yes, counting those whose answer
// is not known.
func (a All) CanHave(n int) bool {
	for _, answer := range a {
		if answer.Yes || answer.Err != nil {
			n--
		}
	}
	return n <= 0
}

// But says why nodes did not say yes; no is the word for those that said no. It
// counts nodes from 1 and depends on nothing but the answers.
func (a All) But(no string) string {
	var said []string
	for _, answer := range a {
		switch {
		case answer.Err != nil:
			said = append(said, fmt.Sprintf("node %d: %s", answer.Node+1, Reason(answer.Err)))
		case !answer.Yes:
			said = append(said, fmt.Sprintf("node %d: %s", answer.Node+1, no))
		}
	}
	if said == nil {
		return ""
	}
	return " (" + strings.Join(said, ", ") + ")"
}

// Sort sorts them.
func (a All) Sort() {
	slices.SortFunc(a, func(x, y One) int { return x.Node - y.Node })
}

// Reason says what an error was. A deadline passes for the context and for the
// connection at the same moment, and chance decides which of them go-redis
// reports: the two must read the same.
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

// Because adds the cause of ctx's end to an error, if it has ended: then the
// nodes' answers are no more than its consequence.
func Because(ctx context.Context, err error) error {
	if cause := Ended(ctx); cause != nil {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// Ended is the cause of ctx's end, or nil. A context whose deadline is now has
// ended, even if its timer has not had its turn yet.
func Ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if deadline, ok := ctx.Deadline(); cause == nil && ok && !time.Now().Before(deadline) {
		cause = context.DeadlineExceeded
	}
	return cause
}
