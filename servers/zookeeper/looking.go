package zookeeper

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
)

// An activity is what a member is doing, as it says in its notifications. The texts appear
// in the trace.
type activity string

const (
	isLooking   activity = "looking"
	isFollowing activity = "following"
	isLeading   activity = "leading"
)

// looking is the role of a member that has no leader. It first votes for itself, sends its
// vote to the others, and adopts any better vote that it receives. The election is decided
// when a majority has the same vote, and no better vote has arrived for a while. In the
// real server this is FastLeaderElection.
type looking struct {
	idleRole
	m     *member
	votes map[string]vote // the members' votes in this round
	// decidedNotifications are the notifications of members that already have a leader.
	decidedNotifications map[string]notification
	timer                *agenda.Timer // rings when no better vote has arrived for a while
	wait                 time.Duration // the pause before it sends its vote again
}

// look makes the member look for a leader. Meanwhile it serves no clients.
func (m *member) look() {
	old := m.role
	l := &looking{idleRole: idleRole{notification{m.ownVote(), old.status().round + 1, isLooking}}, m: m, wait: m.limits.voteWait, decidedNotifications: map[string]notification{}}
	m.role = l
	old.quit()
	m.closeClients()
	l.votes = map[string]vote{m.name: l.vote}
	l.sendVotes()
	l.repeatVote()
}

// ownVote returns the vote of a member for itself.
func (m *member) ownVote() vote { return vote{m.name, m.id, m.disk.current, m.disk.last()} }

// isBetter reports whether v is better than another vote, in the sense that [vote] defines.
func (v vote) isBetter(other vote) bool {
	switch {
	case v.epoch != other.epoch:
		return v.epoch > other.epoch
	case v.zxid != other.zxid:
		return v.zxid > other.zxid
	}
	return v.id > other.id
}

// sendVotes sends the member's vote to all other members.
func (l *looking) sendVotes() {
	for _, name := range l.m.others {
		l.m.notify(name)
	}
}

// repeatVote sends the vote again while the election is undecided. Each pause is twice as long as
// the one before, up to maxVotePause.
func (l *looking) repeatVote() {
	m := l.m
	m.timers.After(l.wait, func() {
		if m.role == l {
			l.wait = min(2*l.wait, m.limits.maxVotePause)
			l.sendVotes()
			l.repeatVote()
		}
	})
}

// receiveVote handles a notification from another member. A member that has a leader names that
// leader in its answer, so that the other member can follow it too.
func (m *member) receiveVote(from string, n notification) {
	l, isLooker := m.role.(*looking)
	switch {
	case !isLooker:
		if n.activity == isLooking {
			m.notify(from)
		}
	case n.activity == isLooking:
		l.receiveVote(from, n)
	default:
		l.receiveLeader(from, n)
	}
}

// receiveVote handles the vote of another member that has no leader.
func (l *looking) receiveVote(from string, n notification) {
	switch {
	case n.round < l.round:
		l.m.notify(from) // the other member must first join this round
		return
	case n.round > l.round:
		l.round = n.round
		clear(l.votes)
		if l.vote = l.m.ownVote(); n.vote.isBetter(l.vote) {
			l.vote = n.vote
		}
		l.sendVotes()
	case n.vote.isBetter(l.vote):
		l.vote = n.vote
		l.sendVotes()
	}
	l.votes[from], l.votes[l.m.name] = n.vote, l.vote
	l.checkMajority()
}

// checkMajority starts the wait for a better vote if a majority has this member's vote. If
// none arrives, the election is decided.
func (l *looking) checkMajority() {
	m := l.m
	m.timers.Stop(l.timer)
	if !l.hasMajority() {
		return
	}
	l.timer = m.timers.After(m.limits.voteWait, func() {
		if m.role == l && l.hasMajority() {
			m.startElectedRole(l.vote)
		}
	})
}

// hasMajority reports whether a majority has this member's vote.
func (l *looking) hasMajority() bool {
	n := 0
	for _, v := range l.votes {
		if v == l.vote {
			n++
		}
	}
	return l.m.isMajority(n)
}

// receiveLeader handles the notification of a member that has a leader. This member follows
// the same leader if a majority does, and if the leader itself has said that it leads.
func (l *looking) receiveLeader(from string, n notification) {
	l.decidedNotifications[from] = n
	count := 0
	for _, other := range slices.Sorted(maps.Keys(l.decidedNotifications)) {
		if l.decidedNotifications[other].vote.leader == n.vote.leader {
			count++
		}
	}
	if leader := l.decidedNotifications[n.vote.leader]; l.m.isMajority(count) && leader.activity == isLeading {
		l.round = n.round
		l.m.startElectedRole(n.vote)
	}
}

// startElectedRole makes the member lead or follow, as the election was decided.
func (m *member) startElectedRole(v vote) {
	round := m.role.status().round
	if v.leader == m.name {
		m.lead(v, round)
	} else {
		m.follow(v, round)
	}
}

// A wire is the connection over which a member sends its votes to another one.
type wire struct {
	end    *sim.End
	opened bool
}

// notify sends the member's notification to another member. If there is no connection yet,
// it first connects.
func (m *member) notify(to string) {
	w := m.voteWires[to]
	switch {
	case w == nil:
		w = &wire{}
		m.voteWires[to] = w
		crashCount := m.crashes
		m.host.Connect(to, &voteSender{m: m, to: to, wire: w}, func(end *sim.End, err error) {
			if crashCount != m.crashes {
				return
			}
			m.turn(func() {
				if err != nil {
					delete(m.voteWires, to)
					return
				}
				w.end, w.opened = end, true
				m.notify(to)
			})
		})
	case w.opened:
		if status := m.role.status(); status.activity != "" {
			m.sendMessage(w.end, status)
		}
	}
}

// A voteSender is the sending end of a wire. It receives nothing.
type voteSender struct {
	m    *member
	to   string
	wire *wire
}

// Receive implements [sim.Endpoint].
func (l *voteSender) Receive(*sim.Request) {}

// HangUp implements [sim.Endpoint].
func (l *voteSender) HangUp(bool) {
	if l.m.voteWires[l.to] == l.wire {
		delete(l.m.voteWires, l.to)
	}
}

// A visitor is a member's end of a connection that another member has opened, either to
// send its votes or to follow this member.
type visitor struct {
	m       *member
	end     *sim.End
	learner *learner // nil if it has not asked to follow
}

// Receive implements [sim.Endpoint].
func (v *visitor) Receive(r *sim.Request) {
	m := v.m
	m.turn(func() {
		l, isLeader := m.role.(*leaderRole)
		switch msg := r.Body.(type) {
		case notification:
			m.receiveVote(v.end.Peer(), msg)
		case followerInfo:
			if !isLeader {
				m.hangUp(v.end)
				return
			}
			l.addLearner(v, msg)
		case message:
			if isLeader && slices.Contains(l.learners, v.learner) {
				l.receive(v.learner, msg)
			}
		}
	})
}

// HangUp implements [sim.Endpoint].
func (v *visitor) HangUp(bool) {
	m := v.m
	if !m.host.IsUp() {
		return
	}
	if l, isLeader := m.role.(*leaderRole); isLeader && v.learner != nil {
		m.turn(func() { l.removeLearner(v.learner) })
	}
}
