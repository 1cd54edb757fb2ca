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

// database returns the process's pool of connections. Its settings are the defaults of
// database/sql and pgx.
func database(e *locks.Env) (*sql.DB, error) {
	config, err := postgres.Config(e)
	if err != nil {
		return nil, err
	}
	return locks.Share(e, "goose", func() *sql.DB {
		t := turnTaker{e}
		dial := config.DialFunc
		config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			t.wait(ctx, "dial")
			return dial(ctx, network, addr)
		}
		config.Tracer = t
		db := stdlib.OpenDB(*config, stdlib.OptionShouldPing(func(ctx context.Context, p stdlib.ShouldPingParams) bool {
			ping := p.IdleDuration > time.Second // pgx's own rule
			if ping {
				t.wait(ctx, "ping")
			}
			return ping
		}))
		e.Cleanup(func() { _ = db.Close() })
		return db
	}), nil
}

// turnTaker delays the library's requests until the process runs, and then lets them be
// sent in one order. That is needed because the library's timers are not on the process's
// clock, and so fire also while the process is paused. See [locks.Env].
type turnTaker struct{ env *locks.Env }

// wait waits until the process runs and it is the turn of these words. Outside a world, which is a
// simulation, it does nothing.
func (t turnTaker) wait(ctx context.Context, words ...string) {
	if t.env.WaitAfterTimer != nil {
		lockerName, _ := ctx.Value(lockerKey{}).(string)
		t.env.WaitAfterTimer(ctx, append(words, lockerName)...)
	}
}

// lockerKey is the key under which a context has the locker's name.
type lockerKey struct{}

// TraceQueryStart is as in [pgx.QueryTracer].
func (t turnTaker) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	t.wait(ctx, q.SQL)
	return ctx
}

// TraceQueryEnd is as in [pgx.QueryTracer].
func (t turnTaker) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
