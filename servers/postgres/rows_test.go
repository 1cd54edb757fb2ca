package postgres_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// TestRowsThatAreLeases checks that a row is a lease if its columns show the holder and the
// end, whatever the names of the table and its columns. A row that looks like a lease but
// is not recognised as one makes the run inconclusive.
func TestRowsThatAreLeases(t *testing.T) {
	const row = "locks/x"
	for _, c := range []struct {
		name   string
		key    string // the lock's slot: a key of this name
		script string // each line begins with the session, and either ! and SQL, or ; and a time to wait
		events string // the kinds of the key's events
		doubt  string // a part of the run's doubt; "" means no doubt
	}{
		{"the column names of this project", row, `
			a! CREATE TABLE locks (name text PRIMARY KEY, holder text, expires_at timestamptz)
			a! INSERT INTO locks VALUES ('x', 'a', now() + interval '5 s')
			a! UPDATE locks SET expires_at = now() + interval '6 s'
			a; 7s`, "set, touch, expire", ""},
		{"the column names of ShedLock", row, `
			a! CREATE TABLE locks (name varchar(64) NOT NULL, lock_until timestamp NOT NULL, locked_at timestamp NOT NULL, locked_by varchar(255) NOT NULL, PRIMARY KEY (name))
			a! INSERT INTO locks VALUES ('x', timezone('utc', CURRENT_TIMESTAMP) + interval '5 s', timezone('utc', CURRENT_TIMESTAMP), 'a')
			a! UPDATE locks SET lock_until = timezone('utc', CURRENT_TIMESTAMP) WHERE name = 'x' AND locked_by = 'a'`, "set, delete", ""},
		{"the unique column is not the first column", row, `
			a! CREATE TABLE locks (id bigserial PRIMARY KEY, name text UNIQUE, owner text, expires timestamptz)
			a! INSERT INTO locks (name, owner, expires) VALUES ('y', 'b', now() + interval '5 s'), ('x', 'a', now() + interval '5 s')
			a! DELETE FROM locks`, "set, delete", ""},
		{"a row without an end", row, `
			a! CREATE TABLE locks (name text PRIMARY KEY, holder text)
			a! INSERT INTO locks VALUES ('x', 'a')
			a! UPDATE locks SET holder = NULL`, "set, delete", ""},
		{"column names that the lock declares", locks.PostgresLease("doors", "x", "who", "due"), `
			a! CREATE TABLE doors (door text PRIMARY KEY, who text, due timestamptz, seen timestamptz)
			a! INSERT INTO doors VALUES ('x', 'a', now() + interval '5 s', now() + interval '1 h')
			a; 6s`, "set, expire", ""},
		{"column names that the lock declares, without an end", locks.PostgresLease("doors", "7", "who", ""), `
			a! CREATE TABLE doors (door bigint PRIMARY KEY, who text)
			a! INSERT INTO doors VALUES (7, 'a')
			a! DELETE FROM doors`, "set, delete", ""},

		{"a row that a transaction locks", "accounts/x", `
			a! CREATE TABLE accounts (name text PRIMARY KEY, owner text, changed timestamptz, valid_until timestamptz DEFAULT now() + interval '1 h')
			a! INSERT INTO accounts VALUES ('x', 'a', now())
			a! BEGIN
			a! SELECT owner FROM accounts FOR UPDATE
			a! COMMIT`, "set, delete", ""},

		{"an unknown column name of the holder", row, `
			a! CREATE TABLE locks (name text PRIMARY KEY, who text, expires_at timestamptz)
			a! INSERT INTO locks VALUES ('x', 'a', now() + interval '5 s')`, "", "no column names its holder"},
		{"an unknown column name of the end", row, `
			a! CREATE TABLE locks (name text PRIMARY KEY, holder text, due timestamptz)
			a! INSERT INTO locks VALUES ('x', 'a', now() + interval '5 s')`, "set", "no column contains its end"},
		{"an end that is a number, in seconds or milliseconds", row, `
			a! CREATE TABLE locks (name text PRIMARY KEY, holder text, expires_at bigint)
			a! INSERT INTO locks VALUES ('x', 'a', 1790000000)
			a! UPDATE locks SET expires_at = 1790000000000
			a! UPDATE locks SET expires_at = 0`, "set, delete", ""},
		{"an end that is in the past, in milliseconds", row, `
			a! CREATE TABLE locks (name text PRIMARY KEY, holder text, expires_at bigint)
			a! INSERT INTO locks VALUES ('x', 'a', 900000000000)`, "", ""},
		{"an end that is a text", row, `
			a! CREATE TABLE locks (name text PRIMARY KEY, holder text, expires_at text)
			a! INSERT INTO locks VALUES ('x', 'a', 'tomorrow')`, "", "its column expires_at is neither a timestamp nor a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := oneClient(t, func(_ context.Context, p *sim.Program) {
				env := p.Env()
				s := &scriptRunner{t: t, dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, "tcp", env.Nodes[0]) }}
				if answers := s.play(c.script); strings.Contains(answers, "ERROR") {
					t.Errorf("the answers are\n%s\nwant no errors", answers)
				}
			})
			cfg.Lock = sim.Lock{Key: "x", TTL: time.Second, Kind: locks.Kind{
				Name: "ours", System: locks.Postgres,
				New:   func(*locks.Env) (locks.Lock, error) { return nil, nil }, // only the script uses the lock
				Slots: func(string, int) ([]locks.Slot, int) { return []locks.Slot{{Key: c.key}}, 1 },
			}}
			tr := RunWorld(t, cfg)
			var events []string
			for _, ev := range tr.Events {
				switch ev.Kind {
				case trace.KindSet, trace.KindTouch, trace.KindDelete, trace.KindExpire:
					if ev.Key != c.key {
						t.Errorf("%s of the key %s, want %s", ev.Kind, ev.Key, c.key)
					}
					events = append(events, string(ev.Kind))
				}
			}
			Equal(t, "events of the row", strings.Join(events, ", "), c.events)
			if doubts := strings.Join(tr.Doubts, "; "); (doubts == "") != (c.doubt == "") || !strings.Contains(doubts, c.doubt) {
				t.Errorf("the doubts are %q, want %q", doubts, c.doubt)
			}
		})
	}
}
