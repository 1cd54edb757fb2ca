package etcd

import (
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/locksim/locksim/fakeclock"
)

// In etcd a leader tells the others ten times a second that it is there, and whoever has not
// heard it for one to two seconds asks for votes. Here they do that only while it can come to
// something: from when anything happens to a member or to a way between two of them until
// they have been well again for calmAfter. In between, when all is as it was, nothing that
// they could say would change anything, and a world that lasts an hour is as cheap as one
// that lasts a second.
//
// Who campaigns when is drawn from the world's seed. Raft itself would draw it from a source
// that nobody can seed, so it is never left to its own ticks but those of a leader.
const (
	calmAfter    = 3 * electionTimeout
	givenUpAfter = 10 * calmAfter
)

// pulse is what a member knows of its leader's being there.
type pulse struct {
	// heard is when it has heard the leader last, or has given another its vote, and ticked
	// how many ticks since raft knows of.
	heard  fakeclock.Reading
	ticked int
	// timeout is after how many ticks without a word it campaigns.
	timeout int
	// calm: nothing is to be heard of the leader because there is nothing to tell.
	calm     bool
	election *alarm
	beat     *alarm // of a leader
	// unsure: by its clock it has not ticked for a while, so others may have elected another
	// leader. It is as in etcd until it ticks again, and no longer: isActive in
	// server/etcdserver/server.go.
	unsure bool
}

// watch begins the life of a member: it takes as long as a restarted one of etcd's, which
// shortens the first wait (adjustTicks in server/etcdserver/server.go).
func (m *member) watch(restarted bool) {
	m.pulse = pulse{}
	m.reset()
	if !restarted {
		m.pulse.calm = true
		return
	}
	sooner := electionTicks - 2
	if m.alone() {
		sooner = electionTicks - 1
	}
	m.pulse.timeout -= sooner
	m.awaitLeader()
}

// reset begins a new wait for a word of the leader.
func (m *member) reset() {
	m.pulse.heard, m.pulse.ticked = m.now(), 0
	m.pulse.timeout = electionTicks + m.dice.IntN(electionTicks)
}

// Attend is as in [sim.Attentive].
func (m *member) Attend() {
	if m.alone() {
		return
	}
	at := m.now()
	m.cluster.stirred = m.host.Now()
	m.host.At(m.host.Now(), func() {
		m.host.Running(func() {
			if m.node != nil {
				m.wake(m.now().Sub(at))
				m.settle()
			}
		})
	})
}

// wake has the member listen again, and tell. late is for how long it could not, by its own
// clock: for one that stood still with its machine no time has passed.
func (m *member) wake(late time.Duration) {
	p := &m.pulse
	paused := late > tick // its ticks are lost, as those of Go's tickers are
	for _, o := range m.order {
		o.refused = false
	}
	if m.isLeader() {
		p.unsure = p.unsure || late > 3*tick
		p.calm = false
		m.beatLater()
		return
	}
	if p.calm || paused {
		// The leader was heard up to a tick ago: as if nothing had been left out.
		m.reset()
		p.heard = p.heard.Add(-time.Duration(m.dice.Int64N(int64(tick))))
	}
	p.calm = false
	m.awaitLeader()
}

// beatLater has a leader tell the others that it is there, and look whether they are.
func (m *member) beatLater() {
	if m.alone() || m.pulse.beat.planned() {
		return
	}
	m.pulse.beat = m.after(tick, func() {
		if !m.isLeader() || m.stuck() {
			return
		}
		m.pulse.unsure = false
		m.node.Tick()
		m.work()
		if m.isLeader() && !m.cluster.calmDown(m) {
			m.beatLater()
		}
	})
}

// awaitLeader has a member campaign if it does not hear the leader in time.
func (m *member) awaitLeader() {
	p := &m.pulse
	if p.election.planned() || p.calm || m.isLeader() {
		return
	}
	p.election = m.alarm(p.heard.Add(time.Duration(p.timeout)*tick), func() {
		if p.calm || m.isLeader() || m.stuck() {
			return
		}
		if m.now().Sub(p.heard) >= time.Duration(p.timeout)*tick {
			m.reset()
			_ = m.node.Campaign() // an error is that it leads
			m.work()
		}
		m.awaitLeader()
	})
}

// hear takes in what raft has told the member.
func (m *member) hear(msg *raftpb.Message) {
	p := &m.pulse
	before := m.node.BasicStatus()
	switch msg.GetType() {
	case raftpb.MsgVote, raftpb.MsgPreVote:
		m.catchUp()
	case raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgSnap:
		if msg.GetTerm() >= before.GetTerm() {
			p.heard, p.ticked = m.now(), 0
		}
	}
	_ = m.node.Step(msg) // an error is that of a message that comes too late
	after := m.node.BasicStatus()
	if after.GetTerm() != before.GetTerm() || after.GetVote() != before.GetVote() || after.RaftState != before.RaftState {
		m.reset()
	}
	if after.RaftState != raft.StateLeader && m.cluster.formed {
		m.awaitLeader()
	}
}

// catchUp tells raft for how long the member has heard nothing: it gives nobody its vote who
// asks for it too soon. That of a leader knows by its own ticks.
func (m *member) catchUp() {
	p := &m.pulse
	if p.calm || m.isLeader() || m.stuck() {
		return
	}
	for ticks := min(int(m.now().Sub(p.heard)/tick), 2*electionTicks); p.ticked < ticks; p.ticked++ {
		m.node.TickQuiesced()
	}
}

// calmDown lets the members be silent if all is well: nothing has happened to them for a
// while, and they hear the leader and have done what it has. If only most of them do, that takes longer: what is on its
// way to the others must have had the time to arrive. They go on campaigning. It reports
// whether that is so.
func (c *cluster) calmDown(leader *member) bool {
	quiet := leader.host.Now() - c.stirred
	if quiet < calmAfter {
		return false
	}
	var well []*member
	lost := 0
	for _, m := range c.members {
		switch {
		case m == leader || m.node == nil:
		case !m.stuck() && m.leading == leader.id && m.term() == leader.term() && m.applied == leader.applied && m.now().Sub(m.pulse.heard) < 3*tick:
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
