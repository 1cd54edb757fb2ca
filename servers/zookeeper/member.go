package zookeeper

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A member is one server of an ensemble, or a standalone server.
type member struct {
	host   *sim.Host
	name   string
	id     int // its number, from 1: myid
	others []string
	limits limits
	uptime time.Duration // of its machine, when the world began
	disk   disk
	// timers use the monotonic clock, by which the real server measures all its limits.
	timers  *agenda.Timers
	role    role
	formed  bool  // the ensemble has had its first leader
	session int64 // the ID of the latest session that this member has opened
	// register records in the trace who holds the locks; all members share it.
	register *register

	// The following fields are lost in a crash.
	tree    *tree
	watches *watches
	clients []*client
	calls   map[int]*call // those that wait for a transaction or a sync, by their serials
	serial  int
	votes   map[string]*wire // connections for its votes, by member

	crashes int // how often it has crashed
	out     *agenda.Outbox
}

// A disk is what a member has written: every transaction that it has seen, and the epochs
// that it has promised to follow and that it works in. There are no snapshots, because
// worlds are short.
type disk struct {
	log               []*txn
	accepted, current int64
}

// last returns the zxid of the last transaction.
func (d *disk) last() int64 {
	if len(d.log) == 0 {
		return 0
	}
	return d.log[len(d.log)-1].zxid
}

// A role is what a member does in its ensemble: it looks for a leader, follows one or is
// one.
type role interface {
	// status is what it reports about itself to the others; that of an idle member is
	// empty.
	status() notification
	// serves reports whether it serves clients.
	serves() bool
	// submit passes on a call that the leader has to decide.
	submit(*call)
	// touch handles a sign of life of a session. It returns false if there is no such
	// session.
	touch(session int64) bool
	// resume finds out whether the session that a client wants to resume is alive.
	resume(*call)
	// applied is called when a transaction has been applied.
	applied(*txn)
	// expires returns when a session expires, in true time, or 0 if it does not know.
	expires(session int64) time.Duration
	// quit ends the role.
	quit()
}

func boot(host *sim.Host) sim.Server {
	m := &member{host: host, name: host.Node().Name, limits: defaultLimits, out: agenda.NewOutbox(host)}
	m.timers = agenda.NewTimers(host, m.turn)
	for i, name := range host.Members() {
		if name == m.name {
			m.id = i + 1
		} else {
			m.others = append(m.others, name)
		}
	}
	m.uptime = time.Duration(host.Random().Int64N(int64(1000 * time.Hour)))
	if m.id == 1 {
		m.register = &register{keys: host.Keys(), heads: map[string]head{}, clients: map[int64]string{}}
	} else {
		m.register = host.Peer(host.Members()[0]).(*member).register
	}
	m.begin()
	host.At(0, func() { m.turn(m.form) })
	return m
}

// begin starts a server from its disk.
func (m *member) begin() {
	m.watches, m.clients, m.calls, m.votes = &watches{map[string][]*client{}, map[string][]*client{}}, nil, map[int]*call{}, map[string]*wire{}
	const bits, spare = 40, 16
	since := (int64(m.uptime) + m.timers.Now()) / int64(time.Millisecond)
	m.session = max(m.session, int64(m.id)<<(bits+spare)|since&(1<<bits-1)<<spare)
	m.tree = newTree()
	m.role = idle{}
	if len(m.others) == 0 {
		m.replay(m.disk.last())
		m.startAlone()
	}
}

// form starts the members of a new ensemble, before the run begins, as if they had just
// elected a leader. If no member has any changes, the member with the highest number wins
// an election.
func (m *member) form() {
	if m.formed {
		return
	}
	m.formed = true
	if len(m.others) == 0 {
		return
	}
	members := m.host.Members()
	leader := members[len(members)-1]
	for i := range members {
		name := members[len(members)-1-i] // the leader first, so that others can follow it
		one := m
		if name != m.name {
			one = m.host.Peer(name).(*member)
		}
		one.formed = true
		one.turn(func() { one.startElectedRole(vote{leader: leader}) })
	}
}

// isMajority reports whether n members are a majority.
func (m *member) isMajority(n int) bool { return n > (len(m.others)+1)/2 }

// Accept implements [sim.Server].
func (m *member) Accept(end *sim.End) sim.Endpoint {
	m.turn(m.form)
	if slices.Contains(m.others, end.Peer()) {
		return &visitor{m: m, end: end}
	}
	c := &client{m: m, end: end}
	m.clients = append(m.clients, c)
	return c
}

// ClockChanged implements [sim.Server].
func (m *member) ClockChanged() { m.timers.Arm() }

// Crash implements [sim.Server]. No crash loses what is on the disk.
func (m *member) Crash(trace.Crash) {
	m.crashes++
	m.timers.Clear()
	m.out.Crash()
	m.role = idle{}
}

// Restart implements [sim.Server].
func (m *member) Restart() {
	m.turn(func() {
		m.begin()
		if len(m.others) > 0 {
			m.look()
		}
	})
}

// Stop does nothing: there are no goroutines.
func (m *member) Stop() {}

// turn calls f, lets the world's faults act, and then sends what f wanted to send. A crash
// may come between.
func (m *member) turn(f func()) { m.out.Do(f) }

// send sends a packet at the end of the turn: the answer to r, or an unrequested packet if
// r is nil.
func (m *member) send(end *sim.End, r *sim.Request, p sim.Packet) {
	m.out.Send(func() {
		if r == nil {
			end.Send(p)
		} else {
			end.ReplyTo(r, p)
		}
	})
}

func (m *member) hangUp(end *sim.End) { m.out.Send(end.Close) }

// write writes a transaction to the disk.
func (m *member) write(x *txn) { m.disk.log = append(m.disk.log, x) }

// replay applies the transactions on the disk, up to a zxid.
func (m *member) replay(upTo int64) {
	for _, x := range m.disk.log {
		if x.zxid > m.tree.zxid && x.zxid <= upTo {
			m.apply(x)
		}
	}
}

// apply applies a committed transaction, notifies the watchers, and answers the call that
// requested it.
func (m *member) apply(x *txn) {
	r := m.tree.apply(x, m.watches.changed)
	m.role.applied(x)
	m.register.recordApplied(m, x)
	if c := m.calls[x.serial]; c != nil && x.origin == m.name {
		delete(m.calls, x.serial)
		c.finish(r)
	}
	if x.op == opClose && x.code == ok {
		for _, c := range slices.Clone(m.clients) {
			if c.session == x.session {
				c.sessionEnded()
			}
		}
	}
}

// dismiss hangs up on all clients: a member without a leader serves none.
func (m *member) dismiss() {
	for _, c := range slices.Clone(m.clients) {
		c.close()
	}
	clear(m.calls)
}

// password returns the password of a session. A client that has it can resume the session
// at any member.
func password(session int64) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("the password of session "), uint64(session)))
	return sum[:16]
}

func sortedPaths(s *life) []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.ephemerals))
}

// await adds a call to those that wait for a transaction or a sync.
func (m *member) await(one *call) {
	m.serial++
	one.serial = m.serial
	m.calls[one.serial] = one
}

// idle is the role of a server that is starting or down. Other roles embed it.
type idle struct{ notification }

func (i idle) status() notification      { return i.notification }
func (idle) serves() bool                { return false }
func (idle) submit(*call)                {}
func (idle) touch(int64) bool            { return false }
func (idle) resume(*call)                {}
func (idle) applied(*txn)                {}
func (idle) expires(int64) time.Duration { return 0 }
func (idle) quit()                       {}
