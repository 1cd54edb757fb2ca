package postgres

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5"

	"github.com/locksim/locksim/locks"
)

// Config is how a process reaches its PostgreSQL server, which is the first of the nodes: for
// [pgx.ConnectConfig], for database/sql by OpenDB of pgx's package stdlib, and for a pool's
// ConnConfig. Env.Close closes the connections, and ends the dials that are under way.
//
// It is as pgx makes it, but for this: nothing of the environment or of the home directory has
// a say, no name is looked up, no TLS is asked for, and nothing but a context bounds a dial.
func Config(e *locks.Env) (*pgx.ConnConfig, error) {
	if len(e.Nodes) == 0 {
		return nil, errors.New("a lock on PostgreSQL needs a server, but there is none")
	}
	config, err := pgx.ParseConfig("host=127.0.0.1 port=5432 user=locksim database=locksim password=none sslmode=disable " +
		"passfile=/dev/null target_session_attrs=any connect_timeout=0")
	if err != nil {
		return nil, err
	}
	config.Fallbacks, config.RuntimeParams = nil, map[string]string{}
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	life := e.Lifetime()
	config.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		conn, err := e.Dial(ctx, network, e.Nodes[0])
		if err == nil {
			e.Cleanup(func() { _ = conn.Close() })
		}
		return conn, err
	}
	return config, nil
}
