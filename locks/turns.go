package locks

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// redisTurns has the goroutines that share a go-redis client take turns, each
// before it asks for a connection.
type redisTurns struct {
	turn func(words ...string)
	addr string
}

// DialHook leaves dials as they are.
func (t redisTurns) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook waits before a command.
func (t redisTurns) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		t.wait(cmd)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook waits before a pipeline.
func (t redisTurns) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.wait(cmds...)
		return next(ctx, cmds)
	}
}

// wait tells locks that ask several nodes at once apart by the node.
func (t redisTurns) wait(cmds ...redis.Cmder) {
	var words []string
	for _, cmd := range cmds {
		for _, arg := range cmd.Args() {
			word, ok := arg.(string)
			if !ok {
				word = fmt.Sprint(arg)
			}
			words = append(words, word)
		}
	}
	t.turn(append(words, t.addr)...)
}

// rueidisTurns is a rueidis client whose goroutines take turns, though many are
// woken together: by the end of a context, by the connection that one of them has
// dialled for all, or by its loss. Each waits for its turn before it asks the
// client, and again where rueidis looks whether the context has ended: before it
// takes its place on the connection, and before it tries again.
type rueidisTurns struct {
	rueidis.Client
	turn func(words ...string)
}

func (t rueidisTurns) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
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
