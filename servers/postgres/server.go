package postgres

import (
	"slices"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/internal/replicas"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A server is one PostgreSQL server, with one database.
type server struct {
	host   *sim.Host
	timers *agenda.Timers

	// What is on the disk, but for what no transaction has committed.
	tables    map[string]*table
	sequences map[string]*sequence
	commits   uint64 // how many there were
	xid       uint32 // of the last transaction that has one
	changes   int    // of what tables there are
	// recovering are the transactions that a crash found on the disk before they counted.
	recovering []*tx

	// All below is lost in a crash.
	backends []*backend
	pool     *pooler // nil is none
	// waiting are the runs that wait, in the order in which they began to.
	waiting  []*run
	advisory *advisories
	pid      uint32 // of the last backend
	register *register

	standbys *replicas.Node[record] // or it is one itself
	written  int                    // how many records there are
	promoted bool                   // it was a standby

	out     *agenda.Outbox
	turning bool
}

func boot(host *sim.Host) sim.Server {
	s := &server{host: host, tables: map[string]*table{}, sequences: map[string]*sequence{}, pid: 1000, xid: firstXID - 1}
	s.timers, s.out = agenda.NewTimers(host, s.turn), agenda.NewOutbox(host)
	s.replicate()
	s.register = newRegister(s, host.Keys())
	s.begin()
	return s
}

func (s *server) begin() {
	s.backends, s.waiting = nil, nil
	s.advisory = &advisories{s: s, held: map[advisory]*holder{}}
	s.pool = newPooler(s)
}

// now is the server's time of day.
func (s *server) now() stamp { return stampOf(s.host.Clock().Now()) }

// Accept is as in [sim.Server]. A standby connects to be sent the log.
func (s *server) Accept(end *sim.End) sim.Endpoint {
	if primary := s.standbys.Accept(end); primary != nil {
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
	if s.host.Up() {
		s.register.ClockChanged()
	}
}

// Crash is as in [sim.Server]. What was not committed is gone, and so are the sessions.
func (s *server) Crash(how trace.Crash) {
	s.timers.Clear()
	s.out.Crash()
	for _, b := range s.backends {
		b.closed = true
		b.inTx = nil
		b.abandon()
		if b.tx != nil && b.tx.durable {
			s.recovering = append(s.recovering, b.tx)
		} else if b.tx != nil {
			b.tx.takeBack()
		}
	}
	if how != trace.Shutdown {
		for _, q := range s.sequences {
			q.lost()
		}
	}
	s.standbys.Crash()
	s.begin()
}

// Restart is as in [sim.Server]. What was on the disk counts, whoever was still waited for.
func (s *server) Restart() {
	s.register.restarted()
	for _, t := range s.recovering {
		t.commit()
	}
	s.recovering = nil
	s.standbys.Restart()
}

// Stop is as in [sim.Server]: the coroutines of what waits end.
func (s *server) Stop() {
	for _, b := range s.backends {
		b.abandon()
	}
}

// turn does something and what others can do then, and sends what comes of it when the world
// has seen it: a crash may come between.
func (s *server) turn(f func()) {
	if s.turning {
		f()
		return
	}
	s.out.Do(func() {
		s.turning = true
		f()
		s.wake()
		s.turning = false
	})
}

// wake lets those go on who need not wait any more, one after the other, those that have
// waited for longest first.
func (s *server) wake() {
	for s.wakes() || s.pool.serves() {
	}
}

func (s *server) wakes() bool {
	i := slices.IndexFunc(s.waiting, func(r *run) bool { return r.wait.ready() })
	if i < 0 {
		return false
	}
	r := s.waiting[i]
	r.unwait()
	r.b.step()
	if r.wait == nil {
		s.forget(r)
	}
	return true
}

// waits enters a run among those that wait; one that has waited keeps its place.
func (s *server) waits(r *run) {
	if !slices.Contains(s.waiting, r) {
		s.waiting = append(s.waiting, r)
	}
	r.wait.begins(r)
}

func (s *server) forget(r *run) {
	s.waiting = slices.DeleteFunc(s.waiting, func(o *run) bool { return o == r })
}

// keeps accounts for the texts of a row.
func (s *server) keeps(values []value) {
	n := 0
	for _, v := range values {
		switch v := v.(type) {
		case string:
			n += len(v)
		case octets:
			n += len(v)
		}
	}
	s.host.Keeps(n)
}
