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

// A member is one simulated server of an etcd cluster. It serves its clients, and keeps a
// copy of the cluster's log.
type member struct {
	host    *sim.Host
	cluster *cluster
	id      uint64
	index   int        // the member's place among the members, from 0
	random  *rand.Rand // draws from the world's seed
	// disk is what survives a crash: the log, and for whom the member has voted.
	disk *raft.MemoryStorage
	// initial is the state before the first entry of the log, and latestBackup is the last
	// backup. diskLost means that a power loss has destroyed the disk.
	initial, latestBackup backup
	diskLost              bool
	revisionBeforeRestore int64 // the revision that the member had before it was restored from a backup

	// The following fields are the member's memory, which a crash loses.

	node     *raft.RawNode // nil if the member is down
	saving   *pendingSave  // nil if the member does not wait for its disk
	leaderID uint64        // the leader, as far as the member knows; 0 if it knows none
	applied  uint64        // the last entry of the log that the member has applied
	store    *store
	lessor   *lessor
	// idCount counts the IDs of requests and leases that the member has made.
	idCount uint64

	conns      []*conn // the connections of clients, the oldest first
	watchCalls []*watchCall
	syncAlarm  *alarm        // rings when the member serves the watchers that are behind
	syncPhase  time.Duration // the time of the first such round; it is less than watchSync

	proposals   proposals
	linearRead  linearRead
	questions   questions
	giveUpAlarm *alarm // rings when a request has waited for too long
	// leaderlessAlarm rings when the member has known no leader for so long that it ends
	// the calls that need one.
	leaderlessAlarm *alarm
	pulse           pulse
	peers           map[uint64]*peer
	peersInOrder    []*peer // in the order in which the world lists them

	alarms []*alarm // all alarms that have yet to ring
	life   int      // grows with each start and each crash, so that work of an earlier life can be recognised
	// startedAt is the true time at which the member last started.
	startedAt time.Duration
}

// newMember makes a member, as in [sim.System].
func newMember(host *sim.Host) sim.Server {
	m := &member{host: host, id: hash(host.Node().Name), random: host.Random(), disk: raft.NewMemoryStorage()}
	m.joinCluster()
	return m
}

// hash returns the ID that belongs to a name.
func hash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return h.Sum64()
}

// clusterID is the ID of the cluster in the headers of responses.
var clusterID = hash("cluster")

// start starts the member with what is on its disk. restarted is false when the cluster
// forms.
func (m *member) start(restarted bool) {
	m.life++
	m.startedAt = m.host.Now()
	m.leaderID, m.applied = 0, firstIndex
	m.loadInitialState()
	m.syncAlarm, m.giveUpAlarm, m.leaderlessAlarm, m.syncPhase = nil, nil, nil, time.Duration(m.random.Int64N(int64(watchSync)))
	m.conns, m.watchCalls, m.alarms, m.saving = nil, nil, nil, nil
	m.proposals, m.linearRead, m.questions = proposals{}, linearRead{}, questions{}
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
	c := &conn{m: m, end: end, writer: newWriter(), calls: map[uint32]*rpc{}}
	m.conns = append(m.conns, c)
	return c
}

// finishInput ends the handling of an input: it processes what raft has ready, lets the world's
// faults act, and sends the responses. Each input, such as a message or an alarm, ends with a call
// of finishInput.
func (m *member) finishInput() {
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

// ClockChanged implements [sim.Server]. It sets all alarms anew.
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
	m.life++
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
	m.finishInput()
}

// Stop implements [sim.Server]. It does nothing, because a member has no goroutines.
func (m *member) Stop() {}

// now returns the reading of the member's monotonic clock, by which the member measures all
// times.
func (m *member) now() fakeclock.Reading { return m.host.Clock().Read(fakeclock.Monotonic) }

// firstIDPrefix is the first 16 bits of the IDs that the first member makes.
const firstIDPrefix = 0x4000

// nextID returns a new ID. Like the IDs that etcd's pkg/idutil makes, it contains the member's
// number, the number of the member's life, and a count. In hex, it is as long as those IDs.
func (m *member) nextID() int64 {
	m.idCount++
	return int64(firstIDPrefix+m.index)<<48 | int64(m.life)<<32 | int64(m.idCount)
}

// memberIndexOf returns the index of the member that made an ID.
func memberIndexOf(id uint64) int { return int(id>>48) - firstIDPrefix }

// An alarm calls a func when the member's monotonic clock reads due. If the member is
// paused then, the func is called when the member runs again. A crash cancels all alarms.
type alarm struct {
	*agenda.Alarm
	m      *member
	due    fakeclock.Reading
	action func()
	isDone bool
}

// alarm sets an alarm that rings when the member's monotonic clock reads due.
func (m *member) alarm(due fakeclock.Reading, do func()) *alarm {
	a := &alarm{m: m, due: due, action: do}
	a.Alarm = agenda.NewAlarm(m.host, func() { m.host.WhenRunning(a.ring) })
	m.alarms = append(m.alarms, a)
	a.plan()
	return a
}

// plan sets the embedded alarm, which rings by the wall clock, to the time at which the monotonic
// clock will read due.
func (a *alarm) plan() { a.Set(a.m.host.Clock().Now().Add(a.due.Sub(a.m.now()))) }

// ring calls the alarm's func, if the monotonic clock has reached due.
func (a *alarm) ring() {
	if a.isDone {
		return
	}
	if a.due.Sub(a.m.now()) > 0 { // the wall clock has been changed, so it rang too early
		a.plan()
		return
	}
	a.stop()
	a.action()
	a.m.finishInput()
}

// stop cancels an alarm that has not rung. The alarm may be nil.
func (a *alarm) stop() {
	if a.isPlanned() {
		a.isDone = true
		a.Set(time.Time{})
		a.m.alarms = slices.DeleteFunc(a.m.alarms, func(o *alarm) bool { return o == a })
	}
}

// isPlanned reports whether the alarm has yet to ring. The alarm may be nil.
func (a *alarm) isPlanned() bool { return a != nil && !a.isDone }

// after sets an alarm that rings after d.
func (m *member) after(d time.Duration, do func()) *alarm { return m.alarm(m.now().Add(d), do) }

// scheduleGiveUp sets the alarm at which the member gives up on requests that have waited
// for other members, or for its own disk, for requestTimeout.
func (m *member) scheduleGiveUp() {
	if m.isAlone() && !m.waitsForDisk() || m.giveUpAlarm.isPlanned() {
		return
	}
	var oldest []fakeclock.Reading // when the oldest request of each kind began to wait
	if len(m.proposals.waiting) > 0 {
		oldest = append(oldest, m.proposals.waiting[0].since)
	}
	if len(m.linearRead.serving) > 0 {
		oldest = append(oldest, m.linearRead.since)
	}
	if len(m.questions.open) > 0 {
		oldest = append(oldest, m.questions.open[0].since)
	}
	if oldest == nil {
		return
	}
	since := slices.MinFunc(oldest, func(a, b fakeclock.Reading) int { return cmp.Compare(a.Nanos, b.Nanos) })
	m.giveUpAlarm = m.alarm(since.Add(requestTimeout), func() {
		m.proposals.failOverdue(m)
		m.linearRead.failOverdue(m)
		m.questions.failOverdue(m)
		m.scheduleGiveUp()
	})
}
