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

// A member is one server of an ensemble, or a standalone server, which has no others.
type member struct {
	host   *sim.Host
	name   string
	id     int      // its number, from 1: myid
	others []string // the names of the other members
	limits limits
	uptime time.Duration // how long its machine had been running when the world began
	disk   disk
	// timers use the monotonic clock, by which the real server measures all its limits.
	timers        *agenda.Timers
	role          role
	formed        bool  // the ensemble has had its first leader, elected by formEnsemble
	lastSessionID int64 // the ID of the latest session that this member has opened
	// register records in the trace what has happened to the ensemble as a whole. All
	// members share it.
	register *register

	// A crash loses the following fields.
	tree      *tree
	watches   *watches
	clients   []*client
	calls     map[int]*call    // calls that wait for a transaction or a sync, by their serials
	serial    int              // the serial of the latest call
	voteWires map[string]*wire // the connections over which it sends its votes, by member

	crashes int            // how often it has crashed, by which a delayed call notices a crash
	out     *agenda.Outbox // what it sends at the end of the turn
}

// A disk is what a member has written. log has every transaction that it has received. accepted is
// the latest epoch (the number of a leader's reign) that it has promised to follow, and current the
// epoch in which it works. There are no snapshots, because worlds are short.
type disk struct {
	log               []*txn
	accepted, current int64
}

// last returns the zxid (the number) of the last transaction in the log; 0 if there is none.
func (d *disk) last() int64 {
	if len(d.log) == 0 {
		return 0
	}
	return d.log[len(d.log)-1].zxid
}

// A role is what a member does in its ensemble: it looks for a leader, follows a leader or
// is the leader.
type role interface {
	// status is the notification that the member sends to other members in an election. An idle
	// member has the zero value, and sends none.
	status() notification
	// serves reports whether the member serves clients.
	serves() bool
	// submit lets the leader decide about a call. The call is finished later.
	submit(*call)
	// touch handles a sign of life of a session's client. It returns false if the session
	// is known to have ended.
	touch(session int64) bool
	// resume finds out whether the session that a client wants to resume is alive, and
	// finishes the call.
	resume(*call)
	// applied is called when the member has applied a transaction.
	applied(*txn)
	// expires returns the true time at which a session expires, or 0 if the member does not
	// know.
	expires(session int64) time.Duration
	// quit ends the role.
	quit()
}

// boot makes a member that has no transactions: the Boot of [sim.System].
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
		m.register = &register{keys: host.Keys(), lockNodes: map[string]lockNode{}, clients: map[int64]string{}}
	} else {
		m.register = host.Peer(host.Members()[0]).(*member).register
	}
	m.startProcess()
	host.At(0, func() { m.turn(m.formEnsemble) })
	return m
}

// startProcess starts the server process with what is on the disk.
func (m *member) startProcess() {
	m.watches, m.clients, m.calls, m.voteWires = &watches{map[string][]*client{}, map[string][]*client{}}, nil, map[int]*call{}, map[string]*wire{}
	// Like a real server, a member begins its session IDs with its own number and the time.
	const bits, spare = 40, 16
	since := (int64(m.uptime) + m.timers.Now()) / int64(time.Millisecond)
	m.lastSessionID = max(m.lastSessionID, int64(m.id)<<(bits+spare)|since&(1<<bits-1)<<spare)
	m.tree = newTree()
	m.role = idleRole{}
	if len(m.others) == 0 {
		m.replay(m.disk.last())
		m.startAlone()
	}
}

// formEnsemble starts all members of a new ensemble before the run begins, as if they had
// just elected a leader. No member has any changes yet, so the member with the highest
// number is the leader.
func (m *member) formEnsemble() {
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
		peer := m
		if name != m.name {
			peer = m.host.Peer(name).(*member)
		}
		peer.formed = true
		peer.turn(func() { peer.startElectedRole(vote{leader: leader}) })
	}
}

// isMajority reports whether n members are a majority of the ensemble.
func (m *member) isMajority(n int) bool { return n > (len(m.others)+1)/2 }

// Accept implements [sim.Server].
func (m *member) Accept(end *sim.End) sim.Endpoint {
	m.turn(m.formEnsemble)
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
	m.role = idleRole{}
}

// Restart implements [sim.Server].
func (m *member) Restart() {
	m.turn(func() {
		m.startProcess()
		if len(m.others) > 0 {
			m.look()
		}
	})
}

// Stop implements [sim.Server]. It does nothing, because a member has no goroutines.
func (m *member) Stop() {}

// turn calls f, then lets faults strike, and then sends what f has put into out. If a fault
// crashes the member, nothing is sent. All that a member does happens in such a turn.
func (m *member) turn(f func()) { m.out.Do(f) }

// send sends a packet to a client at the end of the turn. The packet answers r; if r is
// nil, the client has not asked for it.
func (m *member) send(end *sim.End, r *sim.Request, p sim.Packet) {
	m.out.Send(func() {
		if r == nil {
			end.Send(p)
		} else {
			end.ReplyTo(r, p)
		}
	})
}

// hangUp closes a connection at the end of the turn.
func (m *member) hangUp(end *sim.End) { m.out.Send(end.Close) }

// write writes a transaction to the disk.
func (m *member) write(x *txn) { m.disk.log = append(m.disk.log, x) }

// replay applies the transactions on the disk that were not applied yet, up to a zxid.
func (m *member) replay(upTo int64) {
	for _, x := range m.disk.log {
		if x.zxid > m.tree.zxid && x.zxid <= upTo {
			m.apply(x)
		}
	}
}

// apply applies a committed transaction, notifies the watchers, and finishes the call that
// has requested it if it came from a client of this member.
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

// closeClients closes the connections of all clients: a member without a leader serves
// none.
func (m *member) closeClients() {
	for _, c := range slices.Clone(m.clients) {
		c.close()
	}
	clear(m.calls)
}

// password returns the password of a session. A client that knows it can resume the session
// at any member.
func password(session int64) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("the password of session "), uint64(session)))
	return sum[:16]
}

// sortedPaths returns the paths of the nodes that are deleted when the session ends.
func sortedPaths(s *treeSession) []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.ephemerals))
}

// keepCall gives a call a serial, by which its result can be found, and keeps it until
// then.
func (m *member) keepCall(call *call) {
	m.serial++
	call.serial = m.serial
	m.calls[call.serial] = call
}

// idleRole is the role of a server that is starting or has crashed. It serves no clients, knows
// no sessions and drops calls. Other roles embed it, and override the methods that they
// need.
type idleRole struct{ notification }

func (i idleRole) status() notification      { return i.notification }
func (idleRole) serves() bool                { return false }
func (idleRole) submit(*call)                {}
func (idleRole) touch(int64) bool            { return false }
func (idleRole) resume(*call)                {}
func (idleRole) applied(*txn)                {}
func (idleRole) expires(int64) time.Duration { return 0 }
func (idleRole) quit()                       {}
