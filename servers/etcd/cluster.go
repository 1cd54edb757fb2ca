package etcd

import (
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A cluster is the state that all members of a world's etcd cluster share. Each member applies each
// entry of the log, but the trace gets the effects of an entry only once, when the first member
// applies the entry.
type cluster struct {
	members []*member
	// isForming: the members have begun to form the cluster; isFormed: they have formed it.
	isForming, isFormed bool
	disturbedAt         time.Duration // when the members' connections may last have changed
	recordedIndex       uint64        // the last entry of the log whose effects have been recorded
	// requesters are the acquisitions that sent the requests in the log, by request ID.
	requesters map[uint64]*trace.Actor
	// clients are the names of the clients that own the sessions, by lease ID. (etcd calls a
	// session a lease.)
	clients map[int64]string
	locks   []*lockRegister
	// versions are the last recorded versions of the data objects.
	versions map[string]int
}

// joinCluster adds the member to the cluster of its world. The first member creates the
// cluster.
func (m *member) joinCluster() {
	names := m.host.Members()
	if first, ok := m.host.Peer(names[0]).(*member); ok {
		m.cluster = first.cluster
	} else {
		m.cluster = &cluster{requesters: map[uint64]*trace.Actor{}, clients: map[int64]string{}, versions: map[string]int{}}
		for _, key := range m.host.Keys() {
			m.cluster.locks = append(m.cluster.locks, &lockRegister{name: key, claims: map[string]claim{}})
		}
		m.host.At(0, m.cluster.form)
	}
	m.index = len(m.cluster.members)
	m.cluster.members = append(m.cluster.members, m)
	m.peers = map[uint64]*peer{}
	for _, name := range names {
		if name != m.host.Node().Name {
			p := &peer{m: m, name: name, id: hash(name)}
			m.peers[p.id] = p
			m.peersInOrder = append(m.peersInOrder, p)
		}
	}
}

// isAlone reports whether the cluster has no other member.
func (m *member) isAlone() bool { return len(m.peersInOrder) == 0 }

// form makes the members form the cluster and elect the first of them as the leader. That
// happens before the run begins and takes no time.
func (c *cluster) form() {
	if c.isFormed || c.isForming {
		return
	}
	c.isForming = true
	var ids []uint64
	for _, m := range c.members {
		ids = append(ids, m.id)
	}
	for _, m := range c.members {
		firstDisk(m.disk, ids)
		m.start(false)
	}
	must(c.members[0].node.Campaign())
	for c.exchangeMessages() {
	}
	c.isFormed = true
	for _, m := range c.members {
		for _, p := range m.peersInOrder {
			p.dial()
		}
	}
}

// exchangeMessages delivers all waiting messages between the members without delay, and
// reports whether there were any.
func (c *cluster) exchangeMessages() (sent bool) {
	for _, m := range c.members {
		m.processReady()
		for _, p := range m.peersInOrder {
			queue := p.queue
			p.queue = nil
			for _, packet := range queue {
				sent = true
				c.member(p.id).receiveRaft(packet.Body.(*raftpb.Message))
			}
		}
	}
	return sent
}

// member returns the member with a raft ID, or nil.
func (c *cluster) member(id uint64) *member {
	for _, m := range c.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

// recordLeader records a change of the leader, if the member is the new leader.
func (c *cluster) recordLeader(m *member) {
	if m.isLeader() {
		m.host.Emit(trace.Event{Kind: trace.KindLead})
	}
}

// describeEntry returns the text by which the trace shows an entry of the log.
func (c *cluster) describeEntry(names *sim.Names, e *raftpb.Entry) string {
	r := new(pb.InternalRaftRequest)
	if len(e.GetData()) == 0 || proto.Unmarshal(e.GetData(), r) != nil {
		return "a new leader"
	}
	if r.Txn != nil {
		return "Txn of " + describeWrites(names, r.Txn)
	}
	return describe(names, firstValid(r.Put, r.DeleteRange, r.Compaction, r.LeaseGrant, r.LeaseRevoke))
}

// findStaleRevoker returns the member that asks for a lease to be revoked although the lease has
// not expired. The member does so because it does not know that it no longer leads.
// findStaleRevoker returns nil if there is no such member. It must be called before the lease is
// revoked.
func (c *cluster) findStaleRevoker(r *pb.InternalRaftRequest) *member {
	primary := c.primary()
	if r.LeaseRevoke == nil || c.requesters[r.Header.ID] != nil || primary == nil {
		return nil
	}
	l := primary.lessor.leases[r.LeaseRevoke.ID]
	if proposer := c.members[memberIndexOf(r.Header.ID)]; proposer != primary && l != nil && l.expires.Sub(primary.now()) > 0 {
		return proposer
	}
	return nil
}

// recordApplied records what an entry of the log has changed. It does so only when the
// first member applies the entry. staleRevoker is the result of findStaleRevoker.
func (c *cluster) recordApplied(m *member, r *pb.InternalRaftRequest, resp proto.Message, changes []*mvccpb.Event, staleRevoker *member, err error) {
	if m.applied <= c.recordedIndex {
		return
	}
	c.recordedIndex = m.applied
	by := c.requesters[r.Header.ID]
	if err == nil {
		c.recordSession(m, r, by, staleRevoker)
		if r.Compaction != nil {
			m.host.Emit(trace.Event{Kind: trace.KindCompact, Text: fmt.Sprintf("revision %d", r.Compaction.Revision)})
		}
	}
	c.recordWrites(m, r, resp, changes, by)
	if len(changes) == 0 {
		return
	}
	m.host.ChargeText(len(changes))
	for _, lock := range c.locks {
		lock.observe(m, changes, by, by == nil && staleRevoker == nil)
	}
}

// recordSession records the beginning or the end of a session.
func (c *cluster) recordSession(m *member, r *pb.InternalRaftRequest, by *trace.Actor, staleRevoker *member) {
	names := m.host.Names()
	switch {
	case r.LeaseGrant != nil && by != nil:
		id := r.LeaseGrant.ID
		c.clients[id] = by.Client
		m.host.RecordEvent(trace.Event{Kind: trace.KindOpen, Peer: by.Client, Session: sessionName(names, id), TTL: m.lessor.leases[id].duration()})
	case r.LeaseRevoke != nil:
		id := r.LeaseRevoke.ID
		// A client can close any session whose ID it knows, even a session of another
		// client.
		ended := trace.Event{Kind: trace.KindExpireSession, Peer: c.clients[id], Session: sessionName(names, id)}
		switch {
		case by.IsOperator():
			ended.Kind, ended.By = trace.KindCloseSession, by
		case by != nil:
			ended.Kind, ended.Peer = trace.KindCloseSession, by.Client
		}
		if staleRevoker != nil {
			ended.Text = staleRevoker.host.Node().Name
		}
		m.host.RecordEvent(ended)
		delete(c.clients, id)
	}
}

// primary returns the member that decides when sessions expire, or nil. Of the members that
// believe that they lead, this is the one with the highest term.
func (c *cluster) primary() *member {
	var primary *member
	for _, m := range c.members {
		if m.node != nil && m.lessor.isPrimary && m.node.BasicStatus().RaftState == raft.StateLeader && (primary == nil || m.term() > primary.term()) {
			primary = m
		}
	}
	return primary
}

// recordRenewal records that a session that holds a lock was renewed. A client or a new leader has
// renewed it. recordRenewal ignores renewals by a member that no longer leads, because the rest of
// the cluster does not know of them.
func (c *cluster) recordRenewal(m *member, l *lease) {
	if m != c.primary() {
		return
	}
	for _, lock := range c.locks {
		if lock.head != nil && lock.head.Lease == l.id {
			lock.recordEvent(m, trace.KindTouch, lock.owner, nil)
		}
	}
}

// sessionTimes returns the TTL of a session, and the true time at which it ends. That time
// assumes that nobody renews the session and that the leader's clock keeps its rate. Both
// are 0 if the session is unknown.
func (c *cluster) sessionTimes(m *member, id int64) (ttl, expires time.Duration) {
	l := m.lessor.leases[id]
	if l == nil {
		return 0, 0
	}
	if leader := c.primary(); leader != nil && leader.lessor.has(id) {
		remaining := leader.lessor.leases[id].expires.Sub(leader.now())
		if trueEnd, ok := leader.host.When(leader.host.Clock().Now().Add(remaining)); ok {
			return l.duration(), trueEnd
		}
	}
	return l.duration(), m.host.Now() + l.duration()
}
