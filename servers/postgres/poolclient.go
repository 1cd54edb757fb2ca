package postgres

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/servers/postgres/internal/sql"
	"github.com/locksim/locksim/sim"
)

// A poolClient is a client of a pooler: the pooler's end of its connection.
type pooled struct {
	p     *pooler
	end   *sim.End
	pid   uint32
	queue []*sim.Request
	// session is the session that the client has now, or nil.
	on *backend
	// settings are the settings that the pooler keeps for the client from one session to
	// the next, statements its prepared statements, by the client's own names.
	settings   map[string]string
	statements map[string]*pgproto3.Parse
	begun      bool
	user       string
	database   string
	gone       bool
	patience   *agenda.Timer
	reply
}

func (p *pooler) accept(end *sim.End) *pooled {
	p.s.pid++
	c := &pooled{p: p, end: end, pid: p.s.pid, settings: p.s.settings(), statements: map[string]*pgproto3.Parse{}}
	p.clients = append(p.clients, c)
	return c
}

// Receive is as in [sim.Endpoint].
func (c *pooled) Receive(r *sim.Request) {
	if c.gone {
		return
	}
	if c.queue = append(c.queue, r); len(c.queue) == 1 {
		c.asks()
		c.p.s.turn(func() {})
	}
}

// enqueue makes the client wait until its next request is served, or until the pooler's
// query_wait_timeout.
func (c *pooled) asks() {
	c.p.asking = append(c.p.asking, c)
	if c.on == nil {
		c.patience = c.p.s.timers.After(queryWaitTimeout, func() { c.dies("query_wait_timeout") })
	}
}

// HangUp is as in [sim.Endpoint]. If the client is in a transaction, no other client can
// use its session, so the pooler closes that as well.
func (c *pooled) HangUp(reset bool) {
	if c.gone || !c.p.s.host.Up() {
		return
	}
	b := c.on
	c.leaves()
	if b == nil {
		return
	}
	b.on = nil
	c.p.lost(b)
	b.HangUp(reset)
	c.p.s.turn(func() {}) // now the pooler can open another session
}

// remove forgets the client after its connection has ended.
func (c *pooled) leaves() {
	c.gone, c.on, c.queue = true, nil, nil
	c.p.s.timers.Stop(c.patience)
	is := func(o *pooled) bool { return o == c }
	c.p.clients = slices.DeleteFunc(c.p.clients, is)
	c.p.asking = slices.DeleteFunc(c.p.asking, is)
}

// closeWithError sends the client the reason and closes its connection.
func (c *pooled) dies(why string) {
	var r *sim.Request
	if len(c.queue) > 0 {
		r = c.queue[0]
	}
	c.error("FATAL", &sql.Error{Code: protocolViolation, Message: why})
	c.give(c.p.s, c.end, r)
	c.leaves()
	c.p.s.hangUp(c.end)
}

// answerDirectly answers a request that needs no session; false if the request needs one.
func (c *pooled) answers(r *sim.Request) bool {
	q, _ := r.Body.(*request)
	switch {
	case q == nil || q.bad != "":
		c.dies("bad packet")
	case q.startup != nil:
		c.starts(q.startup)
		if !c.gone {
			c.give(c.p.s, c.end, r)
		}
	case !c.begun:
		c.dies("expected a startup packet")
	default:
		if _, bye := q.messages[0].(*pgproto3.Terminate); !bye {
			return false
		}
		c.leaves()
		c.p.s.hangUp(c.end)
	}
	return true
}

func (c *pooled) starts(m pgproto3.FrontendMessage) {
	switch m := m.(type) {
	case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
		c.out = append(c.out, 'N')
		c.tell("no")
	case *pgproto3.CancelRequest:
		c.p.cancel(m)
		c.leaves()
		c.p.s.hangUp(c.end)
	case *pgproto3.StartupMessage:
		c.negotiate(m)
		if err := caught(func() { settle(m, c.settings, kept) }); err != nil {
			o := asError(err)
			c.p.s.doubts(o)
			c.dies(o.Message)
			return
		}
		if len(c.p.clients) > mostClients {
			c.dies("no more connections allowed (max_client_conn)")
			return
		}
		if databaseOf(m) == console {
			c.p.s.doubts(asError(without("the console of PgBouncer")))
		}
		c.begun = true
		c.user, c.database = m.Parameters["user"], databaseOf(m)
		c.welcome(c.settings, c.pid, secretOf(c.pid))
		c.send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	}
}

// console is the name of the database in which a pooler answers questions about itself.
const console = "pgbouncer"

// keptSettings are the settings that a pooler keeps for its clients. It refuses a client
// that connects with another setting. It does not notice if a client sets another one
// later.
var keeps = []string{"application_name", "client_encoding", "datestyle", "intervalstyle", "standard_conforming_strings", "timezone"}

func kept(name string) {
	refuse(!slices.Contains(keeps, name), protocolViolation, "unsupported startup parameter: %s", name)
}

// assign gives the client a session.
func (c *pooled) has(b *backend) {
	c.on, b.on, b.end = b, c, c.end
	b.user, b.database = c.user, c.database
	for _, name := range keeps {
		b.settings[name] = c.settings[name]
	}
}

// returnSession gives the session back to the pooler if no transaction is open.
func (c *pooled) rested() {
	b := c.on
	if !b.synced || b.block {
		return
	}
	for _, name := range keeps {
		c.settings[name] = b.settings[name]
	}
	c.on = nil
	c.p.give(b)
}

// An answered replaces a message that the pooler has answered itself. A silentParse is a
// Parse message of the pooler; the client sees its reply only if it is an error.
type said struct {
	*pgproto3.Flush
	answer pgproto3.BackendMessage
}

type quietly struct{ *pgproto3.Parse }

// rewrite returns the messages that the session gets instead of the client's. A pooler that
// tracks statements gives each statement text one name for all clients, and prepares it on
// a session before its first use there.
func (c *pooled) rewritten(messages []pgproto3.FrontendMessage) []pgproto3.FrontendMessage {
	if !c.p.tracks {
		return messages
	}
	b := c.on
	var all []pgproto3.FrontendMessage
	prepared := map[string]bool{} // by this request
	needs := func(name string) string {
		st := c.statements[name]
		refuse(st == nil, protocolViolation, "prepared statement did not exist")
		if b.statements[st.Name] == nil && !prepared[st.Name] {
			prepared[st.Name] = true
			all = append(all, quietly{st})
		}
		return st.Name
	}
	for _, is := range messages {
		switch m := is.(type) {
		case *pgproto3.Parse:
			if m.Name == "" {
				break
			}
			refuse(c.statements[m.Name] != nil, protocolViolation, "prepared statement name is already in use")
			st := *m
			st.Name = c.p.name(m)
			c.statements[m.Name] = &st
			if is = &st; b.statements[st.Name] != nil || prepared[st.Name] {
				is = said{answer: &pgproto3.ParseComplete{}}
			}
			prepared[st.Name] = true
		case *pgproto3.Bind:
			if m.PreparedStatement != "" {
				of := *m
				of.PreparedStatement = needs(m.PreparedStatement)
				is = &of
			}
		case *pgproto3.Describe:
			if m.ObjectType == 'S' && m.Name != "" {
				is = &pgproto3.Describe{ObjectType: 'S', Name: needs(m.Name)}
			}
		case *pgproto3.Close:
			if m.ObjectType == 'S' && m.Name != "" {
				delete(c.statements, m.Name)
				is = said{answer: &pgproto3.CloseComplete{}}
			}
		}
		all = append(all, is)
	}
	return all
}

// statementName returns the pooler's name for a statement.
func (p *pooler) name(m *pgproto3.Parse) string {
	says := fmt.Sprint(m.ParameterOIDs, m.Query)
	if p.names[says] == "" {
		p.names[says] = fmt.Sprint("PGBOUNCER_", len(p.names)+1)
		p.s.host.Keeps(len(says))
	}
	return p.names[says]
}
