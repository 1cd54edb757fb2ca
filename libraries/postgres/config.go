package postgres

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5"

	"github.com/locksim/locksim/locks"
)

// Config returns the configuration with which a process connects to its PostgreSQL server,
// the first of the nodes. It fits [pgx.ConnectConfig], OpenDB of pgx's package stdlib (for
// database/sql), and the ConnConfig of a pool. Env.Close closes the connections and cancels
// connects in progress.
//
// It is pgx's default configuration with these differences: environment variables and files
// of the home directory are ignored, no name is looked up, TLS is off, and only a context
// limits how long a connect may take.
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
