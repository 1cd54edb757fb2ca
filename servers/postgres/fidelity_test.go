package postgres_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"

	_ "github.com/locksim/locksim/servers/postgres"
)

// A fidelity is a test case that compares the simulated server with a real one: a script of
// sessions, and the answers that both servers have to give. A line of the script is one of
// these:
//
//	a: SQL | first parameter | second    executes SQL by the extended protocol and records the answer
//	a! SQL                               executes SQL by the simple protocol and records the answer
//	a> SQL                               is as a:, but records "waits" if there is no answer yet
//	a<                                   records the answer that a> did not have yet
//	a.                                   closes the connection
//	a; 300ms                             lets that time pass
//	=action                              does something to a server: see [scriptRunner]
//
// Here a is the name of a session, which begins with its first line.
//
// An answer has one line for each of these, after the name of the session: the columns of
// a result with the OIDs of their types ("[version 20]"), a row, the tag of a command
// ("SELECT 1": one row), a notice, a warning or an error with its code.
type fidelity struct {
	name   string
	script string
	want   string // the answers of the simulated server, and of a real one if real is empty
	real   string // the answers of a real server, if they differ from want
	why    string // why they differ
}

// TestFidelityOfSimulatedServer runs the scripts on the simulated server.
func TestFidelityOfSimulatedServer(t *testing.T) {
	for _, f := range fidelityScripts {
		t.Run(f.name, func(t *testing.T) {
			var answers string
			cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				env := p.Env()
				s := &scriptRunner{t: t, dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, "tcp", env.Nodes[0]) }}
				answers = s.play(f.script)
				return nil
			}))
			cfg.Nodes = Nodes("postgres", 1)
			RunWorld(t, cfg)
			f.compare(t, answers, f.want)
		})
	}
}

// TestDifferencesHaveReasons checks that a script which lists other answers of a real server
// has a reason for them, and that these answers really differ.
func TestDifferencesHaveReasons(t *testing.T) {
	for _, f := range fidelityScripts {
		if (f.real == "") != (f.why == "") || f.real != "" && slices.Equal(lines(f.real), lines(f.want)) {
			t.Errorf("%s: real is %q and why is %q; want both or neither, and real different from want", f.name, f.real, f.why)
		}
	}
}

// lines returns the lines of a text that are not blank, without the white space around them.
func lines(s string) []string {
	var all []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// compare fails the test if the answers differ from those that are wanted.
func (f fidelity) compare(t *testing.T, answers, want string) {
	t.Helper()
	if got, wanted := lines(answers), lines(want); !slices.Equal(got, wanted) {
		t.Errorf("the answers are\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(wanted, "\n\t"))
	}
}

// A scriptRunner runs the lines of a script on a server and records the answers.
type scriptRunner struct {
	t        *testing.T
	dial     pgconn.DialFunc // connects to the server
	database string          // "" means the database locksim
	// standby connects to the standby. Sessions whose names are capital letters use it.
	standby pgconn.DialFunc
	// actions are what the lines that begin with = do, such as "stop" for =stop.
	actions map[string]func()
	// waits reports whether the session with a process ID waits for a lock, and whether it
	// has ended. It is nil in a world: there, time passes only when all goroutines wait.
	waits    func(pid uint32) (waits, gone bool)
	answers  strings.Builder
	sessions map[string]*session
}

// A session is a connection of a script. pending gets the answer that has not arrived yet;
// it is nil if the session waits for none.
type session struct {
	conn    *pgconn.PgConn
	pending chan string
	notices []string
}

// play runs a script, closes its sessions and returns all answers.
func (s *scriptRunner) play(text string) string {
	s.sessions = map[string]*session{}
	for _, line := range lines(text) {
		s.line(line)
	}
	for _, name := range slices.Sorted(maps.Keys(s.sessions)) {
		s.close(name)
	}
	return s.answers.String()
}

// soon is how long a script waits before it checks whether a session waits. In a world, an
// answer that does not have to wait for anything has arrived by then.
const soon = 300 * time.Millisecond

// line runs one line of a script.
func (s *scriptRunner) line(line string) {
	if action, is := strings.CutPrefix(line, "="); is {
		s.actions[action]()
		return
	}
	name, mark, rest := line[:1], line[1], strings.TrimSpace(line[2:])
	session := s.session(name)
	if session == nil {
		return
	}
	record := func(answer string) {
		for line := range strings.Lines(answer) {
			fmt.Fprintf(&s.answers, "%s: %s\n", name, strings.TrimSpace(line))
		}
	}
	switch mark {
	case ':':
		s.checkIdle(name, line)
		record(session.runExtended(rest))
	case '!':
		s.checkIdle(name, line)
		record(session.runSimple(rest))
	case '>':
		session.pending = make(chan string, 1)
		go func() { session.pending <- session.runExtended(rest) }()
		for recorded := false; !recorded; {
			select {
			case answer := <-session.pending:
				session.pending = nil
				record(answer)
				recorded = true
			case <-time.After(soon):
				if waits, _ := s.checkWaits(session); waits {
					record("waits")
					recorded = true
				}
			}
		}
	case '<':
		select {
		case answer := <-session.pending:
			session.pending = nil
			record(answer)
		case <-time.After(20 * time.Second):
			record("still waits")
		}
	case '.':
		s.close(name)
		for waits, gone := false, false; !waits && !gone; waits, gone = s.checkWaits(session) {
			time.Sleep(soon)
		}
	case ';':
		d, err := time.ParseDuration(rest)
		if err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(d)
	default:
		s.t.Fatalf("%q is not a line of a script", line)
	}
}

// checkWaits reports whether a session waits for a lock, and whether it has ended. It asks
// the server, because on a busy machine a late answer does not prove that the session
// waits.
func (s *scriptRunner) checkWaits(one *session) (waits, gone bool) {
	if s.waits == nil {
		return true, true
	}
	return s.waits(one.conn.PID())
}

// checkIdle fails the test if a session still waits for an answer, because a connection
// handles one request at a time.
func (s *scriptRunner) checkIdle(name, line string) {
	s.t.Helper()
	if s.sessions[name].pending != nil {
		s.t.Fatalf("%q: session %s has not received its last answer yet", line, name)
	}
}

// close closes a session. If the session waits for an answer, it will not get it.
func (s *scriptRunner) close(name string) {
	one := s.sessions[name]
	delete(s.sessions, name)
	if one.pending != nil {
		_ = one.conn.Conn().Close()
		<-one.pending
	}
	_ = one.conn.Close(context.Background())
}

// session returns the session with a name, and connects it first if it is new. It returns
// nil if it cannot connect.
func (s *scriptRunner) session(name string) *session {
	one := s.sessions[name]
	if one == nil {
		one = &session{}
		s.sessions[name] = one
		var err error
		dial := s.dial
		if strings.ToUpper(name) == name {
			dial = s.standby
		}
		one.conn, err = connect(dial, s.database, func(n *pgconn.Notice) {
			one.notices = append(one.notices, n.Severity+" "+n.Code+": "+n.Message)
		})
		if err != nil {
			s.t.Errorf("session %s cannot connect: %v", name, err)
			delete(s.sessions, name)
			return nil
		}
	}
	return one
}

// connect returns a connection that does not depend on environment variables. onNotice is
// called with each notice.
func connect(dial pgconn.DialFunc, database string, onNotice func(*pgconn.Notice)) (*pgconn.PgConn, error) {
	c, err := pgconn.ParseConfig("host=127.0.0.1 port=5432 user=locksim sslmode=disable database=" + cmp.Or(database, "locksim"))
	if err != nil {
		return nil, err
	}
	c.Fallbacks, c.RuntimeParams = nil, map[string]string{}
	c.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	c.DialFunc = dial
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { onNotice(n) }
	return pgconn.ConnectConfig(context.Background(), c)
}

// runExtended executes a statement by the extended protocol. text is the SQL and then the
// parameters, separated by " | ".
func (one *session) runExtended(text string) string {
	parts := strings.Split(text, " | ")
	var params [][]byte
	for _, p := range parts[1:] {
		if p == "NULL" {
			params = append(params, nil)
		} else {
			params = append(params, []byte(p))
		}
	}
	r := one.conn.ExecParams(context.Background(), parts[0], params, nil, nil, nil).Read()
	return one.format([]*pgconn.Result{r}, r.Err)
}

// runSimple executes statements by the simple protocol.
func (one *session) runSimple(text string) string {
	results, err := one.conn.Exec(context.Background(), text).ReadAll()
	return one.format(results, err)
}

// format returns an answer as scripts record it: the notices, the rows, the tags and the
// error.
func (one *session) format(results []*pgconn.Result, err error) string {
	var all []string
	all = append(all, one.notices...)
	one.notices = nil
	for _, r := range results {
		if len(r.FieldDescriptions) > 0 {
			var names []string
			for _, f := range r.FieldDescriptions {
				names = append(names, fmt.Sprint(f.Name, " ", f.DataTypeOID))
			}
			all = append(all, "["+strings.Join(names, ", ")+"]")
		}
		for _, row := range r.Rows {
			var values []string
			for _, v := range row {
				if v == nil {
					values = append(values, "NULL")
				} else {
					values = append(values, string(v))
				}
			}
			all = append(all, strings.Join(values, ", "))
		}
		if r.Err == nil {
			all = append(all, r.CommandTag.String())
		}
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		all = append(all, e.Severity+" "+e.Code+": "+e.Message)
	} else if err != nil {
		all = append(all, "the connection is over")
	}
	return strings.Join(all, "\n")
}
