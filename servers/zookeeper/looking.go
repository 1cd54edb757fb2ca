package zookeeper

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
)

// activity is what a member does, as its votes report it.
type doing string

const (
	isLooking   doing = "who looks"
	isFollowing doing = "who follows"
	isLeading   doing = "who leads"
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
	was := m.role
	l := &looking{idle: idle{notification{m.own(), was.status().round + 1, isLooking}}, m: m, wait: m.limits.settle, settled: map[string]notification{}}
	m.role = l
	was.quit()
	m.dismiss()
	l.votes = map[string]vote{m.name: l.vote}
	l.tellAll()
	l.again()
}

// ownVote returns a member's vote for itself.
func (m *member) own() vote { return vote{m.name, m.id, m.disk.current, m.disk.last()} }

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

func (l *looking) tellAll() {
	for _, name := range l.m.others {
		l.m.notify(name)
	}
}

// repeatVote sends the vote again while the election is undecided, after longer and longer
// pauses.
func (l *looking) again() {
	m := l.m
	m.timers.After(l.wait, func() {
		if m.role == l {
			l.wait = min(2*l.wait, m.limits.patience)
			l.tellAll()
			l.again()
		}
	})
}

// receiveVote handles a notification from another member.
func (m *member) heard(from string, n notification) {
	l, looks := m.role.(*looking)
	switch {
	case !looks:
		if n.doing == isLooking {
			m.notify(from)
		}
	case n.doing == isLooking:
		l.heard(from, n)
	default:
		l.found(from, n)
	}
}

// receiveVote handles the vote of a member that is also looking.
func (l *looking) heard(from string, n notification) {
	switch {
	case n.round < l.round:
		l.m.notify(from) // it must join this round first
		return
	case n.round > l.round:
		l.round = n.round
		clear(l.votes)
		if l.vote = l.m.own(); n.vote.better(l.vote) {
			l.vote = n.vote
		}
		l.tellAll()
	case n.vote.better(l.vote):
		l.vote = n.vote
		l.tellAll()
	}
	l.votes[from], l.votes[l.m.name] = n.vote, l.vote
	l.count()
}

// count decides the election, after a while, if a majority has this member's vote.
func (l *looking) count() {
	m := l.m
	m.timers.Stop(l.timer)
	if !l.won() {
		return
	}
	l.timer = m.timers.After(m.limits.settle, func() {
		if m.role == l && l.won() {
			m.decided(l.vote)
		}
	})
}

func (l *looking) won() bool {
	n := 0
	for _, v := range l.votes {
		if v == l.vote {
			n++
		}
	}
	return l.m.most(n)
}

// receiveLeader handles that a member has a leader. If a majority has the same leader, and
// that one confirms it, this member joins them.
func (l *looking) found(from string, n notification) {
	l.settled[from] = n
	count := 0
	for _, other := range slices.Sorted(maps.Keys(l.settled)) {
		if l.settled[other].vote.leader == n.vote.leader {
			count++
		}
	}
	if leads := l.settled[n.vote.leader]; l.m.most(count) && leads.doing == isLeading {
		l.round = n.round
		l.m.decided(n.vote)
	}
}

// startElectedRole starts the role that an election has given to the member.
func (m *member) decided(v vote) {
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
		life := m.life
		m.host.Connect(to, &listener{m: m, to: to, wire: w}, func(end *sim.End, err error) {
			if life != m.life {
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
		if status := m.role.status(); status.doing != "" {
			m.tells(w.end, status)
		}
	}
}

// A voteSender is a member's end of a connection over which it sends its votes. It receives
// nothing there.
type listener struct {
	m    *member
	to   string
	wire *wire
}

// Receive implements [sim.Endpoint].
func (l *listener) Receive(*sim.Request) {}

// HangUp implements [sim.Endpoint].
func (l *listener) HangUp(bool) {
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
		l, leads := m.role.(*leading)
		switch msg := r.Body.(type) {
		case notification:
			m.heard(v.end.Peer(), msg)
		case followerInfo:
			if !leads {
				m.hangUp(v.end)
				return
			}
			l.joins(v, msg)
		case message:
			if leads && slices.Contains(l.learners, v.learner) {
				l.hears(v.learner, msg)
			}
		}
	})
}

// HangUp implements [sim.Endpoint].
func (v *visitor) HangUp(bool) {
	m := v.m
	if !m.host.Up() {
		return
	}
	if l, leads := m.role.(*leading); leads && v.learner != nil {
		m.turn(func() { l.parts(v.learner) })
	}
}
