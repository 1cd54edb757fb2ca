package postgres

import (
	"slices"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/internal/replicas"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A server is one simulated PostgreSQL server, with one database.
type server struct {
	host   *sim.Host
	timers *agenda.Timers

	// The fields from here to recovering are on the disk, except for uncommitted versions.
	tables        map[string]*table
	sequences     map[string]*sequence
	commitCount   uint64 // the number of commits so far
	lastXID       uint32 // the last transaction ID that was given
	schemaVersion int    // grows with each change to the set of tables, indexes and sequences
	// recovering are the transactions whose log record was on the disk when the server
	// crashed, but which were not committed yet.
	recovering []*tx

	// A crash loses the contents of the fields from here to register, except for lastPID. backends
	// are the open sessions.
	backends []*backend
	pool     *pooler // nil if there is no pooler
	// waiting are the runs (executions of statements) that wait. The run that has waited longest
	// comes first.
	waiting       []*run
	advisoryLocks *advisoryLocks
	lastPID       uint32 // the process ID of the last backend
	register      *register

	replication *replicas.Node[record] // sends log records to standbys, or receives them on a standby
	recordCount int                    // the number of log records so far
	promoted    bool                   // it was a standby before it became the primary

	out      *agenda.Outbox // holds replies back until the turn has ended
	isInTurn bool           // runTurn is running
}

// boot starts a server on a host, as in [sim.System].
func boot(host *sim.Host) sim.Server {
	s := &server{host: host, tables: map[string]*table{}, sequences: map[string]*sequence{}, lastPID: 1000, lastXID: firstXID - 1}
	s.timers, s.out = agenda.NewTimers(host, s.runTurn), agenda.NewOutbox(host)
	s.initReplication()
	s.register = newRegister(s, host.Keys())
	s.resetSessions()
	return s
}

// resetSessions forgets all sessions, what they wait for and their advisory locks.
func (s *server) resetSessions() {
	s.backends, s.waiting = nil, nil
	s.advisoryLocks = &advisoryLocks{s: s, held: map[advisoryLock]*holder{}}
	s.pool = newPooler(s)
}

// now returns the time of the server's wall clock.
func (s *server) now() timestamp { return timestampOf(s.host.Clock().Now()) }

// Accept is as in [sim.Server]. The connection of a standby is for the log, and all others
// are for sessions.
func (s *server) Accept(end *sim.End) sim.Endpoint {
	if primary := s.replication.Accept(end); primary != nil {
		return primary
	}
	if s.pool != nil {
		return s.pool.accept(end)
	}
	return newBackend(s, end)
}

// ClockChanged is as in [sim.Server].
func (s *server) ClockChanged() {
	s.timers.Arm()
	if s.host.IsUp() {
		s.register.ClockChanged()
	}
}

// Crash is as in [sim.Server]. Uncommitted changes and all sessions are lost.
func (s *server) Crash(how trace.Crash) {
	s.timers.Clear()
	s.out.Crash()
	for _, b := range s.backends {
		b.isClosed = true
		b.txAdvisoryLocks = nil
		b.abandon()
		if b.tx != nil && b.tx.onDisk {
			s.recovering = append(s.recovering, b.tx)
		} else if b.tx != nil {
			b.tx.rollback()
		}
	}
	if how != trace.Shutdown {
		for _, q := range s.sequences {
			q.crash()
		}
	}
	s.replication.Crash()
	s.resetSessions()
}

// Restart is as in [sim.Server]. Transactions whose log record was on the disk are
// committed, even if they were waiting for a standby.
func (s *server) Restart() {
	s.register.emitLost()
	for _, t := range s.recovering {
		t.commit()
	}
	s.recovering = nil
	s.replication.Restart()
}

// Stop is as in [sim.Server]. It ends the coroutines of waiting statements.
func (s *server) Stop() {
	for _, b := range s.backends {
		b.abandon()
	}
}

// runTurn calls f, then resumes every statement that no longer has to wait. Only then does
// it send the replies, because f may reach a point at which a fault crashes the server.
// Nested calls join the outer call.
func (s *server) runTurn(f func()) {
	if s.isInTurn {
		f()
		return
	}
	s.out.Do(func() {
		s.isInTurn = true
		f()
		s.wakeAll()
		s.isInTurn = false
	})
}

// wakeAll resumes statements that no longer have to wait, one after the other. The
// statement that has waited longest comes first. It also serves the pooler's clients.
func (s *server) wakeAll() {
	for s.wakeNext() || s.pool.serveNext() {
	}
}

// wakeNext resumes the next statement that no longer has to wait; false if there is none.
func (s *server) wakeNext() bool {
	i := slices.IndexFunc(s.waiting, func(r *run) bool { return r.wait.ready() })
	if i < 0 {
		return false
	}
	r := s.waiting[i]
	r.endWait()
	r.b.serveQueued()
	if r.wait == nil {
		s.removeWaiter(r)
	}
	return true
}

// addWaiter adds a run to the waiting ones and starts the timers of its wait. A run that
// already waits keeps its place.
func (s *server) addWaiter(r *run) {
	if !slices.Contains(s.waiting, r) {
		s.waiting = append(s.waiting, r)
	}
	r.wait.start(r)
}

// removeWaiter removes a run from the waiting ones.
func (s *server) removeWaiter(r *run) {
	s.waiting = slices.DeleteFunc(s.waiting, func(o *run) bool { return o == r })
}

// accountForValues counts the bytes of a row's texts as memory that the world uses.
func (s *server) accountForValues(values []value) {
	n := 0
	for _, v := range values {
		switch v := v.(type) {
		case string:
			n += len(v)
		case octets:
			n += len(v)
		}
	}
	s.host.ChargeText(n)
}
