package zookeeper

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// leaderRole is the role of the leader. It decides about requests, orders the changes, commits each
// change when a majority has it on disk, and ends sessions that have expired. Its epoch is a number
// that is greater than those of all earlier leaders. A standalone server is a leader without
// followers.
type leaderRole struct {
	idleRole
	m        *member
	epoch    int64
	isActive bool // it serves clients: a majority has followed it into its epoch

	// proposedTree is the tree after all proposed changes, also those that are not committed. The
	// leader needs it to decide what the next request changes. zxid is the number of the last
	// proposal.
	proposedTree *tree
	zxid         int64
	pending      []*pendingProposal // proposals that are not committed, in order
	tracker      *tracker

	learners  []*learner
	pingCount int // how often it has pinged its followers
}

// A pendingProposal is a proposed change that has not been committed.
type pendingProposal struct {
	txn  *txn
	acks map[string]bool // the members that have it on disk
	// onCommit answers the syncs that wait for this change.
	onCommit []func()
}

// A learner is the leader's view of a follower.
type learner struct {
	name string
	end  *sim.End
	// accepted is the last epoch that the follower has accepted. Once promised is set, the
	// field has the follower's last zxid instead.
	accepted int64
	// The steps that a follower goes through, in order. hasEpoch: it was sent the leader's epoch.
	// promised: it has promised to follow that epoch. sent: it was sent the transactions that it
	// lacked, and is sent all later proposals. synced: it has the transactions that it lacked on
	// its disk.
	hasEpoch, promised, sent, synced bool
	heardAt                          int64 // when the leader last heard from it, on the monotonic clock
}

// startAlone starts the role of a standalone server.
func (m *member) startAlone() {
	l := &leaderRole{m: m}
	m.role = l
	l.activate()
}

// lead starts the role of a leader that was elected. It gives up if no majority follows it
// in time.
func (m *member) lead(v vote, round int) {
	l := &leaderRole{idleRole: idleRole{notification{v, round, isLeading}}, m: m}
	m.role = l
	m.timers.After(m.limits.syncTimeout, func() {
		if m.role == l && !l.isActive {
			m.look()
		}
	})
}

// serves implements [role].
func (l *leaderRole) serves() bool { return l.isActive }

// quit ends the role. It ends no sessions; the next leader tracks them.
func (l *leaderRole) quit() {
	if l.tracker != nil {
		l.tracker.quit()
	}
	for _, f := range l.learners {
		l.m.hangUp(f.end)
	}
	l.learners = nil
}

// activate makes the leader serve clients, once a majority of the members has all its changes.
func (l *leaderRole) activate() {
	m := l.m
	m.disk.current = l.epoch
	l.isActive = true
	m.replay(m.disk.last())
	l.proposedTree = m.tree
	l.zxid = m.tree.zxid
	if len(m.others) > 0 {
		l.proposedTree = m.tree.clone()
		l.zxid = l.epoch << 32
	}
	// Only the previous leader knew when the sessions expire, so every session gets its
	// whole timeout again.
	l.tracker = &tracker{m: m, sessions: map[int64]*trackedSession{}, expire: l.expire}
	for _, id := range slices.Sorted(maps.Keys(m.tree.sessions)) {
		l.tracker.add(id, m.tree.sessions[id].timeout, "")
	}
	if len(m.others) > 0 {
		m.host.Emit(trace.Event{Kind: trace.KindLead})
	}
}

// expire proposes the end of a session that has expired.
func (l *leaderRole) expire(id int64) {
	x := l.proposedTree.prepare(&request{op: opClose, session: id}, nil)
	x.expired = true
	l.propose(x)
}

// propose gives a change the next zxid, writes it to the disk, and sends it to the
// followers.
func (l *leaderRole) propose(x *txn) {
	m := l.m
	l.zxid++
	x.zxid, x.time = l.zxid, m.host.Clock().Now().UnixMilli()
	if l.proposedTree != m.tree {
		l.proposedTree.apply(x, func(event, string) {})
	}
	m.write(x)
	l.pending = append(l.pending, &pendingProposal{txn: x, acks: map[string]bool{m.name: true}})
	for _, f := range l.learnersWhere(func(f *learner) bool { return f.sent }) {
		m.sendMessage(f.end, proposal{x})
	}
	l.commitReady()
}

// commitReady commits, in order, the changes that a majority has on disk.
func (l *leaderRole) commitReady() {
	m := l.m
	for len(l.pending) > 0 && m.isMajority(len(l.pending[0].acks)) {
		first := l.pending[0]
		l.pending = l.pending[1:]
		m.apply(first.txn)
		for _, f := range l.learnersWhere(isSynced) {
			m.sendMessage(f.end, commit{first.txn.zxid})
		}
		for _, f := range first.onCommit {
			f()
		}
		if m.role != l {
			return
		}
	}
}

// submit implements [role] for the clients that are connected to the leader itself.
func (l *leaderRole) submit(call *call) {
	m := l.m
	if call.q.op == opSync {
		l.whenCommitted(func() { call.finish(result{op: opSync}) })
		return
	}
	m.keepCall(call)
	l.decide(call.q, call.r.Sender(), call.c.identities, m.name, call.serial)
}

// decide decides what a request changes, and proposes it. by is the client that has sent
// the request, and who are its identities. origin is the member that the client is
// connected to.
func (l *leaderRole) decide(q *request, by *trace.Actor, who []ident, origin string, serial int) {
	var x *txn
	switch c := l.checkSession(q, origin); {
	case c != ok:
		x = &txn{op: q.op, session: q.session, code: c}
	default:
		x = l.proposedTree.prepare(q, who)
		if q.op == opClose {
			l.tracker.close(q.session)
		}
	}
	x.by, x.origin, x.serial = by, origin, serial
	l.propose(x)
}

// checkSession returns ok if the session of a request is alive and its client is connected
// to origin. Otherwise it returns the error.
func (l *leaderRole) checkSession(q *request, origin string) code {
	if q.op == opOpen {
		return ok
	}
	s := l.tracker.sessions[q.session]
	switch {
	case s == nil || s.closing:
		return errSessionExpired
	case s.owner == "":
		s.owner = origin // the session was opened under a previous leader
	case s.owner != origin:
		return errSessionMoved
	}
	return ok
}

// whenCommitted calls f when all changes that are proposed by now are committed.
func (l *leaderRole) whenCommitted(f func()) {
	if n := len(l.pending); n > 0 {
		l.pending[n-1].onCommit = append(l.pending[n-1].onCommit, f)
		return
	}
	f()
}

// touch implements [role].
func (l *leaderRole) touch(session int64) bool {
	// A session is tracked once its opening is committed; an earlier touch does nothing.
	return l.tracker.touch(session)
}

// resume implements [role]. The leader itself knows whether the session is alive.
func (l *leaderRole) resume(call *call) {
	call.finishResume(l.takeOver(call.q.session, call.q.timeout, l.m.name))
}

// takeOver records that the client of a session is now connected to the member origin, sets the
// session's new timeout, and renews the session. It reports whether the session is alive.
func (l *leaderRole) takeOver(session int64, timeout int32, origin string) bool {
	if s := l.tracker.sessions[session]; s != nil {
		s.timeout, s.owner = milliseconds(timeout), origin
	}
	return l.tracker.touch(session)
}

// applied implements [role]: sessions are tracked from the moment when their opening is
// committed.
func (l *leaderRole) applied(x *txn) {
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

// expires implements [role].
func (l *leaderRole) expires(session int64) time.Duration {
	if l.tracker == nil {
		return 0
	}
	return l.tracker.expires(session)
}

// The following functions are about followers.

// learnersWhere returns the followers that meet a condition.
func (l *leaderRole) learnersWhere(matches func(*learner) bool) (all []*learner) {
	for _, f := range l.learners {
		if matches(f) {
			all = append(all, f)
		}
	}
	return all
}

// isSynced reports whether a follower has all that the leader has.
func isSynced(f *learner) bool { return f.synced }

// addLearner adds a follower that has connected. Once a majority is connected, the leader chooses a
// new epoch, which must be later than every epoch that one of them has accepted.
func (l *leaderRole) addLearner(v *visitor, info followerInfo) {
	m := l.m
	for _, f := range slices.Clone(l.learners) {
		if f.name == v.end.Peer() { // the follower has reconnected, so its old connection is closed
			l.removeLearner(f)
			m.hangUp(f.end)
		}
	}
	f := &learner{name: v.end.Peer(), end: v.end, accepted: info.accepted, heardAt: m.timers.Now()}
	v.learner = f
	l.learners = append(l.learners, f)
	slices.SortFunc(l.learners, func(a, b *learner) int { return slices.Index(m.others, a.name) - slices.Index(m.others, b.name) })
	if l.epoch == 0 {
		if !m.isMajority(1 + len(l.learners)) {
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
		if !f.hasEpoch {
			f.hasEpoch = true
			m.sendMessage(f.end, leaderInfo{l.epoch})
		}
	}
}

// receive handles a message from a follower.
func (l *leaderRole) receive(f *learner, msg message) {
	m := l.m
	f.heardAt = m.timers.Now()
	switch msg := msg.(type) {
	case epochAck:
		if msg.current > m.disk.current || msg.current == m.disk.current && msg.zxid > m.disk.last() {
			m.look() // the follower has more transactions, so a better leader must be elected
			return
		}
		f.promised = true
		f.accepted = msg.zxid
		l.synchronize()
	case newLeaderAck:
		l.learnerSynced(f, msg.zxid)
	case ack:
		l.acknowledged(f, msg.zxid)
	case forward:
		if l.isActive {
			l.receiveForward(f, msg)
		}
	case revalidate:
		if l.isActive {
			m.sendMessage(f.end, revalidated{msg.serial, l.takeOver(msg.session, msg.timeout, f.name)})
		}
	case pong:
		for _, id := range msg.touched {
			if l.isActive {
				l.tracker.touch(id)
			}
		}
	}
}

// synchronize sends to followers the transactions that they lack. It waits until a majority
// has promised to follow this epoch.
func (l *leaderRole) synchronize() {
	promised := l.learnersWhere(func(f *learner) bool { return f.promised })
	if !l.isActive && !l.m.isMajority(1+len(promised)) {
		return
	}
	for _, f := range promised {
		if !f.sent {
			f.sent = true
			since, txns := l.m.disk.since(f.accepted)
			l.m.sendMessage(f.end, newLeader{l.epoch, since, txns})
		}
	}
}

// since returns the transactions that a follower lacks if zxid is its last one, and the zxid after
// which they come. That is zxid itself, or the last earlier one in this log if the log does not
// contain zxid.
func (d *disk) since(zxid int64) (int64, []*txn) {
	since := int64(0)
	i := 0
	for i < len(d.log) && d.log[i].zxid <= zxid {
		since = d.log[i].zxid
		i++
	}
	return since, slices.Clone(d.log[i:])
}

// learnerSynced handles the message that a follower has all that it was sent. When a
// majority has all transactions, the leader begins to serve.
func (l *leaderRole) learnerSynced(f *learner, zxid int64) {
	m := l.m
	f.synced = true
	if !l.isActive {
		if !m.isMajority(1 + len(l.learnersWhere(isSynced))) {
			return
		}
		l.activate()
		for _, f := range l.learnersWhere(isSynced) {
			m.sendMessage(f.end, upToDate{m.tree.zxid})
		}
		m.timers.After(m.limits.tick/2, l.pingLearners)
		return
	}
	m.sendMessage(f.end, upToDate{m.tree.zxid})
	l.acknowledged(f, zxid)
}

// acknowledged handles the message that a follower has all changes up to a zxid on its
// disk.
func (l *leaderRole) acknowledged(f *learner, zxid int64) {
	for _, p := range l.pending {
		if p.txn.zxid <= zxid {
			p.acks[f.name] = true
		}
	}
	l.commitReady()
}

// receiveForward handles a client's request that a follower has passed on.
func (l *leaderRole) receiveForward(f *learner, msg forward) {
	if msg.q.op == opSync {
		l.whenCommitted(func() { l.m.sendMessage(f.end, synced{msg.serial}) })
		return
	}
	l.decide(msg.q, msg.r.Sender(), msg.who, f.name, msg.serial)
}

// removeLearner forgets a follower whose connection has ended.
func (l *leaderRole) removeLearner(f *learner) {
	l.learners = slices.DeleteFunc(l.learners, func(o *learner) bool { return o == f })
}

// pingLearners pings the followers twice in each tick, and forgets followers from which it has
// heard nothing for too long. Once in each tick it checks that a majority still follows. If not,
// the member looks for a leader again.
func (l *leaderRole) pingLearners() {
	m := l.m
	if m.role != l {
		return
	}
	now := m.timers.Now()
	for _, f := range l.learnersWhere(func(f *learner) bool { return now-f.heardAt > int64(m.limits.maxSilence) }) {
		l.removeLearner(f)
		m.hangUp(f.end)
	}
	synced := l.learnersWhere(isSynced)
	l.pingCount++
	if l.pingCount%2 == 0 && !m.isMajority(1+len(synced)) {
		m.look()
		return
	}
	for _, f := range synced {
		m.sendMessage(f.end, ping{})
	}
	m.timers.After(m.limits.tick/2, l.pingLearners)
}
