package postgres

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/servers/postgres/sql"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A backend is a session: the server's end of one connection.
type backend struct {
	s      *server
	end    *sim.End
	pid    uint32
	secret []byte
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

	// request is what it does now, and queue what it will then. todo are the messages of
	// the request, script the statements of a message.
	request  *sim.Request
	queue    []*sim.Request
	todo     []pgproto3.FrontendMessage
	script   []sql.Statement
	scripted bool
	// skips: after an error all is skipped up to the next Sync.
	skips   bool
	running *run
	portal  *portal // whose run it is; nil is a simple query's
	asked   stamp   // when the request came, by the time of day
	askedAt int64   // and by the monotonic clock
	out     []byte
	told    []string
	idle    *timer

	begun, closed bool
	// gone: the client is, and a statement waits that has not noticed.
	gone bool
	// lost: the connection is over, and its client has not said so.
	lost bool
}

func newBackend(s *server, end *sim.End) *backend {
	s.pid++
	b := &backend{
		s: s, end: end, pid: s.pid, secret: binary.BigEndian.AppendUint32(nil, s.pid*2654435761),
		settings: maps.Clone(settings), statements: map[string]*prepared{}, portals: map[string]*portal{}, counted: map[*sequence]int64{},
	}
	if s.readOnly() {
		b.settings["in_hot_standby"], b.settings["transaction_read_only"] = "on", "on"
	}
	s.backends = append(s.backends, b)
	return b
}

// by is the client that has asked for what is done now.
func (b *backend) by() *trace.Actor {
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
	b.s.timers.stop(b.idle)
	if r := b.running; r != nil {
		b.running = nil
		if r.wait != nil {
			r.unwait()
		}
		b.s.forget(r)
	}
	if b.tx != nil {
		b.tx.abort()
	}
	b.s.advisory.all(b)
	b.s.backends = slices.DeleteFunc(b.s.backends, func(o *backend) bool { return o == b })
}

// step does what is to be done, until there is nothing or a statement waits.
func (b *backend) step() {
	for !b.closed {
		switch {
		case b.running != nil:
			err := b.running.resume()
			if err == errWait {
				b.s.waits(b.running)
				return
			}
			r := b.running
			b.running = nil
			switch {
			case err != nil:
				b.fails(err)
			case r.then != nil:
				r.then()
			default:
				b.ran(r)
			}
		case len(b.script) > 0:
			next := b.script[0]
			b.script = b.script[1:]
			b.executes(next)
		case b.scripted:
			b.scripted = false
			b.finish(b.ready)
		case len(b.todo) > 0:
			next := b.todo[0]
			b.todo = b.todo[1:]
			b.handle(next)
		default:
			b.answer()
			if b.closed || len(b.queue) == 0 {
				return
			}
			b.take()
		}
	}
}

// take takes the next request.
func (b *backend) take() {
	b.s.timers.stop(b.idle)
	b.idle = nil
	b.request, b.queue = b.queue[0], b.queue[1:]
	b.asked, b.askedAt = b.s.now(), b.s.timers.now()
	q, _ := b.request.Body.(*request)
	switch {
	case q == nil || q.bad != "":
		why := "invalid message format"
		if q != nil {
			why = q.bad
		}
		b.dies(&oops{code: protocolViolation, text: why})
	case q.startup != nil:
		b.starts(q.startup)
	case !b.begun:
		b.dies(&oops{code: protocolViolation, text: "expected a startup packet"})
	default:
		b.todo = q.messages
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

// cancel ends the statement of another session, if it waits.
func (s *server) cancel(m *pgproto3.CancelRequest) {
	for _, b := range s.backends {
		if b.pid == m.ProcessID && string(b.secret) == string(m.SecretKey) && b.running != nil {
			if r := b.running; r.then != nil {
				b.notice("WARNING", "01000", "canceling wait for synchronous replication due to user request")
				r.enough = true
			} else {
				r.fails(fail(queryCanceled, "canceling statement due to user request"))
			}
			return
		}
	}
}

// reported are the settings that a client is told.
var reported = []string{
	"application_name", "client_encoding", "DateStyle", "default_transaction_read_only", "in_hot_standby", "integer_datetimes",
	"IntervalStyle", "is_superuser", "server_encoding", "server_version", "session_authorization", "standard_conforming_strings", "TimeZone",
}

func (b *backend) welcome(m *pgproto3.StartupMessage) {
	if m.Parameters["user"] == "" {
		b.dies(&oops{code: "28000", text: "no PostgreSQL user name specified in startup packet"})
		return
	}
	const minor = 0xffff
	if m.ProtocolVersion&minor > 0 {
		b.send(&pgproto3.NegotiateProtocolVersion{})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		switch name {
		case "user", "database", "replication":
			continue
		case "options":
			b.dies(asOops(without("options in the startup packet")))
			return
		}
		name, text := strings.ToLower(name), m.Parameters[name]
		if _, known := b.settings[name]; !known {
			b.dies(asOops(unrecognized(name)))
			return
		}
		value, err := b.accepts(name, text)
		if err != nil {
			b.dies(asOops(err))
			return
		}
		b.settings[name] = value
	}
	b.settings["session_authorization"] = m.Parameters["user"]
	b.initial = maps.Clone(b.settings)
	b.begun = true
	b.send(&pgproto3.AuthenticationOk{})
	for _, name := range reported {
		b.send(&pgproto3.ParameterStatus{Name: name, Value: b.settings[strings.ToLower(name)]})
	}
	b.send(&pgproto3.BackendKeyData{ProcessID: b.pid, SecretKey: b.secret})
	b.tell("welcome")
	b.ready()
}

// send adds a message to the answer.
func (b *backend) send(m pgproto3.BackendMessage) {
	out, err := m.Encode(b.out)
	if err != nil {
		out, _ = (&pgproto3.ErrorResponse{Severity: "ERROR", Code: "54000", Message: "the answer is too long"}).Encode(b.out)
	}
	b.out = out
}

// tell adds something to what people see of the answer.
func (b *backend) tell(text string) { b.told = append(b.told, text) }

func (b *backend) notice(severity, code, text string) {
	b.send(&pgproto3.NoticeResponse{Severity: severity, SeverityUnlocalized: severity, Code: code, Message: text})
	b.tell(severity + ": " + text)
}

// fails answers with an error, which the transaction does not survive.
func (b *backend) fails(err error) {
	o := asOops(err)
	if o.ours {
		b.s.host.Doubt(b.s.host.Node().Name + " was asked for what a real PostgreSQL server may do and this one does not: " + o.text)
	}
	b.error("ERROR", o)
	b.script = nil
	b.skips = !b.scripted
	if b.tx != nil {
		b.failed = b.block
		b.tx.abort()
	}
}

func (b *backend) error(severity string, o *oops) {
	b.send(&pgproto3.ErrorResponse{Severity: severity, SeverityUnlocalized: severity, Code: o.code, Message: o.text})
	b.tell(severity + " " + o.code + ": " + o.text)
}

// dies answers with an error and ends the connection.
func (b *backend) dies(o *oops) {
	b.error("FATAL", o)
	b.hangUp()
}

// hangUp answers and ends the connection.
func (b *backend) hangUp() {
	b.todo, b.queue = nil, nil
	b.answer()
	b.lost = true
	b.close()
	b.s.out = append(b.s.out, b.end.Close)
}

// ready says that the next query can come.
func (b *backend) ready() {
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
	if len(b.out) > 0 {
		p := sim.Packet{Bytes: b.out, Text: strings.Join(b.told, "; ")}
		b.s.out = append(b.s.out, func() {
			if r == nil {
				b.end.Send(p)
			} else {
				b.end.Answer(r, p)
			}
		})
	}
	b.out, b.told = nil, nil
	b.rests()
}

// rests has the session end if it does nothing for longer than it may.
func (b *backend) rests() {
	if !b.begun || b.closed || b.idle != nil {
		return
	}
	name, o := "idle_session_timeout", &oops{code: idleSession, text: "terminating connection due to idle-session timeout"}
	if b.block {
		name, o = "idle_in_transaction_session_timeout", &oops{code: idleInTransaction, text: "terminating connection due to idle-in-transaction timeout"}
	}
	if d := b.duration(name); d > 0 {
		b.idle = b.s.timers.after(d, func() { b.dies(o) })
	}
}
