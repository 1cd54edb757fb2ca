package postgres_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/libraries/postgres"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// A takeover is a lock as a user may write it: a row with its owner and the end of the
// owner's lease. A client that finds an expired lease takes the row over by
// compare-and-set.
type takeover struct {
	config  *pgx.ConnConfig
	key     string // the name of the row
	owner   string // the name of the client
	ttl     time.Duration
	timeout time.Duration // how long a request may take
	method  takeoverMethod
}

// A takeoverMethod is one way to take a row over.
type takeoverMethod struct {
	end string // the type of the column expires_at
	// acquire asks for the row at the time now. It reports whether the owner has the row
	// afterwards.
	acquire func(ctx context.Context, c *pgx.Conn, l *takeover, owner string, now time.Time) (bool, error)
	// release is the statement by which the owner releases the row.
	release string
}

// do connects to the server and calls f with the connection, within the timeout.
func (l *takeover) do(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return f(ctx, conn)
}

func (l *takeover) Acquire(ctx context.Context) (locks.Lease, error) {
	random := make([]byte, 8)
	rand.Read(random)
	lease := &takeoverLease{l, l.owner + " " + hex.EncodeToString(random), time.Now()}
	var got bool
	err := l.do(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
		got, err = l.method.acquire(ctx, c, l, lease.owner, lease.since)
		return err
	})
	switch {
	case err != nil:
		_ = lease.Release(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	case !got:
		return nil, fmt.Errorf("%w: another client holds it", locks.ErrNotAcquired)
	case time.Now().After(lease.end()):
		_ = lease.Release(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("%w: the answer came too late", locks.ErrNotAcquired)
	}
	return lease, nil
}

// A takeoverLease is one grant of a takeover.
type takeoverLease struct {
	*takeover
	owner string    // unique for each grant
	since time.Time // when the lease begins: the time of the call of Acquire
}

func (t *takeoverLease) end() time.Time { return t.since.Add(t.ttl) }

// Expires is as in [locks.Expirer].
func (t *takeoverLease) Expires() fakeclock.Reading {
	return fakeclock.Reading{Clock: fakeclock.Wall, Nanos: t.end().UnixNano()}
}

// Release retries until the lease has ended.
func (t *takeoverLease) Release(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	for {
		err := t.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, t.method.release, t.key, t.owner)
			return err
		})
		if err == nil || time.Now().After(t.end()) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// takeoverMethods are the methods that take over only a row whose lease has expired.
var takeoverMethods = map[string]takeoverMethod{
	// The server judges by its own clock whether the lease has expired.
	"insert": {end: "timestamptz", release: `DELETE FROM locks WHERE name = $1 AND owner = $2`,
		acquire: func(ctx context.Context, c *pgx.Conn, l *takeover, owner string, _ time.Time) (bool, error) {
			tag, err := c.Exec(ctx, `INSERT INTO locks AS l (name, owner, expires_at) VALUES ($1, $2, now() + $3::interval)
				ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at WHERE l.expires_at < now()`, l.key, owner, l.ttl.String())
			return tag.RowsAffected() == 1, err
		}},
	// The client judges by its own clock, and changes the row only if it is still as it was
	// read.
	"compare-and-set": {end: "timestamptz", release: `DELETE FROM locks WHERE name = $1 AND owner = $2`,
		acquire: func(ctx context.Context, c *pgx.Conn, l *takeover, owner string, now time.Time) (bool, error) {
			var was string
			var end time.Time
			err := c.QueryRow(ctx, `SELECT owner, expires_at FROM locks WHERE name = $1`, l.key).Scan(&was, &end)
			if errors.Is(err, pgx.ErrNoRows) {
				tag, err := c.Exec(ctx, `INSERT INTO locks (name, owner, expires_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`, l.key, owner, now.Add(l.ttl))
				return tag.RowsAffected() == 1, err
			}
			if err != nil || !time.Now().After(end) {
				return false, err
			}
			tag, err := c.Exec(ctx, `UPDATE locks SET owner = $2, expires_at = $3 WHERE name = $1 AND owner = $4 AND expires_at = $5`, l.key, owner, now.Add(l.ttl), was, end)
			return tag.RowsAffected() == 1, err
		}},
	// Like compare-and-set, but the end is a number of milliseconds.
	"milliseconds": {end: "bigint", release: `DELETE FROM locks WHERE name = $1 AND owner = $2`,
		acquire: func(ctx context.Context, c *pgx.Conn, l *takeover, owner string, now time.Time) (bool, error) {
			var was string
			var end int64
			err := c.QueryRow(ctx, `SELECT owner, expires_at FROM locks WHERE name = $1`, l.key).Scan(&was, &end)
			if errors.Is(err, pgx.ErrNoRows) {
				tag, err := c.Exec(ctx, `INSERT INTO locks (name, owner, expires_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`, l.key, owner, now.Add(l.ttl).UnixMilli())
				return tag.RowsAffected() == 1, err
			}
			if err != nil || time.Now().UnixMilli() <= end {
				return false, err
			}
			tag, err := c.Exec(ctx, `UPDATE locks SET owner = $2, expires_at = $3 WHERE name = $1 AND owner = $4 AND expires_at = $5`, l.key, owner, now.Add(l.ttl).UnixMilli(), was, end)
			return tag.RowsAffected() == 1, err
		}},
}

// TestTakeover checks that a lock which takes over only expired leases passes the suite.
func TestTakeover(t *testing.T) {
	for name, method := range takeoverMethods {
		if testing.Short() && name != "compare-and-set" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			config := locktest.Config{System: locks.Postgres}
			if testing.Short() {
				config.Stories = func(story string) bool {
					return !strings.HasPrefix(story, "catalogue/") || strings.HasPrefix(story, "catalogue/postgres-clock/")
				}
			}
			locktest.Run(t, config, newTakeover(method, 150*time.Millisecond))
		})
	}
}

// TestWrongTakeover checks that the suite finds what is wrong with a lock that takes over a
// row that another client holds.
func TestWrongTakeover(t *testing.T) {
	release := takeoverMethods["insert"].release
	for _, l := range []struct {
		name, testCase string
		method         takeoverMethod
		mistake        string
	}{
		{
			"it ignores the end of the lease", "undisturbed", takeoverMethod{end: "timestamptz", release: release,
				acquire: func(ctx context.Context, c *pgx.Conn, l *takeover, owner string, _ time.Time) (bool, error) {
					tag, err := c.Exec(ctx, `INSERT INTO locks AS l (name, owner, expires_at) VALUES ($1, $2, now() + $3::interval)
						ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at`, l.key, owner, l.ttl.String())
					return tag.RowsAffected() == 1, err
				}},
			"acquire overwrites the key of another acquisition",
		},
		{
			"it reads the end of the lease, and then updates the row without comparing", "waiters/expired", takeoverMethod{end: "timestamptz", release: release,
				acquire: func(ctx context.Context, c *pgx.Conn, l *takeover, owner string, _ time.Time) (bool, error) {
					tag, err := c.Exec(ctx, `INSERT INTO locks (name, owner, expires_at) VALUES ($1, $2, now() + $3::interval) ON CONFLICT (name) DO NOTHING`, l.key, owner, l.ttl.String())
					if err != nil || tag.RowsAffected() == 1 {
						return err == nil, err
					}
					var hasEnded bool
					err = c.QueryRow(ctx, `SELECT expires_at < now() FROM locks WHERE name = $1`, l.key).Scan(&hasEnded)
					if errors.Is(err, pgx.ErrNoRows) {
						return false, nil
					}
					if err != nil || !hasEnded {
						return false, err
					}
					tag, err = c.Exec(ctx, `UPDATE locks SET owner = $2, expires_at = now() + $3::interval WHERE name = $1`, l.key, owner, l.ttl.String())
					return tag.RowsAffected() == 1, err
				}},
			"acquire overwrites the key of another acquisition",
		},
	} {
		t.Run(l.name, func(t *testing.T) {
			config := locktest.Config{System: locks.Postgres, Stories: func(story string) bool { return story == l.testCase }}
			for f := range locktest.Survey(t, config, newTakeover(l.method, 150*time.Millisecond)) {
				t.Logf("%s: %d of %d worlds", f.TestCase, f.Failed, f.Worlds)
				if !slices.ContainsFunc(f.Problems, func(p locktest.Problem) bool { return p.Mistake == l.mistake }) {
					t.Errorf("the test case %s finds %v, want %q among them", f.TestCase, f.Problems, l.mistake)
				}
			}
		})
	}
}

// newTakeover returns a constructor of the lock, which also creates its table.
func newTakeover(method takeoverMethod, timeout time.Duration) locktest.New {
	return func(env *locktest.Env) (locks.Lock, error) {
		config, err := postgres.Config(env.Base())
		if err != nil {
			return nil, err
		}
		conn, err := pgx.ConnectConfig(context.Background(), config)
		if err != nil {
			return nil, err
		}
		defer conn.Close(context.Background())
		_, err = conn.Exec(context.Background(), fmt.Sprintf(`CREATE TABLE IF NOT EXISTS locks (name text PRIMARY KEY, owner text NOT NULL, expires_at %s NOT NULL)`, method.end))
		return &takeover{config, env.Key(), env.Client(), env.TTL(), timeout, method}, err
	}
}
