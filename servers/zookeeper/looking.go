package zookeeper

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
)

// activity is what a member does, as its votes report it.
type activity string

const (
	isLooking   activity = "who looks"
	isFollowing activity = "who follows"
	isLeading   activity = "who leads"
)

// looking is the role of a member that has no leader. It votes, at first for itself, sends
// its vote to the others, and adopts any better vote. When a majority has the same vote,
// and no better one has come for a while, the election is decided: FastLeaderElection of
// the real server.
type looking struct {
	idle
	m     *member
	votes map[string]vote // of this round, by member
	// settled are the notifications of members that have a leader.
	settled map[string]notification
	timer   *agenda.Timer // rings when the election is decided
	wait    time.Duration
}

// look starts looking for a leader. The member serves no clients meanwhile.
func (m *member) look() {
	old := m.role
	l := &looking{idle: idle{notification{m.ownVote(), old.status().round + 1, isLooking}}, m: m, wait: m.limits.settle, settled: map[string]notification{}}
	m.role = l
	old.quit()
	m.dismiss()
	l.votes = map[string]vote{m.name: l.vote}
	l.sendVotes()
	l.repeatVote()
}

// ownVote returns a member's vote for itself.
func (m *member) ownVote() vote { return vote{m.name, m.id, m.disk.current, m.disk.last()} }

// better reports whether a vote is better than another.
func (v vote) better(than vote) bool {
	switch {
	case v.epoch != than.epoch:
		return v.epoch > than.epoch
	case v.zxid != than.zxid:
		return v.zxid > than.zxid
	}
	return v.id > than.id
}

func (l *looking) sendVotes() {
	for _, name := range l.m.others {
		l.m.notify(name)
	}
}

// repeatVote sends the vote again while the election is undecided, after longer and longer
// pauses.
func (l *looking) repeatVote() {
	m := l.m
	m.timers.After(l.wait, func() {
		if m.role == l {
			l.wait = min(2*l.wait, m.limits.maxPause)
			l.sendVotes()
			l.repeatVote()
		}
	})
}

// receiveVote handles a notification from another member.
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

// receiveVote handles the vote of a member that is also looking.
func (l *looking) receiveVote(from string, n notification) {
	switch {
	case n.round < l.round:
		l.m.notify(from) // it must join this round first
		return
	case n.round > l.round:
		l.round = n.round
		clear(l.votes)
		if l.vote = l.m.ownVote(); n.vote.better(l.vote) {
			l.vote = n.vote
		}
		l.sendVotes()
	case n.vote.better(l.vote):
		l.vote = n.vote
		l.sendVotes()
	}
	l.votes[from], l.votes[l.m.name] = n.vote, l.vote
	l.count()
}

// count decides the election, after a while, if a majority has this member's vote.
func (l *looking) count() {
	m := l.m
	m.timers.Stop(l.timer)
	if !l.hasMajority() {
		return
	}
	l.timer = m.timers.After(m.limits.settle, func() {
		if m.role == l && l.hasMajority() {
			m.startElectedRole(l.vote)
		}
	})
}

func (l *looking) hasMajority() bool {
	n := 0
	for _, v := range l.votes {
		if v == l.vote {
			n++
		}
	}
	return l.m.isMajority(n)
}

// receiveLeader handles that a member has a leader. If a majority has the same leader, and
// that one confirms it, this member joins them.
func (l *looking) receiveLeader(from string, n notification) {
	l.settled[from] = n
	count := 0
	for _, other := range slices.Sorted(maps.Keys(l.settled)) {
		if l.settled[other].vote.leader == n.vote.leader {
			count++
		}
	}
	if leader := l.settled[n.vote.leader]; l.m.isMajority(count) && leader.activity == isLeading {
		l.round = n.round
		l.m.startElectedRole(n.vote)
	}
}

// startElectedRole starts the role that an election has given to the member.
func (m *member) startElectedRole(v vote) {
	round := m.role.status().round
	if v.leader == m.name {
		m.lead(v, round)
	} else {
		m.follow(v, round)
	}
}

// A wire is the connection over which a member sends another one its votes.
type wire struct {
	end    *sim.End
	opened bool
}

// notify sends another member this one's vote.
func (m *member) notify(to string) {
	w := m.votes[to]
	switch {
	case w == nil:
		w = &wire{}
		m.votes[to] = w
		life := m.crashes
		m.host.Connect(to, &voteSender{m: m, to: to, wire: w}, func(end *sim.End, err error) {
			if life != m.crashes {
				return
			}
			m.turn(func() {
				if err != nil {
					delete(m.votes, to)
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

// A voteSender is a member's end of a connection over which it sends its votes. It receives
// nothing there.
type voteSender struct {
	m    *member
	to   string
	wire *wire
}

// Receive implements [sim.Endpoint].
func (l *voteSender) Receive(*sim.Request) {}

// HangUp implements [sim.Endpoint].
func (l *voteSender) HangUp(bool) {
	if l.m.votes[l.to] == l.wire {
		delete(l.m.votes, l.to)
	}
}

// A visitor is a member's end of a connection that another member has opened, to send its
// votes or to follow.
type visitor struct {
	m       *member
	end     *sim.End
	learner *learner
}

// Receive implements [sim.Endpoint].
func (v *visitor) Receive(r *sim.Request) {
	m := v.m
	m.turn(func() {
		l, isLeader := m.role.(*leading)
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
	if l, isLeader := m.role.(*leading); isLeader && v.learner != nil {
		m.turn(func() { l.removeLearner(v.learner) })
	}
}
