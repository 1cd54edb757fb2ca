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

// A member is one server of an ensemble, or one that works by itself.
type member struct {
	host   *sim.Host
	name   string
	id     int // its number, from 1: myid
	others []string
	limits limits
	uptime time.Duration // of its machine, when the world began
	disk   disk
	// timers are by the monotonic clock, as the real one measures all of its limits.
	timers  *agenda.Timers
	role    role
	formed  bool // the ensemble has had its first leader
	session int64
	// register belongs to all members together.
	register *register

	// All below is lost in a crash.
	tree    *tree
	watches *watches
	clients []*client
	calls   map[int]*call // those that wait for a transaction or a sync, by their serials
	serial  int
	votes   map[string]*wire // to whom it tells its votes

	life int // counts the crashes
	out  *agenda.Outbox
}

// A disk is what a member has written: every transaction that it has seen, and the epochs
// that it has promised to and worked in. Worlds are short, so that there are no snapshots.
type disk struct {
	log               []*txn
	accepted, current int64
}

// last is the zxid of the last transaction.
func (d *disk) last() int64 {
	if len(d.log) == 0 {
		return 0
	}
	return d.log[len(d.log)-1].zxid
}

// A role is what a member does in its ensemble: it looks for a leader, follows one or is one.
type role interface {
	// status is what it tells the others of itself; one that does nothing has nothing to tell.
	status() notification
	// serves says whether it serves clients.
	serves() bool
	// submit takes a call on that has to be decided by the leader.
	submit(*call)
	// touch takes in a sign of life of a session. It is false if there is no such session.
	touch(session int64) bool
	// resume asks whether there is a session that a client comes back with.
	resume(*call)
	// applied is told of a transaction that was applied.
	applied(*txn)
	// expires is when a session ends, as far as it knows; 0 if it does not.
	expires(session int64) time.Duration
	// quit ends it; clients are gone already.
	quit()
}

func boot(host *sim.Host) sim.Server {
	m := &member{host: host, name: host.Node().Name, limits: usual, out: agenda.NewOutbox(host)}
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

// begin is what a server does that starts: it reads its disk.
func (m *member) begin() {
	m.watches, m.clients, m.calls, m.votes = &watches{map[string][]*client{}, map[string][]*client{}}, nil, map[int]*call{}, map[string]*wire{}
	const bits, spare = 40, 16
	since := (int64(m.uptime) + m.timers.Now()) / int64(time.Millisecond)
	m.session = max(m.session, int64(m.id)<<(bits+spare)|since&(1<<bits-1)<<spare)
	m.tree = newTree()
	m.role = idle{}
	if len(m.others) == 0 {
		m.replay(m.disk.last())
		m.alone()
	}
}

// form is how the members of a new ensemble begin, before the story does: as if they had
// elected the one who wins if nobody knows of any change, the one with the highest number.
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
		one.turn(func() { one.decided(vote{leader: leader}) })
	}
}

// most says whether some members are most of them.
func (m *member) most(n int) bool { return n > (len(m.others)+1)/2 }

// Accept is as in [sim.Server].
func (m *member) Accept(end *sim.End) sim.Endpoint {
	m.turn(m.form)
	if slices.Contains(m.others, end.Peer()) {
		return &visitor{m: m, end: end}
	}
	c := &client{m: m, end: end}
	m.clients = append(m.clients, c)
	return c
}

// ClockChanged is as in [sim.Server].
func (m *member) ClockChanged() { m.timers.Arm() }

// Crash is as in [sim.Server]. What is on the disk stays, however it crashes.
func (m *member) Crash(trace.Crash) {
	m.life++
	m.timers.Clear()
	m.out.Crash()
	m.role = idle{}
}

// Restart is as in [sim.Server].
func (m *member) Restart() {
	m.turn(func() {
		m.begin()
		if len(m.others) > 0 {
			m.look()
		}
	})
}

// Stop has nothing to do: there are no goroutines.
func (m *member) Stop() {}

// turn does something, and sends what comes of it when the world has seen it: a crash may
// come between.
func (m *member) turn(f func()) { m.out.Do(f) }

// send sends a packet when the turn is over: the answer to a request, or what nobody has
// asked for.
func (m *member) send(end *sim.End, r *sim.Request, p sim.Packet) {
	m.out.Send(func() {
		if r == nil {
			end.Send(p)
		} else {
			end.Answer(r, p)
		}
	})
}

func (m *member) hangUp(end *sim.End) { m.out.Send(end.Close) }

// write puts a transaction on the disk.
func (m *member) write(x *txn) { m.disk.log = append(m.disk.log, x) }

// replay applies what the disk has, up to some zxid.
func (m *member) replay(upTo int64) {
	for _, x := range m.disk.log {
		if x.zxid > m.tree.zxid && x.zxid <= upTo {
			m.apply(x)
		}
	}
}

// apply applies a transaction that counts, tells everybody of it whom it concerns, and has
// the call answered that it was made for.
func (m *member) apply(x *txn) {
	r := m.tree.apply(x, m.watches.changed)
	m.role.applied(x)
	m.register.applied(m, x)
	if c := m.calls[x.serial]; c != nil && x.origin == m.name {
		delete(m.calls, x.serial)
		c.finish(r)
	}
	if x.op == opClose && x.code == ok {
		for _, c := range slices.Clone(m.clients) {
			if c.session == x.session {
				c.ended()
			}
		}
	}
}

// dismiss hangs up on all clients: without a leader a member serves none.
func (m *member) dismiss() {
	for _, c := range slices.Clone(m.clients) {
		c.close()
	}
	clear(m.calls)
}

// password is what a client proves by that a session is its own: anybody who has it may go on
// with the session at any member.
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

// await enters a call among those that wait for a transaction or a sync.
func (m *member) await(one *call) {
	m.serial++
	one.serial = m.serial
	m.calls[one.serial] = one
}

// idle is the role of a server that does nothing yet, or is down. Other roles are made of it.
type idle struct{ notification }

func (i idle) status() notification      { return i.notification }
func (idle) serves() bool                { return false }
func (idle) submit(*call)                {}
func (idle) touch(int64) bool            { return false }
func (idle) resume(*call)                {}
func (idle) applied(*txn)                {}
func (idle) expires(int64) time.Duration { return 0 }
func (idle) quit()                       {}
