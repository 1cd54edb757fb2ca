package zookeeper

import (
	"errors"
	"slices"

	"github.com/locksim/locksim/sim"
)

// following is the role of a member that has a leader. It answers reads from its own tree, and
// passes changes to the leader. It answers pings of its clients by itself, and reports to the
// leader which sessions have given a sign of life whenever the leader pings it. So the clients of a
// follower that is cut off get answers to their pings until the follower gives up its leader.
type following struct {
	idleRole
	m        *member
	end      *sim.End // nil until it is connected to the leader
	tries    int      // attempts to connect
	isActive bool     // it serves clients
	heardAt  int64    // when it last heard from the leader, on the monotonic clock
	touched  []int64  // the sessions that have given a sign of life since the last ping
	// resuming are the calls by which clients want to resume a session, until the leader
	// says whether it is alive. They are found by their serials.
	resuming map[int]*call
}

// follow starts the role of a follower of the elected leader.
func (m *member) follow(v vote, round int) {
	f := &following{idleRole: idleRole{notification{v, round, isFollowing}}, m: m, heardAt: m.timers.Now(), resuming: map[int]*call{}}
	m.role = f
	f.dial()
	f.watchLeader()
}

// serves implements [role].
func (f *following) serves() bool { return f.isActive }

// quit implements [role]: it closes the connection to the leader.
func (f *following) quit() {
	if f.end != nil {
		f.m.hangUp(f.end)
	}
}

// dial connects to the leader. It tries a few times; then the member looks for a leader
// again.
func (f *following) dial() {
	m := f.m
	if f.tries++; f.tries > m.limits.maxDials {
		m.look()
		return
	}
	retry := func() {
		m.timers.After(m.limits.dialPause, func() {
			if m.role == f {
				f.dial()
			}
		})
	}
	crashCount := m.crashes
	m.host.Connect(f.vote.leader, &leaderEnd{f: f, retry: retry}, func(end *sim.End, err error) {
		if crashCount != m.crashes || m.role != f {
			if err == nil {
				end.Close()
			}
			return
		}
		m.turn(func() {
			if err != nil {
				retry()
				return
			}
			f.end = end
			m.sendMessage(end, followerInfo{m.disk.accepted})
		})
	})
}

// watchLeader makes the member look for a new leader when it has not heard from this one
// for too long.
func (f *following) watchLeader() {
	m := f.m
	limit := m.limits.maxSilence
	if !f.isActive {
		limit = m.limits.syncTimeout
	}
	m.timers.At(f.heardAt+int64(limit), func() {
		switch {
		case m.role != f:
		case m.timers.Now()-f.heardAt >= int64(m.limits.syncTimeout), f.isActive && m.timers.Now()-f.heardAt >= int64(m.limits.maxSilence):
			m.look()
		default:
			f.watchLeader()
		}
	})
}

// A leaderEnd is a follower's end of the connection to its leader.
type leaderEnd struct {
	f     *following
	retry func()
}

// Receive implements [sim.Endpoint].
func (g *leaderEnd) Receive(r *sim.Request) {
	m := g.f.m
	if m.role != g.f {
		return
	}
	m.turn(func() {
		g.f.heardAt = m.timers.Now()
		g.f.receive(r.Body.(message))
	})
}

// HangUp implements [sim.Endpoint]. A follower that is active looks for a new leader. A
// follower that is not active yet tries again, because its leader may not know yet that it
// was elected.
func (g *leaderEnd) HangUp(bool) {
	m := g.f.m
	if !m.host.IsUp() || m.role != g.f {
		return
	}
	m.turn(func() {
		g.f.end = nil
		if g.f.isActive {
			m.look()
		} else {
			g.retry()
		}
	})
}

// receive handles a message from the leader.
func (f *following) receive(msg message) {
	m := f.m
	switch msg := msg.(type) {
	case leaderInfo:
		if msg.epoch < m.disk.accepted {
			m.look() // this member has promised to follow a later epoch
			return
		}
		m.disk.accepted = msg.epoch
		m.sendMessage(f.end, epochAck{m.disk.current, m.disk.last()})
	case newLeader:
		f.syncWithLeader(msg)
	case upToDate:
		m.replay(msg.zxid)
		f.isActive = true
		f.watchLeader()
	case proposal:
		m.write(msg.txn)
		m.sendMessage(f.end, ack{msg.txn.zxid})
	case commit:
		m.replay(msg.zxid)
	case synced:
		if call := m.calls[msg.serial]; call != nil {
			delete(m.calls, msg.serial)
			call.finish(result{op: opSync})
		}
	case revalidated:
		if call := f.resuming[msg.serial]; call != nil {
			delete(f.resuming, msg.serial)
			call.finishResume(msg.isAlive)
		}
	case ping:
		m.sendMessage(f.end, pong{f.touched})
		f.touched = nil
	}
}

// syncWithLeader makes the member's log equal to the leader's.
func (f *following) syncWithLeader(msg newLeader) {
	m := f.m
	i := len(m.disk.log)
	for i > 0 && m.disk.log[i-1].zxid > msg.since {
		i--
	}
	m.disk.log = append(m.disk.log[:i:i], msg.txns...)
	if m.tree.zxid > msg.since {
		panic(errors.New("zookeeper: a change that counted was never decided by the leader")) // an applied change was on the disks of a majority, so the leader must have it
	}
	m.disk.current = msg.epoch
	m.sendMessage(f.end, newLeaderAck{m.disk.last()})
}

// submit implements [role]: it passes the request to the leader.
func (f *following) submit(call *call) {
	m := f.m
	m.keepCall(call)
	m.sendMessage(f.end, forward{call.q, call.r, slices.Clone(call.c.identities), call.serial})
}

// touch implements [role]. A follower does not know which sessions have ended, so it
// returns true.
func (f *following) touch(session int64) bool {
	if !slices.Contains(f.touched, session) {
		f.touched = append(f.touched, session)
	}
	return true
}

// resume implements [role]: it asks the leader whether the session is alive.
func (f *following) resume(call *call) {
	m := f.m
	m.serial++
	call.serial = m.serial
	f.resuming[call.serial] = call
	m.sendMessage(f.end, revalidate{call.q.session, call.q.timeout, call.serial})
}
