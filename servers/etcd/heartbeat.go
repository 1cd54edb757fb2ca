package etcd

import (
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/locksim/locksim/fakeclock"
)

// In etcd a leader sends heartbeats ten times a second, and a member that has heard none
// for one to two seconds asks for votes. Here the members do that only while it can matter:
// from when something happens to a member, or to a link between two, until they have been
// well for calmAfter. In between no heartbeat could change anything, so a world that lasts
// an hour is as cheap as one that lasts a second.
//
// When a member campaigns is drawn from the world's seed. Raft would draw it from a source
// that cannot be seeded, so only a leader runs on raft's own ticks.
const (
	calmAfter    = 3 * electionTimeout
	givenUpAfter = 10 * calmAfter
)

// pulse is what a member knows about whether its leader is alive.
type pulse struct {
	// heardAt is when the member last heard the leader or gave another member its vote;
	// ticked is how many ticks since then raft knows of.
	heardAt fakeclock.Reading
	ticked  int
	// timeout is the number of ticks without a heartbeat after which the member campaigns.
	timeout int
	// calm: no heartbeats are expected, because the leader sends none while all is well.
	calm      bool
	election  *alarm
	heartbeat *alarm // the next heartbeat of a leader
	// mayBeStale: by its clock the leader has not ticked for a while, so the others may
	// have elected another. As in etcd, this holds until its next tick: isActive in
	// server/etcdserver/server.go.
	mayBeStale bool
}

// startPulse starts the election timer of a member. After a restart the first timeout is
// shorter, as in etcd (adjustTicks in server/etcdserver/server.go).
func (m *member) startPulse(restarted bool) {
	m.pulse = pulse{}
	m.resetElectionTimeout()
	if !restarted {
		m.pulse.calm = true
		return
	}
	sooner := electionTicks - 2
	if m.isAlone() {
		sooner = electionTicks - 1
	}
	m.pulse.timeout -= sooner
	m.awaitLeader()
}

// resetElectionTimeout starts a new wait for a heartbeat of the leader.
func (m *member) resetElectionTimeout() {
	m.pulse.heardAt, m.pulse.ticked = m.now(), 0
	m.pulse.timeout = electionTicks + m.dice.IntN(electionTicks)
}

// Attend implements [sim.Attentive].
func (m *member) Attend() {
	if m.isAlone() {
		return
	}
	at := m.now()
	m.cluster.disturbedAt = m.host.Now()
	m.host.At(m.host.Now(), func() {
		m.host.WhenRunning(func() {
			if m.node != nil {
				m.wake(m.now().Sub(at))
				m.settle()
			}
		})
	})
}

// wake makes the member send heartbeats, or watch for them, again. late is for how long it
// could not run, by its own clock: no time has passed for a member that was suspended with
// its machine.
func (m *member) wake(late time.Duration) {
	p := &m.pulse
	paused := late > tick // missed ticks are lost, as those of Go's tickers are
	for _, o := range m.peersInOrder {
		o.refused = false
	}
	if m.isLeader() {
		p.mayBeStale = p.mayBeStale || late > 3*tick
		p.calm = false
		m.scheduleHeartbeat()
		return
	}
	if p.calm || paused {
		// The leader was heard less than a tick ago, as if no heartbeat had been left out.
		m.resetElectionTimeout()
		p.heardAt = p.heardAt.Add(-time.Duration(m.dice.Int64N(int64(tick))))
	}
	p.calm = false
	m.awaitLeader()
}

// scheduleHeartbeat makes a leader send heartbeats, and check that it still has a majority.
func (m *member) scheduleHeartbeat() {
	if m.isAlone() || m.pulse.heartbeat.isPlanned() {
		return
	}
	m.pulse.heartbeat = m.after(tick, func() {
		if !m.isLeader() || m.waitsForDisk() {
			return
		}
		m.pulse.mayBeStale = false
		m.node.Tick()
		m.processReady()
		if m.isLeader() && !m.cluster.calmDown(m) {
			m.scheduleHeartbeat()
		}
	})
}

// awaitLeader makes a member campaign if it does not hear the leader in time.
func (m *member) awaitLeader() {
	p := &m.pulse
	if p.election.isPlanned() || p.calm || m.isLeader() {
		return
	}
	p.election = m.alarm(p.heardAt.Add(time.Duration(p.timeout)*tick), func() {
		if p.calm || m.isLeader() || m.waitsForDisk() {
			return
		}
		if m.now().Sub(p.heardAt) >= time.Duration(p.timeout)*tick {
			m.resetElectionTimeout()
			_ = m.node.Campaign() // it fails only if the member already leads
			m.processReady()
		}
		m.awaitLeader()
	})
}

// receiveRaft handles a raft message from another member.
func (m *member) receiveRaft(msg *raftpb.Message) {
	p := &m.pulse
	before := m.node.BasicStatus()
	switch msg.GetType() {
	case raftpb.MsgVote, raftpb.MsgPreVote:
		m.catchUpTicks()
	case raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgSnap:
		if msg.GetTerm() >= before.GetTerm() {
			p.heardAt, p.ticked = m.now(), 0
		}
	}
	_ = m.node.Step(msg) // it fails only for an outdated message
	after := m.node.BasicStatus()
	if after.GetTerm() != before.GetTerm() || after.GetVote() != before.GetVote() || after.RaftState != before.RaftState {
		m.resetElectionTimeout()
	}
	if after.RaftState != raft.StateLeader && m.cluster.formed {
		m.awaitLeader()
	}
}

// catchUpTicks tells raft for how long the member has heard nothing, because raft refuses
// its vote while it has heard a leader recently. A leader's raft knows that from its own
// ticks.
func (m *member) catchUpTicks() {
	p := &m.pulse
	if p.calm || m.isLeader() || m.waitsForDisk() {
		return
	}
	for ticks := min(int(m.now().Sub(p.heardAt)/tick), 2*electionTicks); p.ticked < ticks; p.ticked++ {
		m.node.TickQuiesced()
	}
}

// calmDown lets the members stop their heartbeats if all is well, and reports whether it
// did. All is well if nothing has happened to the members for a while, and they hear the
// leader and have applied what it has. If this is true of only a majority it waits longer,
// so that messages to the others have had time to arrive; the others keep campaigning.
func (c *cluster) calmDown(leader *member) bool {
	quiet := leader.host.Now() - c.disturbedAt
	if quiet < calmAfter {
		return false
	}
	var well []*member
	lost := 0
	for _, m := range c.members {
		switch {
		case m == leader || m.node == nil:
		case !m.waitsForDisk() && m.leaderID == leader.id && m.term() == leader.term() && m.applied == leader.applied && m.now().Sub(m.pulse.heardAt) < 3*tick:
			well = append(well, m)
		default:
			lost++
		}
	}
	if len(well)+1 <= len(c.members)/2 || lost > 0 && quiet < givenUpAfter {
		return false
	}
	leader.pulse.calm = true
	for _, m := range well {
		m.pulse.calm = true
		m.pulse.election.stop()
	}
	return true
}
