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
	place   int // index among the members
	dice    *rand.Rand
	// disk is what survives a crash: the log and the member's vote.
	disk *raft.MemoryStorage
	// initial is the state before the log begins, latestBackup the last backup; diskLost
	// means that the member has lost its disk.
	first, latest backup
	lost          bool
	reached       int64 // the revision before the restore

	// The following fields are its memory, which a crash loses.

	node    *raft.RawNode // nil if the member is down
	saving  *save         // nil if the member does not wait for its disk
	leading uint64        // the leader, as far as the member knows; 0 if it knows none
	applied uint64        // the last entry of the log that the member has applied
	store   *store
	lessor  *lessor
	// ids counts the IDs of requests and leases that the member has made.
	ids uint64

	conns     []*conn // of clients, in the order of their connections
	watchings []*watching
	syncing   *alarm
	syncPhase time.Duration

	proposals proposals
	reading   reading
	questions questions
	waits     *alarm // rings when something has taken too long
	// leaderlessAlarm rings when the member ends the calls that need a leader.
	leaderless *alarm
	pulse      pulse
	peers      map[uint64]*peer
	order      []*peer // in the order of the world

	alarms []*alarm
	life   int // how often the member has started
	// started is when it last started.
	started time.Duration
}

func newMember(host *sim.Host) sim.Server {
	m := &member{host: host, id: hash(host.Node().Name), dice: host.Random(), disk: raft.NewMemoryStorage()}
	m.join()
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
	m.life++
	m.started = m.host.Now()
	m.leading, m.applied = 0, firstIndex
	m.begin()
	m.syncing, m.waits, m.leaderless, m.syncPhase = nil, nil, nil, time.Duration(m.dice.Int64N(int64(watchSync)))
	m.conns, m.watchings, m.alarms, m.saving = nil, nil, nil, nil
	m.proposals, m.reading, m.questions = proposals{}, reading{}, questions{}
	m.startRaft()
	m.watch(restarted)
	m.compactLater(0)
	m.backUpLater()
}

// Accept implements [sim.Server].
func (m *member) Accept(end *sim.End) sim.Endpoint {
	m.cluster.form()
	for _, p := range m.order {
		if p.name == end.Peer() {
			return &accepted{m: m, from: p, end: end}
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
	m.work()
	if !m.host.Act() {
		return
	}
	for _, c := range slices.Clone(m.conns) {
		c.flush()
	}
	for _, p := range m.order {
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
	m.life++
	for _, a := range slices.Clone(m.alarms) {
		a.stop()
	}
	m.conns, m.watchings, m.saving = nil, nil, nil
	for _, p := range m.order {
		p.lost()
	}
}

// Restart implements [sim.Server].
func (m *member) Restart() {
	restored := m.lost
	if restored {
		m.restore()
	}
	m.start(true)
	if restored {
		m.tellRestored()
	}
	m.settle()
}

// Stop does nothing: there are no goroutines.
func (m *member) Stop() {}

// now reads the member's monotonic clock, with which it measures everything.
func (m *member) now() fakeclock.Reading { return m.host.Clock().Read(fakeclock.Monotonic) }

// firstIDPrefix begins the IDs that the first member makes.
const firstWord = 0x4000

// nextID returns an ID that nobody else makes. Like those of idutil in etcd's pkg it
// contains the member, and a count for each of the member's starts. It is as long in hex as
// theirs.
func (m *member) nextID() int64 {
	m.ids++
	return int64(firstWord+m.place)<<48 | int64(m.life)<<32 | int64(m.ids)
}

// memberIndexOf returns the index of the member that has made an ID.
func placeOf(word uint64) int { return int(word>>48) - firstWord }

// An alarm calls a function when the member's monotonic clock reads due, if the member runs
// then.
type alarm struct {
	*agenda.Alarm
	m    *member
	due  fakeclock.Reading
	do   func()
	over bool
}

func (m *member) alarm(due fakeclock.Reading, do func()) *alarm {
	a := &alarm{m: m, due: due, do: do}
	a.Alarm = agenda.NewAlarm(m.host, func() { m.host.Running(a.ring) })
	m.alarms = append(m.alarms, a)
	a.plan()
	return a
}

func (a *alarm) plan() { a.Set(a.m.host.Clock().Now().Add(a.due.Sub(a.m.now()))) }

func (a *alarm) ring() {
	if a.over {
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
	if a.planned() {
		a.over = true
		a.Set(time.Time{})
		a.m.alarms = slices.DeleteFunc(a.m.alarms, func(o *alarm) bool { return o == a })
	}
}

// isPlanned reports whether the alarm is still to ring. The alarm may be nil.
func (a *alarm) planned() bool { return a != nil && !a.over }

// after sets an alarm that rings in d.
func (m *member) after(d time.Duration, do func()) *alarm { return m.alarm(m.now().Add(d), do) }

// scheduleGiveUp makes the member give up in time on what waits for other members or for
// its disk.
func (m *member) hurry() {
	if m.alone() && !m.stuck() || m.waits.planned() {
		return
	}
	var first []fakeclock.Reading // the oldest of each kind
	if len(m.proposals.waiting) > 0 {
		first = append(first, m.proposals.waiting[0].since)
	}
	if len(m.reading.serves) > 0 {
		first = append(first, m.reading.since)
	}
	if len(m.questions.open) > 0 {
		first = append(first, m.questions.open[0].since)
	}
	if first == nil {
		return
	}
	since := slices.MinFunc(first, func(a, b fakeclock.Reading) int { return cmp.Compare(a.Nanos, b.Nanos) })
	m.waits = m.alarm(since.Add(patience), func() {
		m.proposals.overdue(m)
		m.reading.overdue(m)
		m.questions.overdue(m)
		m.hurry()
	})
}
