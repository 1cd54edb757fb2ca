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

// A backend is a session: the server's end of one connection. Behind a pooler a session
// serves one client after another. Its connection is then that of the client that has the
// session now.
type backend struct {
	s      *server
	end    *sim.End
	pid    uint32
	secret []byte
	// user and database are those that the client asked for; startedAt is when the session
	// began.
	user, database string
	startedAt      timestamp
	// settings are the session's current settings, initialSettings those at its start.
	settings, initialSettings map[string]string
	statements                map[string]*preparedStatement
	portals                   map[string]*portal
	lastValues                map[*sequence]int64 // the latest value that each sequence has given to the session, for currval()
	advisoryLocks             []advisoryLock      // advisoryLocks are all that the session holds, txAdvisoryLocks those that its transaction holds
	txAdvisoryLocks           []advisoryLock

	// tx is the session's transaction, or nil. inBlock reports whether BEGIN started it.
	// hasFailed reports whether it has failed since then, and so waits for ROLLBACK or
	// COMMIT.
	tx                 *tx
	inBlock, hasFailed bool

	// request is the request on which the session works, and queue holds the requests after
	// it. The work is done in a coroutine. resume runs the coroutine until it has to wait
	// or ends. stop ends it early. The coroutine itself calls yield in order to wait.
	request *sim.Request
	queue   []*sim.Request
	resume  func() (_ struct{}, waits bool)
	stop    func()
	yield   func(struct{}) bool
	// isSkipping is true after an error: the session skips all messages up to the next
	// Sync.
	isSkipping   bool
	running      *run      // the statement or commit that the session executes, or nil
	receivedAt   timestamp // when the request arrived, by the wall clock
	receivedMono int64     // when it arrived, by the monotonic clock, in nanoseconds
	reply
	idleTimer *agenda.Timer
	// query is the text of the last query, which came at queryAt. isActive is true from
	// then until ReadyForQuery is sent. stateChangedAt is when isActive last changed.
	query          string
	queryAt        timestamp
	isActive       bool
	stateChangedAt timestamp

	// isPooled reports whether the session belongs to the pooler. The pooler closes the session
	// when the monotonic clock reaches closesAt. unusedTimer makes the pooler close the session
	// earlier if no client has used it for long. client is the client that has the session now, or
	// nil.
	isPooled    bool
	closesAt    int64
	unusedTimer *agenda.Timer
	client      *poolClient

	isStarted, isClosed bool // isStarted: the client has sent its StartupMessage, or the session belongs to the pooler or the operator
	isReady             bool // the last message sent was ReadyForQuery
	// clientGone reports whether the client has hung up while a statement waits. The
	// session notices that only when the statement has ended.
	clientGone bool
	// connectionLost reports whether the connection ended without a Terminate message.
	connectionLost bool
	// isRevoked reports whether an operator ends the session, or the session is the operator's own.
	// In both cases the session's events name the operator.
	isRevoked bool
}

func newBackend(s *server, end *sim.End) *backend {
	s.lastPID++
	b := &backend{
		s: s, end: end, pid: s.lastPID, secret: cancelKey(s.lastPID), startedAt: s.now(), stateChangedAt: s.now(),
		settings: s.initialSettings(), statements: map[string]*preparedStatement{}, portals: map[string]*portal{}, lastValues: map[*sequence]int64{},
	}
	s.backends = append(s.backends, b)
	return b
}

// cancelKey returns the secret that a client needs to cancel the session's statements.
func cancelKey(pid uint32) []byte { return binary.BigEndian.AppendUint32(nil, pid*2654435761) }

// initialSettings returns the settings of a new session on this server.
func (s *server) initialSettings() map[string]string {
	settings := maps.Clone(defaultSettings)
	if s.isStandby() {
		settings["in_hot_standby"], settings["transaction_read_only"] = "on", "on"
	}
	return settings
}

// closeEnd closes a connection after everything in the outbox has been sent.
func (s *server) closeEnd(end *sim.End) {
	if end != nil { // a session of a pooler may have no client
		s.out.Send(end.Close)
	}
}

// actor returns the acquisition that sent the request on which the session works, or nil.
// For a revoked session it returns the operator.
func (b *backend) actor() *trace.Actor {
	if b.isRevoked {
		return trace.Operator()
	}
	if b.request == nil || b.connectionLost {
		return nil
	}
	return b.request.Sender()
}

// Receive is as in [sim.Endpoint]. The session works on the request in a turn of the server, at
// whose end the replies are sent.
func (b *backend) Receive(r *sim.Request) {
	if b.isClosed {
		return
	}
	b.queue = append(b.queue, r)
	if b.request == nil {
		b.s.runTurn(b.serveQueued)
	}
}

// HangUp is as in [sim.Endpoint]. A session that waits for a lock does not read from its
// connection. It notices that the connection has ended only when it writes.
func (b *backend) HangUp(bool) {
	if !b.s.host.IsUp() || b.isClosed {
		return
	}
	b.clientGone = true
	if b.request == nil {
		b.s.runTurn(b.loseConnection)
	}
}

// loseConnection ends a session whose connection has ended.
func (b *backend) loseConnection() {
	b.connectionLost = true
	b.close()
}

// close ends the session: its transaction is aborted and all its locks are released.
func (b *backend) close() {
	if b.isClosed {
		return
	}
	b.isClosed = true
	b.s.pool.removeSession(b)
	b.s.timers.Stop(b.idleTimer)
	b.abandon()
	if b.tx != nil {
		b.tx.abort()
	}
	b.s.advisoryLocks.releaseAll(b)
	b.s.backends = slices.DeleteFunc(b.s.backends, func(o *backend) bool { return o == b })
}

// errAbandoned is raised in the coroutine of a session that is closed while it waits. It
// ends the coroutine.
var errAbandoned = errors.New("it is abandoned")

// abandon ends the session's wait and its coroutine.
func (b *backend) abandon() {
	if r := b.running; r != nil && r.wait != nil {
		r.endWait()
		b.s.removeWaiter(r)
		b.stop()
	}
}

// serveQueued works on the queued requests until none is left or a statement has to wait.
func (b *backend) serveQueued() {
	for !b.isClosed {
		if b.resume == nil {
			if len(b.queue) == 0 {
				return
			}
			b.takeRequest()
		}
		if _, waits := b.resume(); waits {
			b.s.addWaiter(b.running)
			return
		}
		b.resume = nil
		if b.isClosed {
			return
		}
		b.sendReply()
		if b.client != nil && !b.isBusy() {
			b.client.returnSession()
		}
	}
}

// startCoroutine prepares a coroutine that calls work; resume runs it.
func (b *backend) startCoroutine(work func()) {
	b.resume, b.stop = iter.Pull(func(yield func(struct{}) bool) {
		b.yield = yield
		_ = catch(work) // only errAbandoned gets here; all other errors were sent to the client
	})
}

// try calls f. If f raises an error, try sends it to the client.
func (b *backend) try(f func()) {
	switch err := catch(f); err {
	case nil:
	case errAbandoned:
		raise(err)
	default:
		b.answerError(err)
	}
}

// takeRequest starts work on the next request.
func (b *backend) takeRequest() {
	b.s.timers.Stop(b.idleTimer)
	b.idleTimer = nil
	b.request, b.queue = b.queue[0], b.queue[1:]
	b.receivedAt, b.receivedMono = b.s.now(), b.s.timers.Now()
	b.isReady = false
	q, _ := b.request.Body.(*request)
	b.startCoroutine(func() { b.serve(q) })
}

// serve handles one request.
func (b *backend) serve(q *request) {
	switch {
	case q == nil:
		b.closeWithError(newError(protocolViolation, "invalid message format"))
		return
	case q.bad != "":
		b.closeWithError(newError(protocolViolation, "%s", q.bad))
		return
	case q.startup != nil:
		b.handleStartup(q.startup)
		return
	case !b.isStarted:
		b.closeWithError(newError(protocolViolation, "expected a startup packet"))
		return
	}
	messages := q.messages
	if b.client != nil {
		if err := catch(func() { messages = b.client.rewrite(messages) }); err != nil {
			b.closeWithError(err)
			return
		}
	}
	for _, m := range messages {
		if b.isClosed {
			return
		}
		b.try(func() { b.handle(m) })
	}
}

// handleStartup answers the first message of a connection.
func (b *backend) handleStartup(m pgproto3.FrontendMessage) {
	switch m := m.(type) {
	case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
		b.out = append(b.out, 'N')
		b.addText("no")
	case *pgproto3.CancelRequest:
		b.s.cancel(m)
		b.hangUp()
	case *pgproto3.StartupMessage:
		b.acceptStartup(m)
	}
}

// isBusy reports whether the session has a request to work on.
func (b *backend) isBusy() bool { return b.request != nil || len(b.queue) > 0 }

// cancel cancels the waiting statement of the session that a CancelRequest names.
func (s *server) cancel(m *pgproto3.CancelRequest) {
	for _, b := range s.backends {
		if b.pid == m.ProcessID && string(b.secret) == string(m.SecretKey) {
			b.cancel()
			return
		}
	}
}

// cancel ends the session's wait, if it waits. A commit that waits for a standby then
// succeeds with a warning; any other statement fails.
func (b *backend) cancel() {
	switch r := b.running; {
	case r == nil:
	case r.isCommit:
		b.sendNotice("WARNING", "01000", "canceling wait for synchronous replication due to user request")
		r.waitCanceled = true
	default:
		r.failWait(newError(queryCanceled, "canceling statement due to user request"))
	}
}

// acceptStartup applies the settings in a StartupMessage and begins the session.
func (b *backend) acceptStartup(m *pgproto3.StartupMessage) {
	b.negotiate(m)
	if err := catch(func() { applyStartup(m, b.settings, checkKnown) }); err != nil {
		b.closeWithError(err)
		return
	}
	b.initialSettings = maps.Clone(b.settings)
	b.isStarted = true
	b.user, b.database = m.Parameters["user"], databaseOf(m)
	b.reply.welcome(b.settings, b.pid, b.secret)
	b.sendReady()
}

// databaseOf returns the name of the database that a client asks for, by default its user
// name.
func databaseOf(m *pgproto3.StartupMessage) string {
	return cmp.Or(m.Parameters["database"], m.Parameters["user"])
}

// recordQuery keeps the text of a query for pg_stat_activity.
func (b *backend) recordQuery(text string) {
	const most = 1023 // track_activity_query_size
	b.query = strings.ToValidUTF8(text[:min(len(text), most)], "")
	b.queryAt, b.isActive, b.stateChangedAt = b.receivedAt, true, b.s.now()
}

// state returns the session's state as in pg_stat_activity.
func (b *backend) state() string {
	switch {
	case b.isActive:
		return "active"
	case b.hasFailed:
		return "idle in transaction (aborted)"
	case b.inBlock:
		return "idle in transaction"
	}
	return "idle"
}

// terminate ends the session like pg_terminate_backend.
func (b *backend) terminate() {
	b.closeWithError(newError(adminShutdown, "terminating connection due to administrator command"))
}

// doubtIfUnsupported makes the run inconclusive if the simulator has raised an error that a
// real server may not raise.
func (s *server) doubtIfUnsupported(o *sql.Error) {
	if o.MayBeValid {
		s.host.Doubt(s.host.Node().Name + " was asked for something that a real PostgreSQL server may do and the simulated one does not: " + o.Message)
	}
}

// answerError sends an error to the client and aborts the transaction.
func (b *backend) answerError(err error) {
	o := toSQLError(err)
	b.s.doubtIfUnsupported(o)
	b.sendError("ERROR", o)
	b.running, b.isSkipping = nil, true
	if b.tx != nil {
		b.hasFailed = b.inBlock
		b.tx.abort()
	}
}

// closeWithError sends an error to the client and closes the connection.
func (b *backend) closeWithError(err error) {
	o := toSQLError(err)
	b.s.doubtIfUnsupported(o)
	b.sendError("FATAL", o)
	b.hangUp()
}

// hangUp sends what the reply contains so far and closes the connection.
func (b *backend) hangUp() {
	b.queue = nil
	b.sendReply()
	b.connectionLost = true
	b.close()
	b.s.closeEnd(b.end)
}

// sendReady appends ReadyForQuery to the reply.
func (b *backend) sendReady() {
	b.isReady = true
	b.isActive, b.stateChangedAt = false, b.s.now()
	status := byte('I')
	switch {
	case b.hasFailed:
		status = 'E'
	case b.inBlock:
		status = 'T'
	}
	b.send(&pgproto3.ReadyForQuery{TxStatus: status})
}

// sendReply sends the reply to the current request.
func (b *backend) sendReply() {
	r := b.request
	b.request = nil
	if b.clientGone {
		b.loseConnection()
		return
	}
	b.flush(b.s, b.end, r)
	b.startIdleTimer()
}

// startIdleTimer starts the timer that ends the session when it has been idle for longer
// than its settings allow.
func (b *backend) startIdleTimer() {
	if !b.isStarted || b.isClosed || b.idleTimer != nil {
		return
	}
	name, err := "idle_session_timeout", newError(idleSession, "terminating connection due to idle-session timeout")
	if b.inBlock {
		name, err = "idle_in_transaction_session_timeout", newError(idleInTransaction, "terminating connection due to idle-in-transaction timeout")
	}
	if d := b.duration(name); d > 0 {
		b.idleTimer = b.s.timers.After(d, func() { b.closeWithError(err) })
	}
}
