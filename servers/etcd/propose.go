package etcd

import (
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// largestRequest is the default of etcd's --max-request-bytes.
const largestRequest = 3 << 19

// proposals are the requests that wait for the log.
type proposals struct {
	waiting []*proposal
}

// A proposal is a request to be written to the log.
type proposal struct {
	id    uint64
	data  []byte
	since fakeclock.Reading
	// offered: raft has the proposal. Without a leader it cannot be offered.
	offered bool
	// leaderReplaced: another leader has been elected since it was offered.
	leaderReplaced bool
	done           func(proto.Message, error)
}

// propose writes a client's request to the log and answers the call when it has been
// applied.
func (m *member) propose(c *rpc, r *pb.InternalRaftRequest) {
	answers := c.lastRequest
	m.write(r, answers.Sender(), orElse(c.fail, func(resp proto.Message) {
		var learns []trace.Event
		if l, ok := resp.(*pb.LeaseGrantResponse); ok {
			learns = append(learns, aliveEvent(sessionName(m.host.Names(), l.ID), l.TTL))
		}
		c.answer(resp, describeAnswer(m.host.Names(), resp), learns...)
	}))
}

// revoke has a lease revoked that has expired.
func (m *member) revoke(id int64) {
	m.write(&pb.InternalRaftRequest{LeaseRevoke: &pb.LeaseRevokeRequest{ID: id}}, nil, func(proto.Message, error) {})
}

// write writes a request to the log and calls done with the result. by is nil if the
// cluster itself makes the request.
func (m *member) write(r *pb.InternalRaftRequest, by *trace.Actor, done func(proto.Message, error)) {
	id := uint64(m.nextID())
	r.Header = &pb.RequestHeader{ID: id}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
	if err != nil || len(data) > largestRequest {
		done(nil, rpctypes.ErrGRPCRequestTooLarge)
		return
	}
	m.host.ChargeText(len(data))
	if by != nil {
		m.cluster.requesters[id] = by
	}
	p := &proposal{id: id, data: data, since: m.now(), done: done}
	m.proposals.waiting = append(m.proposals.waiting, p)
	m.offer(p)
	m.scheduleGiveUp()
}

func (m *member) offer(p *proposal) {
	if !p.offered && m.leaderID != 0 {
		p.offered = m.node.Propose(p.data) == nil
	}
}

// leaderChanged offers the proposals that could not be offered before. Those that were
// offered to the previous leader may be lost; no member can know.
func (ps *proposals) leaderChanged(m *member) {
	for _, p := range ps.waiting {
		p.leaderReplaced = p.leaderReplaced || p.offered
		m.offer(p)
	}
}

// take removes and returns the proposal with this ID, or returns nil if it is another
// member's.
func (ps *proposals) take(id uint64) *proposal {
	i := slices.IndexFunc(ps.waiting, func(p *proposal) bool { return p.id == id })
	if i < 0 {
		return nil
	}
	p := ps.waiting[i]
	ps.waiting = slices.Delete(ps.waiting, i, i+1)
	return p
}

// failOverdue gives up on proposals that have taken too long.
func (ps *proposals) failOverdue(m *member) {
	for _, p := range slices.Clone(ps.waiting) {
		if m.now().Sub(p.since) >= requestTimeout {
			err := rpctypes.ErrGRPCTimeout
			if p.leaderReplaced {
				err = rpctypes.ErrGRPCTimeoutDueToLeaderFail
			}
			ps.take(p.id).done(nil, err)
		}
	}
}

// apply applies an entry of the log.
func (m *member) apply(e *raftpb.Entry) {
	m.applied = e.GetIndex()
	if len(e.Data) == 0 {
		// It is the first entry of a leader's term: all entries from before have been
		// applied.
		if m.isLeader() {
			m.lessor.promote()
		}
		return
	}
	r := new(pb.InternalRaftRequest)
	must(proto.Unmarshal(e.Data, r))
	stale := m.cluster.findStaleRevoker(r)
	resp, changes, err := m.execute(r)
	m.cluster.recordApplied(m, r, resp, changes, stale, err)
	m.notifyWatchers(changes)
	if p := m.proposals.take(r.Header.ID); p != nil {
		p.done(resp, err)
	}
}

// execute executes a request. The result is the same on all members.
func (m *member) execute(r *pb.InternalRaftRequest) (resp proto.Message, changes []*mvccpb.Event, err error) {
	s := m.store
	switch {
	case r.Put != nil:
		if err = s.checkPuttable(r.Put, m.lessor.has); err != nil {
			return nil, nil, err
		}
		put := s.put(r.Put)
		put.Header = m.header(put.Header.Revision)
		return put, s.commit(), nil
	case r.DeleteRange != nil:
		removed := s.remove(r.DeleteRange)
		removed.Header = m.header(removed.Header.Revision)
		return removed, s.commit(), nil
	case r.Txn != nil:
		done, err := s.txn(r.Txn, m.lessor.has)
		if err != nil {
			return nil, nil, err
		}
		done.Header = m.header(done.Header.Revision)
		return done, s.commit(), nil
	case r.Compaction != nil:
		if err = s.compact(r.Compaction.Revision); err != nil {
			return nil, nil, err
		}
		return &pb.CompactionResponse{Header: m.header(0)}, nil, nil
	case r.LeaseGrant != nil:
		l, err := m.lessor.grant(r.LeaseGrant.ID, r.LeaseGrant.TTL)
		if err != nil {
			return nil, nil, err
		}
		return &pb.LeaseGrantResponse{Header: m.header(0), ID: l.id, TTL: l.ttl}, nil, nil
	case r.LeaseRevoke != nil:
		l := m.lessor.all[r.LeaseRevoke.ID]
		if l == nil {
			return nil, nil, rpctypes.ErrGRPCLeaseNotFound
		}
		for _, key := range l.sortedKeys() {
			s.remove(&pb.DeleteRangeRequest{Key: []byte(key)})
		}
		changes = s.commit()
		m.lessor.revoke(l)
		return &pb.LeaseRevokeResponse{Header: m.header(0)}, changes, nil
	}
	return nil, nil, rpctypes.ErrGRPCNotCapable // no member proposes anything else
}
