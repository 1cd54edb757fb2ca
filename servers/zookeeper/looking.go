package zookeeper

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
)

// doing is what a member does, as its votes tell it.
type doing string

const (
	isLooking   doing = "who looks"
	isFollowing doing = "who follows"
	isLeading   doing = "who leads"
)

// looking is the role of a member that has no leader. It tells the others for whom it is, at
// first itself, and comes over to any better vote. Once most members are for one, and no
// better vote has come for a while, that one leads: FastLeaderElection of the real one.
type looking struct {
	idle
	m     *member
	votes map[string]vote // of this round
	// settled are members that have a leader, and tell who that is.
	settled map[string]notification
	timer   *agenda.Timer // until the election is decided
	wait    time.Duration
}

// look begins to look for a leader. Clients cannot be served meanwhile.
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

// own is a member's vote for itself.
func (m *member) own() vote { return vote{m.name, m.id, m.disk.current, m.disk.last()} }

// better says whether a vote is better than another.
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

// again casts the vote again if nobody has decided anything, after longer and longer pauses.
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

// heard takes in a vote.
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

// heard takes in the vote of somebody who looks, too.
func (l *looking) heard(from string, n notification) {
	switch {
	case n.round < l.round:
		l.m.notify(from) // it must come over to this round first
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

// count looks whether most members are for the one that this one is for.
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

// found takes in that somebody has a leader. If most members have the same one, and that one
// says so itself, this one joins them.
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

// decided begins the role that an election has given to the member.
func (m *member) decided(v vote) {
	round := m.role.status().round
	if v.leader == m.name {
		m.lead(v, round)
	} else {
		m.follow(v, round)
	}
}

// A wire is the connection on which a member tells another one its votes.
type wire struct {
	end    *sim.End
	opened bool
}

// notify tells another member for whom this one is.
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

// A listener is a member's end of a connection on which it tells its votes. It hears
// nothing there.
type listener struct {
	m    *member
	to   string
	wire *wire
}

// Receive is as in [sim.Endpoint].
func (l *listener) Receive(*sim.Request) {}

// HangUp is as in [sim.Endpoint].
func (l *listener) HangUp(bool) {
	if l.m.votes[l.to] == l.wire {
		delete(l.m.votes, l.to)
	}
}

// A visitor is a member's end of a connection that another one has opened, to tell its votes
// or to follow.
type visitor struct {
	m       *member
	end     *sim.End
	learner *learner
}

// Receive is as in [sim.Endpoint].
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

// HangUp is as in [sim.Endpoint].
func (v *visitor) HangUp(bool) {
	m := v.m
	if !m.host.Up() {
		return
	}
	if l, leads := m.role.(*leading); leads && v.learner != nil {
		m.turn(func() { l.parts(v.learner) })
	}
}
