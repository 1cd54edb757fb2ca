package postgres

import (
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/servers/postgres/internal/sql"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A backend is a session: the server's end of one connection, or behind a pooler that of the
// client which has it now.
type backend struct {
	s      *server
	end    *sim.End
	pid    uint32
	secret []byte
	// user and database are the client's, and since is when the session began.
	user, database string
	since          stamp
	// settings are those of the session, and initial as they were when it began.
	settings, initial map[string]string
	statements        map[string]*prepared
	portals           map[string]*portal
	counted           map[*sequence]int64
	advisory          []advisory // that it has, and inTx those of its transaction
	inTx              []advisory

	// tx is its transaction; nil is none. block says that BEGIN has begun it, and failed
	// that it has failed since and waits for its end.
	tx            *tx
	block, failed bool

	// request is what it does now, and queue what it will then. It does it in a coroutine, which
	// goes on with resume until it has to wait, or has come to its end.
	request *sim.Request
	queue   []*sim.Request
	resume  func() (_ struct{}, waits bool)
	stop    func()
	yield   func(struct{}) bool
	// skips: after an error all is skipped up to the next Sync.
	skips   bool
	running *run
	asked   stamp // when the request came, by the time of day
	askedAt int64 // and by the monotonic clock
	reply
	idle *agenda.Timer
	// query is what it was asked for last, at queryAt; active says that it has not said since that
	// the next query can come, and changed is when that has changed.
	query   string
	queryAt stamp
	active  bool
	changed stamp

	// pooled: it is a pooler's, which closes it at last when the monotonic clock reads ends,
	// and before that if it was unused for long. on is the client that has it now; nil is none.
	pooled bool
	ends   int64
	unused *agenda.Timer
	on     *pooled

	begun, closed bool
	synced        bool // it has said that the next query can come
	// gone: the client is, and a statement waits that has not noticed.
	gone bool
	// lost: the connection is over, and its client has not said so.
	lost bool
	// revoked: an operator does what it does, or has ended it.
	revoked bool
}

func newBackend(s *server, end *sim.End) *backend {
	s.pid++
	b := &backend{
		s: s, end: end, pid: s.pid, secret: secretOf(s.pid), since: s.now(), changed: s.now(),
		settings: s.settings(), statements: map[string]*prepared{}, portals: map[string]*portal{}, counted: map[*sequence]int64{},
	}
	s.backends = append(s.backends, b)
	return b
}

// secretOf is what somebody has to know who wants to cancel what a session does.
func secretOf(pid uint32) []byte { return binary.BigEndian.AppendUint32(nil, pid*2654435761) }

// settings are those with which a session begins.
func (s *server) settings() map[string]string {
	all := maps.Clone(settings)
	if s.readOnly() {
		all["in_hot_standby"], all["transaction_read_only"] = "on", "on"
	}
	return all
}

// hangUp closes a connection, once what is to be sent on it is.
func (s *server) hangUp(end *sim.End) {
	if end != nil { // a session of a pooler may have no client
		s.out.Send(end.Close)
	}
}

// by is the client that has asked for what is done now.
func (b *backend) by() *trace.Actor {
	if b.revoked {
		return trace.Operator()
	}
	if b.request == nil || b.lost {
		return nil
	}
	return b.request.By()
}

// Receive is as in [sim.Endpoint].
func (b *backend) Receive(r *sim.Request) {
	if b.closed {
		return
	}
	b.queue = append(b.queue, r)
	if b.request == nil {
		b.s.turn(b.step)
	}
}

// HangUp is as in [sim.Endpoint]. A session that waits for a lock does not read from its
// connection, and finds out when it writes.
func (b *backend) HangUp(bool) {
	if !b.s.host.Up() || b.closed {
		return
	}
	b.gone = true
	if b.request == nil {
		b.s.turn(b.loses)
	}
}

// loses ends a session whose connection is over.
func (b *backend) loses() {
	b.lost = true
	b.close()
}

// close ends the session: its transaction fails, and all that it has locked is free.
func (b *backend) close() {
	if b.closed {
		return
	}
	b.closed = true
	b.s.pool.lost(b)
	b.s.timers.Stop(b.idle)
	b.abandon()
	if b.tx != nil {
		b.tx.abort()
	}
	b.s.advisory.all(b)
	b.s.backends = slices.DeleteFunc(b.s.backends, func(o *backend) bool { return o == b })
}

// errAbandoned is how what a session does ends if it is over while it waits.
var errAbandoned = errors.New("it is abandoned")

// abandon ends what the session waits with.
func (b *backend) abandon() {
	if r := b.running; r != nil && r.wait != nil {
		r.unwait()
		b.s.forget(r)
		b.stop()
	}
}

// step does what is to be done, until there is nothing or a statement waits.
func (b *backend) step() {
	for !b.closed {
		if b.resume == nil {
			if len(b.queue) == 0 {
				return
			}
			b.take()
		}
		if _, waits := b.resume(); waits {
			b.s.waits(b.running)
			return
		}
		b.resume = nil
		if b.closed {
			return
		}
		b.answer()
		if b.on != nil && !b.busy() {
			b.on.rested()
		}
	}
}

// begin has the session do something.
func (b *backend) begin(does func()) {
	b.resume, b.stop = iter.Pull(func(yield func(struct{}) bool) {
		b.yield = yield
		_ = caught(does) // what it raises otherwise is answered
	})
}

// try does something, and answers with the error that it raises.
func (b *backend) try(f func()) {
	switch err := caught(f); err {
	case nil:
	case errAbandoned:
		raise(err)
	default:
		b.fails(err)
	}
}

// take takes the next request.
func (b *backend) take() {
	b.s.timers.Stop(b.idle)
	b.idle = nil
	b.request, b.queue = b.queue[0], b.queue[1:]
	b.asked, b.askedAt = b.s.now(), b.s.timers.Now()
	b.synced = false
	q, _ := b.request.Body.(*request)
	b.begin(func() { b.serve(q) })
}

// serve does what a request asks for.
func (b *backend) serve(q *request) {
	switch {
	case q == nil:
		b.dies(fail(protocolViolation, "invalid message format"))
		return
	case q.bad != "":
		b.dies(fail(protocolViolation, "%s", q.bad))
		return
	case q.startup != nil:
		b.starts(q.startup)
		return
	case !b.begun:
		b.dies(fail(protocolViolation, "expected a startup packet"))
		return
	}
	messages := q.messages
	if b.on != nil {
		if err := caught(func() { messages = b.on.rewritten(messages) }); err != nil {
			b.dies(err)
			return
		}
	}
	for _, m := range messages {
		if b.closed {
			return
		}
		b.try(func() { b.handle(m) })
	}
}

// starts answers the first message.
func (b *backend) starts(m pgproto3.FrontendMessage) {
	switch m := m.(type) {
	case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
		b.out = append(b.out, 'N')
		b.tell("no")
	case *pgproto3.CancelRequest:
		b.s.cancel(m)
		b.hangUp()
	case *pgproto3.StartupMessage:
		b.welcome(m)
	}
}

// busy says whether it has something to do.
func (b *backend) busy() bool { return b.request != nil || len(b.queue) > 0 }

// cancel ends the statement of another session, if it waits.
func (s *server) cancel(m *pgproto3.CancelRequest) {
	for _, b := range s.backends {
		if b.pid == m.ProcessID && string(b.secret) == string(m.SecretKey) {
			b.cancel()
			return
		}
	}
}

func (b *backend) cancel() {
	switch r := b.running; {
	case r == nil:
	case r.commits:
		b.notice("WARNING", "01000", "canceling wait for synchronous replication due to user request")
		r.enough = true
	default:
		r.fails(fail(queryCanceled, "canceling statement due to user request"))
	}
}

func (b *backend) welcome(m *pgproto3.StartupMessage) {
	b.negotiate(m)
	if err := caught(func() { settle(m, b.settings, known) }); err != nil {
		b.dies(err)
		return
	}
	b.initial = maps.Clone(b.settings)
	b.begun = true
	b.user, b.database = m.Parameters["user"], databaseOf(m)
	b.reply.welcome(b.settings, b.pid, b.secret)
	b.ready()
}

// databaseOf is the database that a client wants, which is called as the user if it does not say.
func databaseOf(m *pgproto3.StartupMessage) string {
	return cmp.Or(m.Parameters["database"], m.Parameters["user"])
}

// asks notes what the session is asked for, as others see it.
func (b *backend) asks(text string) {
	const most = 1023 // track_activity_query_size
	b.query = strings.ToValidUTF8(text[:min(len(text), most)], "")
	b.queryAt, b.active, b.changed = b.asked, true, b.s.now()
}

// state is what the session does, as others see it.
func (b *backend) state() string {
	switch {
	case b.active:
		return "active"
	case b.failed:
		return "idle in transaction (aborted)"
	case b.block:
		return "idle in transaction"
	}
	return "idle"
}

// terminate ends the session, as its administrator wants it.
func (b *backend) terminate() {
	b.dies(fail(adminShutdown, "terminating connection due to administrator command"))
}

// doubts says that the server was asked for what it does not have.
func (s *server) doubts(o *sql.Error) {
	if o.Ours {
		s.host.Doubt(s.host.Node().Name + " was asked for what a real PostgreSQL server may do and this one does not: " + o.Message)
	}
}

// fails answers with an error, which the transaction does not survive.
func (b *backend) fails(err error) {
	o := asError(err)
	b.s.doubts(o)
	b.error("ERROR", o)
	b.running, b.skips = nil, true
	if b.tx != nil {
		b.failed = b.block
		b.tx.abort()
	}
}

// dies answers with an error and ends the connection.
func (b *backend) dies(err error) {
	o := asError(err)
	b.s.doubts(o)
	b.error("FATAL", o)
	b.hangUp()
}

// hangUp answers and ends the connection.
func (b *backend) hangUp() {
	b.queue = nil
	b.answer()
	b.lost = true
	b.close()
	b.s.hangUp(b.end)
}

// ready says that the next query can come.
func (b *backend) ready() {
	b.synced = true
	b.active, b.changed = false, b.s.now()
	status := byte('I')
	switch {
	case b.failed:
		status = 'E'
	case b.block:
		status = 'T'
	}
	b.send(&pgproto3.ReadyForQuery{TxStatus: status})
}

// answer sends what there is to answer.
func (b *backend) answer() {
	r := b.request
	b.request = nil
	if b.gone {
		b.loses()
		return
	}
	b.give(b.s, b.end, r)
	b.rests()
}

// rests has the session end if it does nothing for longer than it may.
func (b *backend) rests() {
	if !b.begun || b.closed || b.idle != nil {
		return
	}
	name, err := "idle_session_timeout", fail(idleSession, "terminating connection due to idle-session timeout")
	if b.block {
		name, err = "idle_in_transaction_session_timeout", fail(idleInTransaction, "terminating connection due to idle-in-transaction timeout")
	}
	if d := b.duration(name); d > 0 {
		b.idle = b.s.timers.After(d, func() { b.dies(err) })
	}
}
