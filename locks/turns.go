package locks

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// redisTurns is a hook of a go-redis client. It makes the goroutines that share the client
// take turns, because otherwise chance decides which of them sends first. Each waits for
// its turn before it asks for a connection.
type redisTurns struct {
	waitTurn func(words ...string)
	addr     string
}

// DialHook leaves dials as they are.
func (t redisTurns) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook waits for a turn before a command.
func (t redisTurns) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		t.wait(cmd)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook waits for a turn before a pipeline.
func (t redisTurns) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.wait(cmds...)
		return next(ctx, cmds)
	}
}

// wait waits for the turn of a command or pipeline (see [Env.WaitTurn]). Its words end with
// the address of the node, because locks send equal commands to several nodes at the same
// time.
func (t redisTurns) wait(cmds ...redis.Cmder) {
	n := 1
	for _, cmd := range cmds {
		n += len(cmd.Args())
	}
	words := make([]string, 0, n)
	for _, cmd := range cmds {
		for _, arg := range cmd.Args() {
			word, ok := arg.(string)
			if !ok {
				word = fmt.Sprint(arg)
			}
			words = append(words, word)
		}
	}
	t.waitTurn(append(words, t.addr)...)
}
