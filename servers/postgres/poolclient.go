package postgres

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/servers/postgres/internal/sql"
	"github.com/locksim/locksim/sim"
)

// A poolClient is a client of a pooler, seen from the pooler: the pooler's end of the client's
// connection. The client gets a session of the server for one transaction at a time.
type poolClient struct {
	p     *pooler
	end   *sim.End
	pid   uint32
	queue []*sim.Request
	// session is the session that the client has now, or nil.
	session *backend
	// settings are the settings that the pooler keeps for the client from one session to
	// the next. statements are the statements that the client has prepared, by the client's
	// own names.
	settings   map[string]string
	statements map[string]*pgproto3.Parse
	isStarted  bool // the client has sent its StartupMessage
	user       string
	database   string
	isGone     bool
	waitTimer  *agenda.Timer
	reply
}

// accept adds the client at the other end of a new connection.
func (p *pooler) accept(end *sim.End) *poolClient {
	p.s.lastPID++
	c := &poolClient{p: p, end: end, pid: p.s.lastPID, settings: p.s.initialSettings(), statements: map[string]*pgproto3.Parse{}}
	p.clients = append(p.clients, c)
	return c
}

// Receive is as in [sim.Endpoint].
func (c *poolClient) Receive(r *sim.Request) {
	if c.isGone {
		return
	}
	if c.queue = append(c.queue, r); len(c.queue) == 1 {
		c.enqueue()
		c.p.s.runTurn(func() {})
	}
}

// enqueue adds the client to those whose next request waits to be served. If the client has no
// session, and waits longer than the pooler's query_wait_timeout, the pooler closes its connection.
func (c *poolClient) enqueue() {
	c.p.waiting = append(c.p.waiting, c)
	if c.session == nil {
		c.waitTimer = c.p.s.timers.After(queryWaitTimeout, func() { c.closeWithError("query_wait_timeout") })
	}
}

// HangUp is as in [sim.Endpoint]. If the client is in a transaction, no other client can
// use its session, so the pooler closes the session too.
func (c *poolClient) HangUp(reset bool) {
	if c.isGone || !c.p.s.host.IsUp() {
		return
	}
	b := c.session
	c.remove()
	if b == nil {
		return
	}
	b.client = nil
	c.p.removeSession(b)
	b.HangUp(reset)
	c.p.s.runTurn(func() {}) // a turn in which the pooler may open a session for a waiting client
}

// remove forgets the client, whose connection has ended.
func (c *poolClient) remove() {
	c.isGone, c.session, c.queue = true, nil, nil
	c.p.s.timers.Stop(c.waitTimer)
	isSelf := func(o *poolClient) bool { return o == c }
	c.p.clients = slices.DeleteFunc(c.p.clients, isSelf)
	c.p.waiting = slices.DeleteFunc(c.p.waiting, isSelf)
}

// closeWithError sends the client an error with the text why and closes its connection.
func (c *poolClient) closeWithError(why string) {
	var r *sim.Request
	if len(c.queue) > 0 {
		r = c.queue[0]
	}
	c.sendError("FATAL", &sql.Error{Code: protocolViolation, Message: why})
	c.flush(c.p.s, c.end, r)
	c.remove()
	c.p.s.closeEnd(c.end)
}

// answerDirectly answers a request that needs no session. It returns false, without an
// answer, if the request needs a session.
func (c *poolClient) answerDirectly(r *sim.Request) bool {
	q, _ := r.Body.(*request)
	switch {
	case q == nil || q.bad != "":
		c.closeWithError("bad packet")
	case q.startup != nil:
		c.handleStartup(q.startup)
		if !c.isGone {
			c.flush(c.p.s, c.end, r)
		}
	case !c.isStarted:
		c.closeWithError("expected a startup packet")
	default:
		if _, bye := q.messages[0].(*pgproto3.Terminate); !bye {
			return false
		}
		c.remove()
		c.p.s.closeEnd(c.end)
	}
	return true
}

// handleStartup answers the first message of the client's connection.
func (c *poolClient) handleStartup(m pgproto3.FrontendMessage) {
	switch m := m.(type) {
	case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
		c.out = append(c.out, 'N')
		c.addText("no")
	case *pgproto3.CancelRequest:
		c.p.cancel(m)
		c.remove()
		c.p.s.closeEnd(c.end)
	case *pgproto3.StartupMessage:
		c.negotiate(m)
		if err := catch(func() { applyStartup(m, c.settings, checkKept) }); err != nil {
			o := toSQLError(err)
			c.p.s.doubtIfUnsupported(o)
			c.closeWithError(o.Message)
			return
		}
		if len(c.p.clients) > mostClients {
			c.closeWithError("no more connections allowed (max_client_conn)")
			return
		}
		if databaseOf(m) == console {
			c.p.s.doubtIfUnsupported(toSQLError(unsupported("the console of PgBouncer")))
		}
		c.isStarted = true
		c.user, c.database = m.Parameters["user"], databaseOf(m)
		c.welcome(c.settings, c.pid, cancelKey(c.pid))
		c.send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	}
}

// console is the name of the database in which PgBouncer answers questions about itself. It
// is not simulated.
const console = "pgbouncer"

// keptSettings are the settings that a pooler keeps for its clients. The pooler refuses a client
// that connects with any other setting. It does not notice if a client changes one of the other
// settings later.
var keptSettings = []string{"application_name", "client_encoding", "datestyle", "intervalstyle", "standard_conforming_strings", "timezone"}

// checkKept raises an error for a setting that the pooler does not keep.
func checkKept(name string) {
	raiseIf(!slices.Contains(keptSettings, name), protocolViolation, "unsupported startup parameter: %s", name)
}

// assign gives the client a session.
func (c *poolClient) assign(b *backend) {
	c.session, b.client, b.end = b, c, c.end
	b.user, b.database = c.user, c.database
	for _, name := range keptSettings {
		b.settings[name] = c.settings[name]
	}
}

// returnSession gives the session back to the pooler, unless a transaction is open.
func (c *poolClient) returnSession() {
	b := c.session
	if !b.isReady || b.inBlock {
		return
	}
	for _, name := range keptSettings {
		c.settings[name] = b.settings[name]
	}
	c.session = nil
	c.p.putBack(b)
}

// An answeredMessage replaces a client's message that the pooler answers itself. It embeds a Flush
// only to have the methods of a client's message. A silentParse is a Parse message that the pooler
// sends by itself. The client sees the reply to it only if that is an error.
type answeredMessage struct {
	*pgproto3.Flush
	answer pgproto3.BackendMessage
}

type silentParse struct{ *pgproto3.Parse }

// rewrite returns the messages that the session gets in place of the client's. A pooler
// that tracks statements gives each statement text one name for all clients. It prepares
// the statement on a session before the statement is first used there.
func (c *poolClient) rewrite(messages []pgproto3.FrontendMessage) []pgproto3.FrontendMessage {
	if !c.p.tracksStatements {
		return messages
	}
	b := c.session
	var rewritten []pgproto3.FrontendMessage
	preparedHere := map[string]bool{} // the pooler's names of the statements that it prepares
	usableName := func(name string) string {
		st := c.statements[name]
		raiseIf(st == nil, protocolViolation, "prepared statement did not exist")
		if b.statements[st.Name] == nil && !preparedHere[st.Name] {
			preparedHere[st.Name] = true
			rewritten = append(rewritten, silentParse{st})
		}
		return st.Name
	}
	for _, msg := range messages {
		switch m := msg.(type) {
		case *pgproto3.Parse:
			if m.Name == "" {
				break
			}
			raiseIf(c.statements[m.Name] != nil, protocolViolation, "prepared statement name is already in use")
			st := *m
			st.Name = c.p.statementName(m)
			c.statements[m.Name] = &st
			if msg = &st; b.statements[st.Name] != nil || preparedHere[st.Name] {
				msg = answeredMessage{answer: &pgproto3.ParseComplete{}}
			}
			preparedHere[st.Name] = true
		case *pgproto3.Bind:
			if m.PreparedStatement != "" {
				copied := *m
				copied.PreparedStatement = usableName(m.PreparedStatement)
				msg = &copied
			}
		case *pgproto3.Describe:
			if m.ObjectType == 'S' && m.Name != "" {
				msg = &pgproto3.Describe{ObjectType: 'S', Name: usableName(m.Name)}
			}
		case *pgproto3.Close:
			if m.ObjectType == 'S' && m.Name != "" {
				delete(c.statements, m.Name)
				msg = answeredMessage{answer: &pgproto3.CloseComplete{}}
			}
		}
		rewritten = append(rewritten, msg)
	}
	return rewritten
}

// statementName returns the pooler's name for a statement, which is the same for equal
// statements of all clients.
func (p *pooler) statementName(m *pgproto3.Parse) string {
	key := fmt.Sprint(m.ParameterOIDs, m.Query)
	if p.statementNames[key] == "" {
		p.statementNames[key] = fmt.Sprint("PGBOUNCER_", len(p.statementNames)+1)
		p.s.host.ChargeText(len(key))
	}
	return p.statementNames[key]
}
