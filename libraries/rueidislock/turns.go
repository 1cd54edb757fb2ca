package rueidislock

import (
	"context"
	"slices"

	"github.com/redis/rueidis"
)

// A turnClient is a rueidis client whose goroutines take turns, so that they act in the
// same order in every run. Many of them may wake at the same moment: when a context ends,
// when one of them has dialled the connection for all, or when the connection breaks.
//
// A goroutine waits for its turn before it calls the client. It waits again whenever rueidis asks
// the goroutine's context whether the context has ended: before a command takes its place on the
// connection, and before the command is sent again.
type turnClient struct {
	rueidis.Client
	waitTurn func(words ...string) // returns when it is the turn of a command with these words
}

// Do implements [rueidis.Client].
func (t turnClient) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	words := slices.Clone(cmd.Commands()) // rueidis reuses the slice for another command
	waitTurn := func() { t.waitTurn(words...) }
	waitTurn()
	return t.Client.Do(turnContext{ctx, waitTurn}, cmd)
}

// A turnContext is a context that waits for a turn before it says whether it has ended.
type turnContext struct {
	context.Context
	waitTurn func()
}

func (c turnContext) Err() error {
	c.waitTurn()
	return c.Context.Err()
}
