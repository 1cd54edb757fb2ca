package etcd

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"go.etcd.io/raft/v3"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A member is one node of the cluster: it serves its clients, and it keeps a copy of the
// cluster's log.
type member struct {
	host    *sim.Host
	cluster *cluster
	id      uint64
	index   int // index among the members
	dice    *rand.Rand
	// disk is what survives a crash: the log and the member's vote.
	disk *raft.MemoryStorage
	// initial is the state before the log begins, latestBackup the last backup; diskLost
	// means that the member has lost its disk.
	initial, latestBackup backup
	diskLost              bool
	revisionBeforeRestore int64 // the revision before the restore

	// The following fields are its memory, which a crash loses.

	node     *raft.RawNode // nil if the member is down
	saving   *pendingSave  // nil if the member does not wait for its disk
	leaderID uint64        // the leader, as far as the member knows; 0 if it knows none
	applied  uint64        // the last entry of the log that the member has applied
	store    *store
	lessor   *lessor
	// ids counts the IDs of requests and leases that the member has made.
	ids uint64

	conns      []*conn // of clients, in the order of their connections
	watchCalls []*watchCall
	syncing    *alarm
	syncPhase  time.Duration

	proposals   proposals
	reading     linearRead
	questions   questions
	giveUpAlarm *alarm // rings when something has taken too long
	// leaderlessAlarm rings when the member ends the calls that need a leader.
	leaderlessAlarm *alarm
	pulse           pulse
	peers           map[uint64]*peer
	peersInOrder    []*peer // in the order of the world

	alarms []*alarm
	lives  int // how often the member has started
	// started is when it last started.
	started time.Duration
}

func newMember(host *sim.Host) sim.Server {
	m := &member{host: host, id: hash(host.Node().Name), dice: host.Random(), disk: raft.NewMemoryStorage()}
	m.joinCluster()
	return m
}

func hash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return h.Sum64()
}

var clusterID = hash("cluster")

// start starts the member from its disk.
func (m *member) start(restarted bool) {
	m.lives++
	m.started = m.host.Now()
	m.leaderID, m.applied = 0, firstIndex
	m.loadInitialState()
	m.syncing, m.giveUpAlarm, m.leaderlessAlarm, m.syncPhase = nil, nil, nil, time.Duration(m.dice.Int64N(int64(watchSync)))
	m.conns, m.watchCalls, m.alarms, m.saving = nil, nil, nil, nil
	m.proposals, m.reading, m.questions = proposals{}, linearRead{}, questions{}
	m.startRaft()
	m.startPulse(restarted)
	m.scheduleCompaction(0)
	m.scheduleBackup()
}

// Accept implements [sim.Server].
func (m *member) Accept(end *sim.End) sim.Endpoint {
	m.cluster.form()
	for _, p := range m.peersInOrder {
		if p.name == end.Peer() {
			return &acceptedEnd{m: m, from: p, end: end}
		}
	}
	c := &conn{m: m, end: end, w: newWriter(), calls: map[uint32]*rpc{}}
	m.conns = append(m.conns, c)
	return c
}

// settle finishes the handling of an input: it processes what raft has ready, lets the
// world's faults act, and sends the answers.
func (m *member) settle() {
	if m.node == nil {
		return
	}
	m.processReady()
	if !m.host.Act() {
		return
	}
	for _, c := range slices.Clone(m.conns) {
		c.flush()
	}
	for _, p := range m.peersInOrder {
		p.flush()
	}
}

// ClockChanged implements [sim.Server]: all alarms are planned anew.
func (m *member) ClockChanged() {
	for _, a := range m.alarms {
		a.plan()
	}
}

// Crash implements [sim.Server].
func (m *member) Crash(how trace.Crash) {
	if how == trace.PowerLoss {
		m.loseDisk()
	}
	m.node = nil
	m.lives++
	for _, a := range slices.Clone(m.alarms) {
		a.stop()
	}
	m.conns, m.watchCalls, m.saving = nil, nil, nil
	for _, p := range m.peersInOrder {
		p.disconnected()
	}
}

// Restart implements [sim.Server].
func (m *member) Restart() {
	restored := m.diskLost
	if restored {
		m.restore()
	}
	m.start(true)
	if restored {
		m.recordRestored()
	}
	m.settle()
}

// Stop does nothing: there are no goroutines.
func (m *member) Stop() {}

// now reads the member's monotonic clock, with which it measures everything.
func (m *member) now() fakeclock.Reading { return m.host.Clock().Read(fakeclock.Monotonic) }

// firstIDPrefix begins the IDs that the first member makes.
const firstIDPrefix = 0x4000

// nextID returns an ID that nobody else makes. Like those of idutil in etcd's pkg it
// contains the member, and a count for each of the member's starts. It is as long in hex as
// theirs.
func (m *member) nextID() int64 {
	m.ids++
	return int64(firstIDPrefix+m.index)<<48 | int64(m.lives)<<32 | int64(m.ids)
}

// memberIndexOf returns the index of the member that has made an ID.
func memberIndexOf(id uint64) int { return int(id>>48) - firstIDPrefix }

// An alarm calls a function when the member's monotonic clock reads due, if the member runs
// then.
type alarm struct {
	*agenda.Alarm
	m    *member
	due  fakeclock.Reading
	do   func()
	done bool
}

func (m *member) alarm(due fakeclock.Reading, do func()) *alarm {
	a := &alarm{m: m, due: due, do: do}
	a.Alarm = agenda.NewAlarm(m.host, func() { m.host.WhenRunning(a.ring) })
	m.alarms = append(m.alarms, a)
	a.plan()
	return a
}

func (a *alarm) plan() { a.Set(a.m.host.Clock().Now().Add(a.due.Sub(a.m.now()))) }

func (a *alarm) ring() {
	if a.done {
		return
	}
	if a.due.Sub(a.m.now()) > 0 { // the clock has been changed since
		a.plan()
		return
	}
	a.stop()
	a.do()
	a.m.settle()
}

// stop cancels an alarm that has not rung. The alarm may be nil.
func (a *alarm) stop() {
	if a.isPlanned() {
		a.done = true
		a.Set(time.Time{})
		a.m.alarms = slices.DeleteFunc(a.m.alarms, func(o *alarm) bool { return o == a })
	}
}

// isPlanned reports whether the alarm is still to ring. The alarm may be nil.
func (a *alarm) isPlanned() bool { return a != nil && !a.done }

// after sets an alarm that rings in d.
func (m *member) after(d time.Duration, do func()) *alarm { return m.alarm(m.now().Add(d), do) }

// scheduleGiveUp makes the member give up in time on what waits for other members or for
// its disk.
func (m *member) scheduleGiveUp() {
	if m.isAlone() && !m.waitsForDisk() || m.giveUpAlarm.isPlanned() {
		return
	}
	var first []fakeclock.Reading // the oldest of each kind
	if len(m.proposals.waiting) > 0 {
		first = append(first, m.proposals.waiting[0].since)
	}
	if len(m.reading.serving) > 0 {
		first = append(first, m.reading.since)
	}
	if len(m.questions.open) > 0 {
		first = append(first, m.questions.open[0].since)
	}
	if first == nil {
		return
	}
	since := slices.MinFunc(first, func(a, b fakeclock.Reading) int { return cmp.Compare(a.Nanos, b.Nanos) })
	m.giveUpAlarm = m.alarm(since.Add(requestTimeout), func() {
		m.proposals.failOverdue(m)
		m.reading.failOverdue(m)
		m.questions.failOverdue(m)
		m.scheduleGiveUp()
	})
}
