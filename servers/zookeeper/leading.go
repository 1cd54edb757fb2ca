package zookeeper

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// leading is the role of the member that decides: it puts the changes in order, sees to it
// that most members have each on their disks before it counts, and ends the sessions whose
// time is up. A server that works by itself leads nobody.
type leading struct {
	idle
	m      *member
	epoch  int64
	active bool // it serves: most members have followed it into its epoch

	// ahead is the tree with all that was proposed, which is what the next request is
	// decided by; zxid is that of the last proposal.
	ahead   *tree
	zxid    int64
	pending []*pending
	tracker *tracker

	learners []*learner
	beats    int // half ticks
}

// pending is what was proposed and does not count yet.
type pending struct {
	txn  *txn
	acks map[string]bool
	// after are syncs that are answered once it counts.
	after []func()
}

// A learner is a follower, as its leader has it.
type learner struct {
	name     string
	end      *sim.End
	accepted int64
	// told, promised, synced: it was told the epoch, has promised to follow, and has all
	// that the leader has. What is proposed then it is told in order.
	told, promised, sent, synced bool
	heard                        int64 // when it was last heard, on the monotonic clock
}

// alone begins the work of a server that is its whole ensemble.
func (m *member) alone() {
	l := &leading{m: m}
	m.role = l
	l.activate()
}

// lead begins the role of a leader that was elected.
func (m *member) lead(v vote, round int) {
	l := &leading{idle: idle{notification{v, round, isLeading}}, m: m}
	m.role = l
	m.timers.After(m.limits.begin, func() {
		if m.role == l && !l.active {
			m.look()
		}
	})
}

func (l *leading) serves() bool { return l.active }

// quit ends it: nobody's time is counted any more.
func (l *leading) quit() {
	if l.tracker != nil {
		l.tracker.quit()
	}
	for _, f := range l.learners {
		l.m.hangUp(f.end)
	}
	l.learners = nil
}

// activate begins to serve.
func (l *leading) activate() {
	m := l.m
	m.disk.current = l.epoch
	l.active = true
	m.replay(m.disk.last())
	l.ahead = m.tree
	l.zxid = m.tree.zxid
	if len(m.others) > 0 {
		l.ahead = m.tree.clone()
		l.zxid = l.epoch << 32
	}
	// Whoever led before counted for itself: every session has its whole time again.
	l.tracker = &tracker{m: m, sessions: map[int64]*tracked{}, expire: l.expire}
	for _, id := range slices.Sorted(maps.Keys(m.tree.sessions)) {
		l.tracker.add(id, m.tree.sessions[id].timeout, "")
	}
	if len(m.others) > 0 {
		m.host.Emit(trace.Event{Kind: trace.KindLead})
	}
}

// expire ends a session whose time is up.
func (l *leading) expire(id int64) {
	x := l.ahead.prepare(&request{op: opClose, session: id}, nil)
	x.timely = true
	l.propose(x)
}

// propose gives a change its place, and puts it to the vote.
func (l *leading) propose(x *txn) {
	m := l.m
	l.zxid++
	x.zxid, x.time = l.zxid, m.host.Clock().Now().UnixMilli()
	if l.ahead != m.tree {
		l.ahead.apply(x, func(event, string) {})
	}
	m.write(x)
	l.pending = append(l.pending, &pending{txn: x, acks: map[string]bool{m.name: true}})
	for _, f := range l.those(func(f *learner) bool { return f.sent }) {
		m.tells(f.end, proposal{x})
	}
	l.count()
}

// count lets what most members have come to count, in order.
func (l *leading) count() {
	m := l.m
	for len(l.pending) > 0 && m.most(len(l.pending[0].acks)) {
		first := l.pending[0]
		l.pending = l.pending[1:]
		m.apply(first.txn)
		for _, f := range l.those(isSynced) {
			m.tells(f.end, commit{first.txn.zxid})
		}
		for _, f := range first.after {
			f()
		}
		if m.role != l {
			return
		}
	}
}

// submit is of a call of its own client.
func (l *leading) submit(one *call) {
	m := l.m
	if one.q.op == opSync {
		l.settled(func() { one.finish(result{op: opSync}) })
		return
	}
	m.await(one)
	l.decide(one.q, one.r.By(), one.c.who, m.name, one.serial)
}

// decide decides a change that a client has asked a member for.
func (l *leading) decide(q *request, by *trace.Actor, who []ident, origin string, serial int) {
	var x *txn
	switch c := l.entitled(q, origin); {
	case c != ok:
		x = &txn{op: q.op, session: q.session, code: c}
	default:
		x = l.ahead.prepare(q, who)
		if q.op == opClose {
			l.tracker.close(q.session)
		}
	}
	x.by, x.origin, x.serial = by, origin, serial
	l.propose(x)
}

// entitled says whether a session may ask for changes: it must live, and be the origin's.
func (l *leading) entitled(q *request, origin string) code {
	if q.op == opOpen {
		return ok
	}
	s := l.tracker.sessions[q.session]
	switch {
	case s == nil || s.closing:
		return errSessionExpired
	case s.owner == "":
		s.owner = origin // it goes on from before this leader
	case s.owner != origin:
		return errSessionMoved
	}
	return ok
}

// settled has f called once all counts that was proposed before.
func (l *leading) settled(f func()) {
	if n := len(l.pending); n > 0 {
		l.pending[n-1].after = append(l.pending[n-1].after, f)
		return
	}
	f()
}

func (l *leading) touch(session int64) bool {
	// A session whose beginning does not count yet is touched by that.
	return l.tracker.touch(session)
}

func (l *leading) resume(one *call) { one.greet(l.takesOver(one.q.session, one.q.timeout, l.m.name)) }

// takesOver gives a session to the member to which its client has come, if it lives, with
// the timeout that the client asks for this time.
func (l *leading) takesOver(session int64, timeout int32, origin string) bool {
	if s := l.tracker.sessions[session]; s != nil {
		s.timeout, s.owner = milliseconds(timeout), origin
	}
	return l.tracker.touch(session)
}

func (l *leading) applied(x *txn) {
	if x.code != ok || l.tracker == nil {
		return
	}
	switch x.op {
	case opOpen:
		l.tracker.add(x.session, x.timeout, x.origin)
	case opClose:
		l.tracker.remove(x.session)
	}
}

func (l *leading) expires(session int64) time.Duration {
	if l.tracker == nil {
		return 0
	}
	return l.tracker.expires(session)
}

// Of followers.

// those are the followers of which something is true.
func (l *leading) those(is func(*learner) bool) (all []*learner) {
	for _, f := range l.learners {
		if is(f) {
			all = append(all, f)
		}
	}
	return all
}

func isSynced(f *learner) bool { return f.synced }

// joins takes in a follower. Who does not lead yet, or has lost what it led, has no place
// for one.
func (l *leading) joins(v *visitor, info followerInfo) {
	m := l.m
	for _, f := range slices.Clone(l.learners) {
		if f.name == v.end.Peer() { // it comes again; the old connection is one that it has given up
			l.parts(f)
			m.hangUp(f.end)
		}
	}
	f := &learner{name: v.end.Peer(), end: v.end, accepted: info.accepted, heard: m.timers.Now()}
	v.learner = f
	l.learners = append(l.learners, f)
	slices.SortFunc(l.learners, func(a, b *learner) int { return slices.Index(m.others, a.name) - slices.Index(m.others, b.name) })
	if l.epoch == 0 {
		if !m.most(1 + len(l.learners)) {
			return
		}
		l.epoch = m.disk.accepted
		for _, f := range l.learners {
			l.epoch = max(l.epoch, f.accepted)
		}
		l.epoch++
		m.disk.accepted = l.epoch
	}
	for _, f := range l.learners {
		if !f.told {
			f.told = true
			m.tells(f.end, leaderInfo{l.epoch})
		}
	}
}

// hears takes in what a follower tells.
func (l *leading) hears(f *learner, msg message) {
	m := l.m
	f.heard = m.timers.Now()
	switch msg := msg.(type) {
	case epochAck:
		if msg.current > m.disk.current || msg.current == m.disk.current && msg.zxid > m.disk.last() {
			m.look() // it knows more: somebody else should lead
			return
		}
		f.promised = true
		f.accepted = msg.zxid
		l.synchronize()
	case newLeaderAck:
		l.arrived(f, msg.zxid)
	case ack:
		l.acked(f, msg.zxid)
	case forward:
		if l.active {
			l.forwarded(f, msg)
		}
	case revalidate:
		if l.active {
			m.tells(f.end, revalidated{msg.serial, l.takesOver(msg.session, msg.timeout, f.name)})
		}
	case pong:
		for _, id := range msg.touched {
			if l.active {
				l.tracker.touch(id)
			}
		}
	}
}

// synchronize gives those who have promised to follow what they do not have, once most have
// promised.
func (l *leading) synchronize() {
	promised := l.those(func(f *learner) bool { return f.promised })
	if !l.active && !l.m.most(1+len(promised)) {
		return
	}
	for _, f := range promised {
		if !f.sent {
			f.sent = true
			since, txns := l.m.disk.since(f.accepted)
			l.m.tells(f.end, newLeader{l.epoch, since, txns})
		}
	}
}

// since finds what a follower does not have whose last transaction is that of some zxid:
// what comes after it, or, if that was never decided here, after the one before.
func (d *disk) since(zxid int64) (int64, []*txn) {
	since := int64(0)
	i := 0
	for i < len(d.log) && d.log[i].zxid <= zxid {
		since = d.log[i].zxid
		i++
	}
	return since, slices.Clone(d.log[i:])
}

// arrived takes in that a follower has what the leader had when it told it.
func (l *leading) arrived(f *learner, zxid int64) {
	m := l.m
	f.synced = true
	if !l.active {
		if !m.most(1 + len(l.those(isSynced))) {
			return
		}
		l.activate()
		for _, f := range l.those(isSynced) {
			m.tells(f.end, upToDate{m.tree.zxid})
		}
		m.timers.After(m.limits.tick/2, l.beat)
		return
	}
	m.tells(f.end, upToDate{m.tree.zxid})
	l.acked(f, zxid)
}

// acked takes in that a follower has everything up to a zxid on its disk.
func (l *leading) acked(f *learner, zxid int64) {
	for _, p := range l.pending {
		if p.txn.zxid <= zxid {
			p.acks[f.name] = true
		}
	}
	l.count()
}

func (l *leading) forwarded(f *learner, msg forward) {
	if msg.q.op == opSync {
		l.settled(func() { l.m.tells(f.end, synced{msg.serial}) })
		return
	}
	l.decide(msg.q, msg.r.By(), msg.who, f.name, msg.serial)
}

// parts takes in that a follower is gone.
func (l *leading) parts(f *learner) {
	l.learners = slices.DeleteFunc(l.learners, func(o *learner) bool { return o == f })
}

// beat asks the followers twice a tick whether they are there. Each tick the leader looks
// whether most of them are, and gives up if they are not.
func (l *leading) beat() {
	m := l.m
	if m.role != l {
		return
	}
	now := m.timers.Now()
	for _, f := range l.those(func(f *learner) bool { return now-f.heard > int64(m.limits.silence) }) {
		l.parts(f)
		m.hangUp(f.end)
	}
	there := l.those(isSynced)
	l.beats++
	if l.beats%2 == 0 && !m.most(1+len(there)) {
		m.look()
		return
	}
	for _, f := range there {
		m.tells(f.end, ping{})
	}
	m.timers.After(m.limits.tick/2, l.beat)
}
