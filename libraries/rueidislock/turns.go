package rueidislock

import (
	"context"
	"slices"

	"github.com/redis/rueidis"
)

// A turnClient is a rueidis client whose goroutines take turns. Many may wake together: at
// the end of a context, when one of them has dialled a connection for all, or when that is
// lost. Each waits for its turn before it calls the client. It waits again where rueidis
// checks whether the context has ended: before it takes its place on the connection, and
// before it tries again.
type turnClient struct {
	rueidis.Client
	turn func(words ...string)
}

func (t turnClient) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	words := slices.Clone(cmd.Commands()) // rueidis reuses them for another command
	turn := func() { t.turn(words...) }
	turn()
	return t.Client.Do(turnContext{ctx, turn}, cmd)
}

// turnContext waits for a turn whenever its Err is called.
type turnContext struct {
	context.Context
	turn func()
}

func (c turnContext) Err() error {
	c.turn()
	return c.Context.Err()
}
