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

// A member is one node of the cluster: the server of its clients, and one of those who keep
// the cluster's log.
type member struct {
	host    *sim.Host
	cluster *cluster
	id      uint64
	place   int // among the members
	dice    *rand.Rand
	// disk is what survives a crash: the log, and whom the member has voted for.
	disk *raft.MemoryStorage
	// first is what it was before its log begins, latest its last backup; lost says that it
	// has no disk any more.
	first, latest backup
	lost          bool
	reached       int64 // the revision, before it was restored

	// The rest is its memory.

	node    *raft.RawNode // nil: it is down
	saving  *save         // nil: it does not wait for its disk
	leading uint64        // who leads, as far as it knows; 0 is nobody
	applied uint64        // the last entry of the log that it has done
	store   *store
	lessor  *lessor
	// ids counts the words of requests and leases that it has made.
	ids uint64

	conns     []*conn // of clients, in the order in which they came
	watchings []*watching
	syncing   *alarm
	syncPhase time.Duration

	proposals proposals
	reading   reading
	questions questions
	waits     *alarm // until something takes too long
	// leaderless is until it gives up on those who want a leader.
	leaderless *alarm
	pulse      pulse
	peers      map[uint64]*peer
	order      []*peer // in the order of the world

	alarms []*alarm
	life   int // counts its starts
	// started is when the latest was.
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

// start starts the member with what is on its disk.
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

// Accept is as in [sim.Server].
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

// settle does what has become due by what was just taken in, lets the world see it, and sends
// what came of it.
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

// ClockChanged is as in [sim.Server]: what was planned is due at another time.
func (m *member) ClockChanged() {
	for _, a := range m.alarms {
		a.plan()
	}
}

// Crash is as in [sim.Server].
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

// Restart is as in [sim.Server].
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

// Stop has nothing to do: there are no goroutines.
func (m *member) Stop() {}

// now is the member's monotonic clock: all that it measures is time that passes.
func (m *member) now() fakeclock.Reading { return m.host.Clock().Read(fakeclock.Monotonic) }

// firstWord begins the words of the first member.
const firstWord = 0x4000

// nextID is a word that nobody else makes: like those of idutil in etcd's pkg it has the
// member in it, and a count of its own in each of its lives. It is as long in hex as theirs.
func (m *member) nextID() int64 {
	m.ids++
	return int64(firstWord+m.place)<<48 | int64(m.life)<<32 | int64(m.ids)
}

// placeOf is the place among the members of the one that has made a word.
func placeOf(word uint64) int { return int(word>>48) - firstWord }

// An alarm is something that a member does when its monotonic clock reads due, and it runs.
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
	if a.due.Sub(a.m.now()) > 0 { // the clock was changed meanwhile
		a.plan()
		return
	}
	a.stop()
	a.do()
	a.m.settle()
}

// stop has nothing done that has not been done yet. There may be no alarm.
func (a *alarm) stop() {
	if a.planned() {
		a.over = true
		a.Set(time.Time{})
		a.m.alarms = slices.DeleteFunc(a.m.alarms, func(o *alarm) bool { return o == a })
	}
}

// planned says that it is still to be done. There may be no alarm.
func (a *alarm) planned() bool { return a != nil && !a.over }

// after is an alarm in some time.
func (m *member) after(d time.Duration, do func()) *alarm { return m.alarm(m.now().Add(d), do) }

// hurry has the member give up in time on what waits for others, or for its disk.
func (m *member) hurry() {
	if m.alone() && !m.stuck() || m.waits.planned() {
		return
	}
	var first []fakeclock.Reading // of each kind
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
