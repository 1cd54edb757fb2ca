package etcd

// This file writes requests to the cluster's log, by proposing them to raft, and applies
// the entries of the log.

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

// largestRequest is the largest size of a request in bytes. It is the default of etcd's
// --max-request-bytes.
const largestRequest = 3 << 19

// proposals are this member's requests that have yet to be written to the log and applied.
type proposals struct {
	waiting []*proposal
}

// A proposal is one request that has yet to be written to the log. done is called with the
// result.
type proposal struct {
	id    uint64
	data  []byte
	since fakeclock.Reading
	// isOffered: raft has the proposal. Without a leader, raft does not take it.
	isOffered bool
	// leaderReplaced: another leader was elected after raft had taken the proposal, so it
	// may be lost.
	leaderReplaced bool
	done           func(proto.Message, error)
}

// propose writes a client's request to the log. It answers the call when the member has
// applied the request.
func (m *member) propose(c *rpc, r *pb.InternalRaftRequest) {
	request := c.lastRequest
	m.write(r, request.Sender(), onResultOrError(c.fail, func(resp proto.Message) {
		var clientEvents []trace.Event
		if l, ok := resp.(*pb.LeaseGrantResponse); ok {
			clientEvents = append(clientEvents, aliveEvent(sessionName(m.host.Names(), l.ID), l.TTL))
		}
		c.answer(resp, describeAnswer(m.host.Names(), resp), clientEvents...)
	}))
}

// revoke asks for an expired lease to be revoked.
func (m *member) revoke(id int64) {
	m.write(&pb.InternalRaftRequest{LeaseRevoke: &pb.LeaseRevokeRequest{ID: id}}, nil, func(proto.Message, error) {})
}

// write writes a request to the log and calls done with the result. by is the acquisition
// that sent the request; nil if the cluster itself makes it.
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

// offer gives a proposal to raft, if the member knows a leader and raft does not have the
// proposal yet.
func (m *member) offer(p *proposal) {
	if !p.isOffered && m.leaderID != 0 {
		p.isOffered = m.node.Propose(p.data) == nil
	}
}

// leaderChanged offers the proposals that raft has not taken before. The other ones may be lost
// with the previous leader. No member can know whether they are lost, so they are not offered
// again.
func (ps *proposals) leaderChanged(m *member) {
	for _, p := range ps.waiting {
		p.leaderReplaced = p.leaderReplaced || p.isOffered
		m.offer(p)
	}
}

// take removes and returns the proposal with this ID. It returns nil if the proposal is
// another member's, or was given up.
func (ps *proposals) take(id uint64) *proposal {
	i := slices.IndexFunc(ps.waiting, func(p *proposal) bool { return p.id == id })
	if i < 0 {
		return nil
	}
	p := ps.waiting[i]
	ps.waiting = slices.Delete(ps.waiting, i, i+1)
	return p
}

// failOverdue gives up on proposals that have waited for requestTimeout.
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

// apply applies an entry of the log. Every member applies all entries, in the same order.
func (m *member) apply(e *raftpb.Entry) {
	m.applied = e.GetIndex()
	if len(e.Data) == 0 {
		// This is the first entry of a leader's term. So all entries from before have been
		// applied.
		if m.isLeader() {
			m.lessor.promote()
		}
		return
	}
	r := new(pb.InternalRaftRequest)
	must(proto.Unmarshal(e.Data, r))
	staleRevoker := m.cluster.findStaleRevoker(r)
	resp, changes, err := m.execute(r)
	m.cluster.recordApplied(m, r, resp, changes, staleRevoker, err)
	m.notifyWatchers(changes)
	if p := m.proposals.take(r.Header.ID); p != nil {
		p.done(resp, err)
	}
}

// execute executes a request of the log. The result is the same on all members.
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
		result, err := s.txn(r.Txn, m.lessor.has)
		if err != nil {
			return nil, nil, err
		}
		result.Header = m.header(result.Header.Revision)
		return result, s.commit(), nil
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
		l := m.lessor.leases[r.LeaseRevoke.ID]
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
