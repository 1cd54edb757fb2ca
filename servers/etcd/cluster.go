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

// A cluster is what all members of a world share. It records what is true of all of them
// once, when the first of them applies an entry.
type cluster struct {
	members []*member
	// forming: the members have begun to form the cluster; formed: they have formed it.
	forming, formed bool
	disturbedAt     time.Duration // when something last happened that may concern the members
	recordedIndex   uint64        // the last entry of the log that the trace covers
	// requesters are the clients whose requests are in the log, by request ID.
	requesters map[uint64]*trace.Actor
	// clients are the clients that own the sessions, by lease ID.
	clients map[int64]string
	locks   []*register
	// versions are the versions of the data objects that the trace last recorded.
	versions map[string]int
}

// joinCluster adds the member to the cluster of its world.
func (m *member) joinCluster() {
	names := m.host.Members()
	if first, ok := m.host.Peer(names[0]).(*member); ok {
		m.cluster = first.cluster
	} else {
		m.cluster = &cluster{requesters: map[uint64]*trace.Actor{}, clients: map[int64]string{}, versions: map[string]int{}}
		for _, key := range m.host.Keys() {
			m.cluster.locks = append(m.cluster.locks, &register{lock: key, claims: map[string]claim{}})
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

// form makes the members form the cluster before the run begins and elect the first of
// them.
func (c *cluster) form() {
	if c.formed || c.forming {
		return
	}
	c.forming = true
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
	c.formed = true
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

func (c *cluster) member(id uint64) *member {
	for _, m := range c.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

// recordLeader records a new leader.
func (c *cluster) recordLeader(m *member) {
	if m.isLeader() {
		m.host.Emit(trace.Event{Kind: trace.KindLead})
	}
}

// describeEntry describes an entry of the log for the trace.
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

// findStaleRevoker returns the member that wants a live lease revoked because it does not
// know that it no longer leads, or nil. Call it before the lease is revoked.
func (c *cluster) findStaleRevoker(r *pb.InternalRaftRequest) *member {
	primary := c.primary()
	if r.LeaseRevoke == nil || c.requesters[r.Header.ID] != nil || primary == nil {
		return nil
	}
	l := primary.lessor.all[r.LeaseRevoke.ID]
	if proposer := c.members[memberIndexOf(r.Header.ID)]; proposer != primary && l != nil && l.expires.Sub(primary.now()) > 0 {
		return proposer
	}
	return nil
}

// recordApplied records what an entry of the log has changed, when the first member applies
// it.
func (c *cluster) recordApplied(m *member, r *pb.InternalRaftRequest, resp proto.Message, changes []*mvccpb.Event, stale *member, err error) {
	if m.applied <= c.recordedIndex {
		return
	}
	c.recordedIndex = m.applied
	by := c.requesters[r.Header.ID]
	if err == nil {
		c.recordSession(m, r, by, stale)
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
		lock.observe(m, changes, by, by == nil && stale == nil)
	}
}

// recordSession records the beginning or the end of a session.
func (c *cluster) recordSession(m *member, r *pb.InternalRaftRequest, by *trace.Actor, stale *member) {
	names := m.host.Names()
	switch {
	case r.LeaseGrant != nil && by != nil:
		id := r.LeaseGrant.ID
		c.clients[id] = by.Client
		m.host.RecordEvent(trace.Event{Kind: trace.KindOpen, Peer: by.Client, Session: sessionName(names, id), TTL: m.lessor.all[id].duration()})
	case r.LeaseRevoke != nil:
		id := r.LeaseRevoke.ID
		// A client can close any session whose ID it has, also one that it did not open.
		ended := trace.Event{Kind: trace.KindExpireSession, Peer: c.clients[id], Session: sessionName(names, id)}
		switch {
		case by.IsOperator():
			ended.Kind, ended.By = trace.KindCloseSession, by
		case by != nil:
			ended.Kind, ended.Peer = trace.KindCloseSession, by.Client
		}
		if stale != nil {
			ended.Text = stale.host.Node().Name
		}
		m.host.RecordEvent(ended)
		delete(c.clients, id)
	}
}

// primary returns the member that counts the time of the sessions: of those that believe
// that they lead, the one with the highest term. nil means none.
func (c *cluster) primary() *member {
	var primary *member
	for _, m := range c.members {
		if m.node != nil && m.lessor.isPrimary && m.node.BasicStatus().RaftState == raft.StateLeader && (primary == nil || m.term() > primary.term()) {
			primary = m
		}
	}
	return primary
}

// recordRenewal records that a session that holds a lock was renewed, by a client for the
// sake of the lock or by a new leader. It ignores the renewals of a member that no longer
// leads: the cluster does not know of them.
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

// sessionTimes returns for how long a session was granted, and the true time at which it
// ends if nobody renews it and the leader's clock keeps its rate. Both are 0 if the session
// is unknown.
func (c *cluster) sessionTimes(m *member, id int64) (ttl, expires time.Duration) {
	l := m.lessor.all[id]
	if l == nil {
		return 0, 0
	}
	if o := c.primary(); o != nil && o.lessor.has(id) {
		left := o.lessor.all[id].expires.Sub(o.now())
		if at, ok := o.host.When(o.host.Clock().Now().Add(left)); ok {
			return l.duration(), at
		}
	}
	return l.duration(), m.host.Now() + l.duration()
}
