package locks

import "context"

// This variant is released without a script: since version 8.4 Redis has a command that
// compares and deletes in one step. The result is the same as that of the script, but the
// command is easier to read.
//
// https://redis.io/docs/latest/commands/delex/
func init() {
	Register(Kind{
		Name:     "single-delex",
		System:   Redis,
		Title:    "as single, but released by DELEX IFEQ, which Redis has since 8.4, instead of a script",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{"elapsed-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New: newVariant(func(l *single) Lock {
			l.release = func(ctx context.Context, c claim) (bool, error) { return l.ask(ctx, c.removeIfEqual) }
			return l
		}),
	})
}
