package locks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// majority is the quorum of n nodes.
func majority(n int) int { return n/2 + 1 }

// onEveryNode is the slots of a lock that keeps its key on every node.
func onEveryNode(key string, nodes int) (slots []Slot, quorum int) {
	for i := range nodes {
		slots = append(slots, Slot{Node: i, Key: key})
	}
	return slots, majority(nodes)
}

// An answer is what one node, counted from 0, said to a request.
type answer struct {
	node int
	yes  bool
	err  error
}

// answers are sorted by node.
type answers []answer

// yes is the nodes that said yes.
func (a answers) yes() (nodes []int) {
	for _, answer := range a {
		if answer.yes {
			nodes = append(nodes, answer.node)
		}
	}
	return nodes
}

// canHave reports whether n nodes may have said yes, counting those whose answer
// is not known.
func (a answers) canHave(n int) bool {
	for _, answer := range a {
		if answer.yes || answer.err != nil {
			n--
		}
	}
	return n <= 0
}

// but says why nodes did not say yes; no is the word for those that said no. It
// counts nodes from 1 and depends on nothing but the answers.
func (a answers) but(no string) string {
	var said []string
	for _, answer := range a {
		switch {
		case answer.err != nil:
			said = append(said, fmt.Sprintf("node %d: %s", answer.node+1, reason(answer.err)))
		case !answer.yes:
			said = append(said, fmt.Sprintf("node %d: %s", answer.node+1, no))
		}
	}
	if said == nil {
		return ""
	}
	return " (" + strings.Join(said, ", ") + ")"
}

func (a answers) sort() {
	slices.SortFunc(a, func(x, y answer) int { return x.node - y.node })
}

// reason says what an error was. A deadline passes for the context and for the
// connection at the same moment, and chance decides which of them go-redis
// reports: the two must read the same.
func reason(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timed out"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return err.Error()
}

// because adds the cause of ctx's end to an error, if it has ended: then the
// nodes' answers are no more than its consequence.
func because(ctx context.Context, err error) error {
	if cause := ended(ctx); cause != nil {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// ended is the cause of ctx's end, or nil. A context whose deadline is now has
// ended, even if its timer has not had its turn yet.
func ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if deadline, ok := ctx.Deadline(); cause == nil && ok && !time.Now().Before(deadline) {
		cause = context.DeadlineExceeded
	}
	return cause
}
