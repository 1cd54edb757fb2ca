package locks

import (
	"context"
	"fmt"
	"sync"

	"github.com/locksim/locksim/internal/answers"
)

// This source is for users who have no single reliable node: every node keeps a counter,
// and the token is the highest answer of a majority. Like Redlock, it relies on the fact
// that any two majorities have a node in common. But the common node need not be the one
// with the highest count. So the second majority may give the same number as the first, or
// a smaller one.
func init() {
	registerTokenSource(TokenSource{
		Name:        "quorum-incr",
		Title:       "the highest answer to an INCR on a majority of Redis nodes",
		Counts:      true,
		CountsOnAll: true,
		System:      Redis,
		Warm:        func(e *Env) { counterClients(e) },
		Mint:        quorumIncr,
	})
}

// counterNodeTimeout is as short as Redlock's timeout, so that a client does not wait long
// for a node that does not answer.
const counterNodeTimeout = redlockNodeTimeout

// quorumIncr asks all nodes at the same time and waits until each has answered or its time
// is up. It does not return as soon as a majority has answered: then the token would depend
// on the order of the answers.
func quorumIncr(ctx context.Context, e *Env) (uint64, error) {
	counters := counterClients(e)
	if len(counters) == 0 {
		return 0, fmt.Errorf("%w: the source quorum-incr needs Redis nodes for its counters, but there are none", ErrNoToken)
	}
	tokens := make([]uint64, len(counters))
	replies := make(answers.Answers, len(counters))
	var requests sync.WaitGroup
	for i, node := range counters {
		requests.Go(func() {
			token, err := countToken(ctx, e, node, counterNodeTimeout)
			tokens[i], replies[i] = token, answers.Answer{Node: i, Yes: err == nil, Err: err}
		})
	}
	requests.Wait()
	counted, quorum := replies.YesNodes(), majority(len(counters))
	if len(counted) < quorum {
		return 0, answers.WithCause(ctx, fmt.Errorf("%w: %d of %d counters answered, at least %d are needed%s", ErrNoToken, len(counted), len(counters), quorum, replies.Refusals("")))
	}
	var highest uint64
	for _, i := range counted {
		highest = max(highest, tokens[i])
	}
	return highest, nil
}
