package goose

import (
	"context"
	"database/sql"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/locksim/locksim/libraries/postgres"
	"github.com/locksim/locksim/locks"
)

// database is the process's pool of connections, with the settings that database/sql and pgx have
// by themselves.
func database(e *locks.Env) (*sql.DB, error) {
	config, err := postgres.Config(e)
	if err != nil {
		return nil, err
	}
	return locks.Share(e, "goose", func() *sql.DB {
		t := turns{e}
		dial := config.DialFunc
		config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			t.wait(ctx, "dial")
			return dial(ctx, network, addr)
		}
		config.Tracer = t
		db := stdlib.OpenDB(*config, stdlib.OptionShouldPing(func(ctx context.Context, p stdlib.ShouldPingParams) bool {
			ping := p.IdleDuration > time.Second // which is pgx's own rule
			if ping {
				t.wait(ctx, "ping")
			}
			return ping
		}))
		e.Cleanup(func() { _ = db.Close() })
		return db
	}), nil
}

// turns have what the library says go out in one order, when the process runs: timers tell it to
// that are not on the process's clock.
type turns struct{ env *locks.Env }

func (t turns) wait(ctx context.Context, words ...string) {
	if t.env.Woken != nil {
		who, _ := ctx.Value(whose{}).(string)
		t.env.Woken(ctx, append(words, who)...)
	}
}

// whose is the key of a context's locker.
type whose struct{}

// TraceQueryStart is as in [pgx.QueryTracer].
func (t turns) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	t.wait(ctx, q.SQL)
	return ctx
}

// TraceQueryEnd is as in [pgx.QueryTracer].
func (t turns) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
