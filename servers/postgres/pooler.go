package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/sim"
)

// The settings of a pooler under their names in PgBouncer. PgBouncer's documentation
// (version 1.25, https://www.pgbouncer.org/config.html) describes them. The pooler assigns
// sessions to clients as src/objects.c of PgBouncer does.
const (
	poolMode       = "pool_mode"
	poolSize       = "default_pool_size"
	poolStatements = "max_prepared_statements"
)

var poolSettings = []sim.Setting{
	{
		Name: poolMode, Title: "transaction: a pooler in front of the server gives a client one of a few sessions for one transaction at a time",
		Check: func(value string) error {
			if value != "transaction" {
				return fmt.Errorf("a pooler is simulated only in the mode transaction, and not in %q", value)
			}
			return nil
		},
	},
	{
		Name: poolSize, Title: "how many sessions the pooler has at most, 20 by default",
		Check: func(value string) error { return checkNumber(value, 1) },
	},
	{
		Name: poolStatements, Title: "how many prepared statements the pooler keeps on a session; 0: it passes them on unchanged",
		Check: func(value string) error { return checkNumber(value, 0) },
	},
}

// checkNumber returns an error if a setting's value is not a number in the allowed range.
func checkNumber(value string, least int) error {
	const most = 10_000
	if n, err := strconv.Atoi(value); err != nil || n < least || n > most {
		return fmt.Errorf("%q is not a whole number from %d to %d", value, least, most)
	}
	return nil
}

// PgBouncer's own limits, at their defaults. A scenario cannot set them.
const (
	defaultPoolSize   = 20
	mostClients       = 100
	serverIdleTimeout = 10 * time.Minute
	serverLifetime    = time.Hour
	queryWaitTimeout  = 2 * time.Minute
)

// A pooler runs in front of a server, on the server's machine, like PgBouncer in the mode
// transaction. Clients connect to it, and it has a few sessions with the server. A client with a
// request gets one of the sessions and gives it back when its transaction ends. The session that
// was given back last is used next. Session state such as an advisory lock stays with the session,
// whichever client gets the session next.
type pooler struct {
	s                *server
	size             int
	tracksStatements bool // whether it tracks the statements that clients prepare
	// idle are the sessions that no client has. The last element is the session that was given
	// back most recently. sessionCount is the number of all sessions, idle or not.
	idle         []*backend
	sessionCount int
	// clients are all connected clients. waiting are the clients with a request on which no
	// session works yet, in the order in which they are served.
	clients, waiting []*poolClient
	statementNames   map[string]string // the pooler's statement names, by parameter types and text
}

// newPooler returns the pooler that the node's settings ask for, or nil.
func newPooler(s *server) *pooler {
	if s.host.SettingValue(poolMode) == "" {
		if s.host.SettingValue(poolSize)+s.host.SettingValue(poolStatements) != "" {
			// The doubt makes the run inconclusive.
			s.host.Doubt(s.host.Node().Name + " has settings for a pooler, but no pooler: set " + poolMode + "=transaction")
		}
		return nil
	}
	numberSetting := func(name string, defaultValue int) int {
		if n, err := strconv.Atoi(s.host.SettingValue(name)); err == nil {
			return n
		}
		return defaultValue
	}
	return &pooler{s: s, size: numberSetting(poolSize, defaultPoolSize), tracksStatements: numberSetting(poolStatements, 1) > 0, statementNames: map[string]string{}}
}

// serveNext serves one request of a client. It returns false if none can be served now, and
// always for a nil pooler.
func (p *pooler) serveNext() bool {
	if p == nil {
		return false
	}
	for _, c := range p.waiting {
		if c.session != nil && c.session.isBusy() {
			continue
		}
		r := c.queue[0]
		if c.session == nil && !c.answerDirectly(r) {
			b := p.takeSession()
			if b == nil {
				continue
			}
			c.assign(b)
		}
		p.dequeue(c)
		if c.session != nil {
			c.session.Receive(r)
		}
		return true
	}
	return false
}

// dequeue removes a client's first request. If the client has more requests, it is queued
// again, behind the other clients.
func (p *pooler) dequeue(c *poolClient) {
	if c.isGone {
		return
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(o *poolClient) bool { return o == c })
	p.s.timers.Stop(c.waitTimer)
	if c.queue = c.queue[1:]; len(c.queue) > 0 {
		c.enqueue()
	}
}

// takeSession returns a session that no client has: the one that was given back last, or
// else a new one. It returns nil if the pooler has as many sessions as it may have.
func (p *pooler) takeSession() *backend {
	if n := len(p.idle); n > 0 {
		b := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.s.timers.Stop(b.unusedTimer)
		return b
	}
	if p.sessionCount == p.size {
		return nil
	}
	p.sessionCount++
	b := newBackend(p.s, nil)
	b.isPooled, b.isStarted, b.initialSettings = true, true, p.s.initialSettings()
	b.closesAt = p.s.timers.Now() + int64(serverLifetime)
	return b
}

// putBack makes a session idle. The pooler closes the session when no client has used it
// for serverIdleTimeout, or when it has existed for serverLifetime.
func (p *pooler) putBack(b *backend) {
	b.client, b.end = nil, nil // end is the server's end of the client's connection
	p.idle = append(p.idle, b)
	b.unusedTimer = p.s.timers.At(min(p.s.timers.Now()+int64(serverIdleTimeout), b.closesAt), b.loseConnection)
}

// removeSession forgets a session that has ended. It does nothing for a session that
// belongs to no pooler; then p may be nil.
func (p *pooler) removeSession(b *backend) {
	if !b.isPooled {
		return
	}
	b.isPooled = false
	p.sessionCount--
	p.s.timers.Stop(b.unusedTimer)
	p.idle = slices.DeleteFunc(p.idle, func(o *backend) bool { return o == b })
	if b.client != nil {
		b.client.remove()
	}
}

// cancel cancels the statement of the client that a CancelRequest names.
func (p *pooler) cancel(m *pgproto3.CancelRequest) {
	for _, c := range p.clients {
		if c.pid == m.ProcessID && string(cancelKey(c.pid)) == string(m.SecretKey) && c.session != nil {
			c.session.cancel()
			return
		}
	}
}
