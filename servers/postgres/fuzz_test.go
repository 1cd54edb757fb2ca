package postgres_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// oneClient is a world with one server and one client, which runs do.
func oneClient(t *testing.T, do func(ctx context.Context, p *sim.Program)) sim.Config {
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		do(ctx, p)
		return nil
	}))
	cfg.Nodes = Nodes("postgres", 1)
	return cfg
}

// encodeMessages returns the bytes of messages, as a client sends them.
func encodeMessages(messages ...pgproto3.FrontendMessage) []byte {
	var b []byte
	for _, m := range messages {
		b, _ = m.Encode(b)
	}
	return b
}

// startup is the first message of a client.
var startup = &pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "a"}}

// FuzzMessages checks that the server replies or hangs up, whatever a client sends, and
// that it then serves the next client.
func FuzzMessages(f *testing.F) {
	for _, b := range [][]byte{
		nil, {0}, {0, 0, 0, 8, 4, 210, 22, 47}, []byte("GET / HTTP/1.0\r\n\r\n"),
		encodeMessages(startup),
		encodeMessages(startup, &pgproto3.Query{String: "SELECT 1; SELECT $1; BEGIN; SELECT 1/0"}, &pgproto3.Terminate{}),
		encodeMessages(startup, &pgproto3.Parse{Name: "a", Query: "SELECT $1::int", ParameterOIDs: []uint32{23}},
			&pgproto3.Bind{PreparedStatement: "a", Parameters: [][]byte{{0, 0, 0, 1}}, ParameterFormatCodes: []int16{1}, ResultFormatCodes: []int16{1}},
			&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{MaxRows: 1}, &pgproto3.Close{ObjectType: 'S', Name: "a"}, &pgproto3.Sync{}),
		encodeMessages(startup, &pgproto3.Bind{PreparedStatement: "none"}, &pgproto3.Execute{Portal: "none"}, &pgproto3.Flush{}, &pgproto3.Sync{}),
		encodeMessages(startup, &pgproto3.PasswordMessage{Password: "a"}), encodeMessages(startup, &pgproto3.CopyDone{}), append(encodeMessages(startup), 'Q', 0xff, 0xff, 0xff, 0xff),
		encodeMessages(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion32, Parameters: map[string]string{"user": "a", "lock_timeout": "1s"}}),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		RunWorld(t, oneClient(t, func(ctx context.Context, p *sim.Program) {
			c, err := Dial(ctx, p, 0)
			if err != nil {
				t.Error(err)
				return
			}
			c.SetDeadline(time.Now().Add(time.Second))
			if _, err := c.Write(b); err == nil {
				_, _ = c.Read(make([]byte, 1))
			}
			c.Close()
			if got := answer(ctx, p, "SELECT 1"); got != "1" {
				t.Errorf("SELECT 1 of the next client: got %q, want 1", got)
			}
		}))
	})
}

// FuzzStatements checks that any SQL gets a reply, and that the server then serves the next
// session.
func FuzzStatements(f *testing.F) {
	for _, c := range fidelityScripts {
		for _, line := range lines(c.script) {
			if strings.ContainsRune(":!>", rune(line[1])) {
				f.Add(strings.TrimSpace(line[2:]))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		RunWorld(t, oneClient(t, func(ctx context.Context, p *sim.Program) {
			answer(ctx, p, "CREATE TABLE t (k text PRIMARY KEY, n int, at timestamptz); INSERT INTO t VALUES ('a', 1, now()), ('b', NULL, NULL); CREATE SEQUENCE s; SET statement_timeout = '10s'; "+text)
			if got := answer(ctx, p, "SELECT 1"); got != "1" {
				t.Errorf("SELECT 1 of the next client: got %q, want 1", got)
			}
		}))
	})
}

// answer executes a text in a new session. It returns the last value of the result, or the
// error.
func answer(ctx context.Context, p *sim.Program, text string) string {
	env := p.Env()
	c, err := connect(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return env.Dial(ctx, network, env.Nodes[0])
	}, "", func(*pgconn.Notice) {})
	if err != nil {
		return err.Error()
	}
	defer c.Close(ctx)
	results, err := c.Exec(ctx, text).ReadAll()
	got := ""
	if err != nil {
		got = err.Error()
	}
	for _, r := range results {
		for _, row := range r.Rows {
			for _, v := range row {
				got = string(v)
			}
		}
	}
	return got
}
