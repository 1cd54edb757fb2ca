package etcd

import (
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/locksim/locksim/fakeclock"
)

// In etcd a leader sends heartbeats ten times a second. A member that has heard none for one to two
// seconds campaigns: it asks the others for their votes. In this simulation the members do so only
// while it can matter. They begin when something happens to a member or to a link between two
// members. They stop when all has been well for calmAfter. From then on, until something happens
// again, no heartbeat could change anything. So simulating a world of an hour costs no more than
// one of a second.
//
// The time after which a member campaigns is drawn from the world's seed. Raft would draw
// it from a source that cannot be seeded, so only a leader uses raft's own ticks.
const (
	// calmAfter is how long all members must have been well before heartbeats stop;
	// givenUpAfter is the same time if only a majority is well. See calmDown.
	calmAfter    = 3 * electionTimeout
	givenUpAfter = 10 * calmAfter
)

// pulse is what a member knows about whether its leader is alive, and when it campaigns
// itself.
type pulse struct {
	// heardAt is when the member last heard the leader or voted for another member. ticked is how
	// many ticks since then the member has reported to raft.
	heardAt fakeclock.Reading
	ticked  int
	// timeout is the number of ticks without a heartbeat after which the member campaigns.
	timeout int
	// isCalm: no heartbeats are expected, because the leader sends none while all is well.
	isCalm    bool
	election  *alarm // rings when the member campaigns, unless it has heard the leader before
	heartbeat *alarm // rings when a leader sends its next heartbeat
	// mayBeStale: by its own clock the leader has not ticked for a while, so the other
	// members may have elected another leader. As in etcd, this ends with the leader's next
	// tick. See isActive in server/etcdserver/server.go.
	mayBeStale bool
}

// startPulse starts the election timer of a member. After a restart the first timeout is
// shorter, as in etcd. See adjustTicks in server/etcdserver/server.go.
func (m *member) startPulse(restarted bool) {
	m.pulse = pulse{}
	m.resetElectionTimeout()
	if !restarted {
		m.pulse.isCalm = true
		return
	}
	shorterBy := electionTicks - 2
	if m.isAlone() {
		shorterBy = electionTicks - 1
	}
	m.pulse.timeout -= shorterBy
	m.awaitLeader()
}

// resetElectionTimeout makes the member wait anew for a heartbeat of the leader.
func (m *member) resetElectionTimeout() {
	m.pulse.heardAt, m.pulse.ticked = m.now(), 0
	m.pulse.timeout = electionTicks + m.random.IntN(electionTicks)
}

// Attend implements [sim.Attentive]. It is called when something may have changed between
// the members. If the member is paused, it reacts when it runs again.
func (m *member) Attend() {
	if m.isAlone() {
		return
	}
	noticedAt := m.now()
	m.cluster.disturbedAt = m.host.Now()
	m.host.At(m.host.Now(), func() {
		m.host.WhenRunning(func() {
			if m.node != nil {
				m.wake(m.now().Sub(noticedAt))
				m.finishInput()
			}
		})
	})
}

// wake makes the member send heartbeats, or watch for them, again. pausedFor is how long
// the member could not run, by its own clock. That clock does not move while the member is
// suspended with its machine.
func (m *member) wake(pausedFor time.Duration) {
	p := &m.pulse
	missedTicks := pausedFor > tick // missed ticks are lost, like those of a time.Ticker
	for _, other := range m.peersInOrder {
		other.hasRefused = false
	}
	if m.isLeader() {
		p.mayBeStale = p.mayBeStale || pausedFor > 3*tick
		p.isCalm = false
		m.scheduleHeartbeat()
		return
	}
	if p.isCalm || missedTicks {
		// The member acts as if it had heard the leader less than a tick ago. It would have
		// heard the leader then, if no heartbeats had been left out.
		m.resetElectionTimeout()
		p.heardAt = p.heardAt.Add(-time.Duration(m.random.Int64N(int64(tick))))
	}
	p.isCalm = false
	m.awaitLeader()
}

// scheduleHeartbeat makes a leader send heartbeats from now on. Meanwhile raft also checks from
// time to time that the leader still has a majority.
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

// awaitLeader makes the member campaign if it does not hear the leader in time.
func (m *member) awaitLeader() {
	p := &m.pulse
	if p.election.isPlanned() || p.isCalm || m.isLeader() {
		return
	}
	p.election = m.alarm(p.heardAt.Add(time.Duration(p.timeout)*tick), func() {
		if p.isCalm || m.isLeader() || m.waitsForDisk() {
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
	if after.RaftState != raft.StateLeader && m.cluster.isFormed {
		m.awaitLeader()
	}
}

// catchUpTicks lets raft know for how long the member has heard nothing. Raft needs to know it,
// because a member refuses to vote for a new leader if it has heard the present one recently. The
// raft of a leader counts its own ticks.
func (m *member) catchUpTicks() {
	p := &m.pulse
	if p.isCalm || m.isLeader() || m.waitsForDisk() {
		return
	}
	for ticks := min(int(m.now().Sub(p.heardAt)/tick), 2*electionTicks); p.ticked < ticks; p.ticked++ {
		m.node.TickQuiesced()
	}
}

// calmDown lets the members stop their heartbeats if all is well, and reports whether they stop.
// All is well under three conditions: nothing has happened to the members for calmAfter, all of
// them hear the leader, and all have applied what the leader has. Members that are down do not
// count. If only a majority of the members is well, calmDown waits for givenUpAfter, because
// messages to the others may still be in flight. These others keep campaigning.
func (c *cluster) calmDown(leader *member) bool {
	quiet := leader.host.Now() - c.disturbedAt
	if quiet < calmAfter {
		return false
	}
	var healthy []*member
	unhealthy := 0
	for _, m := range c.members {
		switch {
		case m == leader || m.node == nil:
		case !m.waitsForDisk() && m.leaderID == leader.id && m.term() == leader.term() && m.applied == leader.applied && m.now().Sub(m.pulse.heardAt) < 3*tick:
			healthy = append(healthy, m)
		default:
			unhealthy++
		}
	}
	if len(healthy)+1 <= len(c.members)/2 || unhealthy > 0 && quiet < givenUpAfter {
		return false
	}
	leader.pulse.isCalm = true
	for _, m := range healthy {
		m.pulse.isCalm = true
		m.pulse.election.stop()
	}
	return true
}
