package zookeeper

import (
	"errors"
	"slices"

	"github.com/locksim/locksim/sim"
)

// following is the role of a member that has a leader. It answers reads from its own tree,
// and asks the leader for everything else. When the leader pings it, it reports which
// sessions are alive. Until it gives the leader up, it answers its clients' pings by
// itself.
type following struct {
	idle
	m       *member
	end     *sim.End // nil until it is connected to the leader
	tries   int
	active  bool
	heard   int64 // when it last heard the leader, on the monotonic clock
	touched []int64
	// returning are calls of clients that want to resume a session, and wait for the
	// leader's answer.
	returning map[int]*call
}

// follow begins the role of a follower.
func (m *member) follow(v vote, round int) {
	f := &following{idle: idle{notification{v, round, isFollowing}}, m: m, heard: m.timers.Now(), returning: map[int]*call{}}
	m.role = f
	f.dial()
	f.watch()
}

func (f *following) serves() bool { return f.active }

func (f *following) quit() {
	if f.end != nil {
		f.m.hangUp(f.end)
	}
}

// dial connects to the leader, and retries a few times.
func (f *following) dial() {
	m := f.m
	if f.tries++; f.tries > m.limits.tries {
		m.look()
		return
	}
	again := func() {
		m.timers.After(m.limits.again, func() {
			if m.role == f {
				f.dial()
			}
		})
	}
	life := m.life
	m.host.Connect(f.vote.leader, &guide{f: f, again: again}, func(end *sim.End, err error) {
		if life != m.life || m.role != f {
			if err == nil {
				end.Close()
			}
			return
		}
		m.turn(func() {
			if err != nil {
				again()
				return
			}
			f.end = end
			m.tells(end, followerInfo{m.disk.accepted})
		})
	})
}

// watchLeader gives the leader up if it is silent for too long.
func (f *following) watch() {
	m := f.m
	limit := m.limits.silence
	if !f.active {
		limit = m.limits.begin
	}
	m.timers.At(f.heard+int64(limit), func() {
		switch {
		case m.role != f:
		case m.timers.Now()-f.heard >= int64(m.limits.begin), f.active && m.timers.Now()-f.heard >= int64(m.limits.silence):
			m.look()
		default:
			f.watch()
		}
	})
}

// A leaderEnd is a follower's end of its connection to the leader.
type guide struct {
	f     *following
	again func()
}

// Receive implements [sim.Endpoint].
func (g *guide) Receive(r *sim.Request) {
	m := g.f.m
	if m.role != g.f {
		return
	}
	m.turn(func() {
		g.f.heard = m.timers.Now()
		g.f.hears(r.Body.(message))
	})
}

// HangUp implements [sim.Endpoint]. An active follower that loses its leader looks for a
// new one. A follower that is rejected before it is active tries again: its leader may not
// know yet that it leads.
func (g *guide) HangUp(bool) {
	m := g.f.m
	if !m.host.Up() || m.role != g.f {
		return
	}
	m.turn(func() {
		g.f.end = nil
		if g.f.active {
			m.look()
		} else {
			g.again()
		}
	})
}

func (f *following) hears(msg message) {
	m := f.m
	switch msg := msg.(type) {
	case leaderInfo:
		if msg.epoch < m.disk.accepted {
			m.look() // this member has promised to follow a later epoch
			return
		}
		m.disk.accepted = msg.epoch
		m.tells(f.end, epochAck{m.disk.current, m.disk.last()})
	case newLeader:
		f.learn(msg)
	case upToDate:
		m.replay(msg.zxid)
		f.active = true
		f.watch()
	case proposal:
		m.write(msg.txn)
		m.tells(f.end, ack{msg.txn.zxid})
	case commit:
		m.replay(msg.zxid)
	case synced:
		if one := m.calls[msg.serial]; one != nil {
			delete(m.calls, msg.serial)
			one.finish(result{op: opSync})
		}
	case revalidated:
		if one := f.returning[msg.serial]; one != nil {
			delete(f.returning, msg.serial)
			one.greet(msg.lives)
		}
	case ping:
		m.tells(f.end, pong{f.touched})
		f.touched = nil
	}
}

// syncWithLeader makes the member's log equal to the leader's.
func (f *following) learn(msg newLeader) {
	m := f.m
	i := len(m.disk.log)
	for i > 0 && m.disk.log[i-1].zxid > msg.since {
		i--
	}
	m.disk.log = append(m.disk.log[:i:i], msg.txns...)
	if m.tree.zxid > msg.since {
		panic(errors.New("zookeeper: a change that counted was never decided by the leader")) // a majority had it on disk
	}
	m.disk.current = msg.epoch
	m.tells(f.end, newLeaderAck{m.disk.last()})
}

func (f *following) submit(one *call) {
	m := f.m
	m.await(one)
	m.tells(f.end, forward{one.q, one.r, slices.Clone(one.c.who), one.serial})
}

func (f *following) touch(session int64) bool {
	if !slices.Contains(f.touched, session) {
		f.touched = append(f.touched, session)
	}
	return true
}

func (f *following) resume(one *call) {
	m := f.m
	m.serial++
	one.serial = m.serial
	f.returning[one.serial] = one
	m.tells(f.end, revalidate{one.q.session, one.q.timeout, one.serial})
}
