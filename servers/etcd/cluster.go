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

// A cluster is all members of a world: how they came together, and what is true of them
// together, which is told once, by whichever of them is the first to do what was decided.
type cluster struct {
	members []*member
	// forming: they have begun to come together, and formed that they have.
	forming, formed bool
	stirred         time.Duration // when something has happened last that may concern them
	told            uint64        // the last entry of the log of which the trace knows
	// asked are those who wanted a request, by its word.
	asked map[uint64]*trace.Actor
	// clients are those to whom the sessions belong, by their leases.
	clients map[int64]string
	locks   []*register
	// versions are what has been told of the data: at which version each object is.
	versions map[string]int
}

// join has the member take part in the cluster of its world.
func (m *member) join() {
	names := m.host.Members()
	if first, ok := m.host.Peer(names[0]).(*member); ok {
		m.cluster = first.cluster
	} else {
		m.cluster = &cluster{asked: map[uint64]*trace.Actor{}, clients: map[int64]string{}, versions: map[string]int{}}
		for _, key := range m.host.Keys() {
			m.cluster.locks = append(m.cluster.locks, &register{lock: key, claims: map[string]claim{}})
		}
		m.host.At(0, m.cluster.form)
	}
	m.place = len(m.cluster.members)
	m.cluster.members = append(m.cluster.members, m)
	m.peers = map[uint64]*peer{}
	for _, name := range names {
		if name != m.host.Node().Name {
			p := &peer{m: m, name: name, id: hash(name)}
			m.peers[p.id] = p
			m.order = append(m.order, p)
		}
	}
}

// alone says that the member has no others to ask.
func (m *member) alone() bool { return len(m.order) == 0 }

// form has the members come together before the story begins, and elect the first of them.
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
	for c.talk() {
	}
	c.formed = true
	for _, m := range c.members {
		for _, p := range m.order {
			p.dial()
		}
	}
}

// talk has the members tell each other at once what they have to, and reports whether there
// was anything.
func (c *cluster) talk() (any bool) {
	for _, m := range c.members {
		m.work()
		for _, p := range m.order {
			queue := p.queue
			p.queue = nil
			for _, packet := range queue {
				any = true
				c.member(p.id).hear(packet.Body.(*raftpb.Message))
			}
		}
	}
	return any
}

func (c *cluster) member(id uint64) *member {
	for _, m := range c.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

// led tells of a new leader.
func (c *cluster) led(m *member) {
	if m.isLeader() {
		m.host.Emit(trace.Event{Kind: trace.KindLead})
	}
}

// tellEntry is an entry of the log for people.
func (c *cluster) tellEntry(names *sim.Names, e *raftpb.Entry) string {
	r := new(pb.InternalRaftRequest)
	if len(e.GetData()) == 0 || proto.Unmarshal(e.GetData(), r) != nil {
		return "a new leader"
	}
	if r.Txn != nil {
		return "Txn of " + tellKeys(names, r.Txn)
	}
	return tell(names, given(r.Put, r.DeleteRange, r.Compaction, r.LeaseGrant, r.LeaseRevoke))
}

// stale is the member that wants a lease revoked although it lives, because it no longer
// leads and does not know it; nil is nobody. It is to be asked before the lease is revoked.
func (c *cluster) stale(r *pb.InternalRaftRequest) *member {
	primary := c.primary()
	if r.LeaseRevoke == nil || c.asked[r.Header.ID] != nil || primary == nil {
		return nil
	}
	l := primary.lessor.all[r.LeaseRevoke.ID]
	if by := c.members[placeOf(r.Header.ID)]; by != primary && l != nil && l.expires.Sub(primary.now()) > 0 {
		return by
	}
	return nil
}

// done tells what an entry of the log has changed, if a member has done it that is the first.
func (c *cluster) done(m *member, r *pb.InternalRaftRequest, resp proto.Message, changes []*mvccpb.Event, stale *member, err error) {
	if m.applied <= c.told {
		return
	}
	c.told = m.applied
	by := c.asked[r.Header.ID]
	if err == nil {
		c.doneSession(m, r, by, stale)
		if r.Compaction != nil {
			m.host.Emit(trace.Event{Kind: trace.KindCompact, Text: fmt.Sprintf("revision %d", r.Compaction.Revision)})
		}
	}
	c.wrote(m, r, resp, changes, by)
	if len(changes) == 0 {
		return
	}
	m.host.Keeps(len(changes))
	for _, lock := range c.locks {
		lock.see(m, changes, by, by == nil && stale == nil)
	}
}

// doneSession tells of sessions that begin and end.
func (c *cluster) doneSession(m *member, r *pb.InternalRaftRequest, by *trace.Actor, stale *member) {
	names := m.host.Names()
	switch {
	case r.LeaseGrant != nil && by != nil:
		id := r.LeaseGrant.ID
		c.clients[id] = by.Client
		m.host.Tell(trace.Event{Kind: trace.KindOpen, Peer: by.Client, Session: session(names, id), TTL: m.lessor.all[id].lasts()})
	case r.LeaseRevoke != nil:
		id := r.LeaseRevoke.ID
		// Whoever has a session can close it, also one that it did not open.
		over := trace.Event{Kind: trace.KindExpireSession, Peer: c.clients[id], Session: session(names, id)}
		switch {
		case by.IsOperator():
			over.Kind, over.By = trace.KindCloseSession, by
		case by != nil:
			over.Kind, over.Peer = trace.KindCloseSession, by.Client
		}
		if stale != nil {
			over.Text = stale.host.Node().Name
		}
		m.host.Tell(over)
		delete(c.clients, id)
	}
}

// primary is who counts the time of the sessions: of those who think that they lead the one
// whom most have elected last. nil is nobody.
func (c *cluster) primary() *member {
	var primary *member
	for _, m := range c.members {
		if m.node != nil && m.lessor.primary && m.node.BasicStatus().RaftState == raft.StateLeader && (primary == nil || m.term() > primary.term()) {
			primary = m
		}
	}
	return primary
}

// renewed tells that a session was prolonged that has a lock. Whoever asked for that did it
// for what the session has, and so does a new leader. What one does who leads no more is
// nothing to the cluster.
func (c *cluster) renewed(m *member, l *lease) {
	if m != c.primary() {
		return
	}
	for _, lock := range c.locks {
		if lock.head != nil && lock.head.Lease == l.id {
			lock.tell(m, trace.KindTouch, lock.owner, nil)
		}
	}
}

// lasts is for how long a session was granted, and when it ends in true time if nobody renews
// it and the leader's clock goes on as it does; 0 if nobody knows.
func (c *cluster) lasts(m *member, id int64) (ttl, expires time.Duration) {
	l := m.lessor.all[id]
	if l == nil {
		return 0, 0
	}
	if o := c.primary(); o != nil && o.lessor.known(id) {
		left := o.lessor.all[id].expires.Sub(o.now())
		if at, ok := o.host.When(o.host.Clock().Now().Add(left)); ok {
			return l.lasts(), at
		}
	}
	return l.lasts(), m.host.Now() + l.lasts()
}
