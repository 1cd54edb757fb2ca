package rueidislock

import (
	"context"
	"slices"

	"github.com/redis/rueidis"
)

// inTurns is a rueidis client whose goroutines take turns, though many are
// woken together: by the end of a context, by the connection that one of them has
// dialled for all, or by its loss. Each waits for its turn before it asks the
// client, and again where rueidis looks whether the context has ended: before it
// takes its place on the connection, and before it tries again.
type inTurns struct {
	rueidis.Client
	turn func(words ...string)
}

func (t inTurns) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	words := slices.Clone(cmd.Commands()) // rueidis uses them again for another command
	turn := func() { t.turn(words...) }
	turn()
	return t.Client.Do(turnContext{ctx, turn}, cmd)
}

// turnContext waits for a turn whenever it is asked whether it has ended.
type turnContext struct {
	context.Context
	turn func()
}

func (c turnContext) Err() error {
	c.turn()
	return c.Context.Err()
}
