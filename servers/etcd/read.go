package etcd

// This file makes reads of a member linearizable: a member may be behind the cluster's log,
// and must catch up first.

import (
	"encoding/binary"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/raft/v3"

	"github.com/locksim/locksim/fakeclock"
)

// readAgain is how long a member waits for the leader's answer before it asks again up to which
// entry the log is committed. See readIndexRetryTime in server/etcdserver/read.
const readAgain = 500 * time.Millisecond

// A linearRead makes sure that a member's reads are up to date, in rounds. In each round the member
// asks the leader up to which entry the log is committed, and the leader asks a majority whether it
// still leads. Then the member waits until it has applied the log up to that entry. Reads that
// arrive meanwhile wait for the next round. It works like LinearizableReadLoop in
// server/etcdserver/read.
type linearRead struct {
	// serving are the reads of the current round, and queued those of the next round. Each
	// is called when the member is up to date, or with an error.
	serving, queued []func(error)
	since           fakeclock.Reading // when the current round began
	requestIDs      []uint64          // the IDs of the questions to the leader in the current round
	retry           *alarm            // rings when the leader is asked again
	// index is the log entry that the member must apply before it can serve the reads; 0 if the
	// leader has not answered yet.
	index uint64
}

// whenUpToDate calls serve when the member is up to date. It calls serve with an error if the
// member cannot get up to date.
func (m *member) whenUpToDate(serve func(error)) {
	r := &m.linearRead
	r.queued = append(r.queued, serve)
	if len(r.serving) == 0 {
		r.begin(m)
	}
}

// begin begins the next round, if reads wait for it.
func (r *linearRead) begin(m *member) {
	if len(r.queued) == 0 {
		return
	}
	r.serving, r.queued = r.queued, nil
	r.since, r.requestIDs, r.index = m.now(), nil, 0
	r.ask(m)
	m.scheduleGiveUp()
}

// ask asks the leader up to which entry the log is committed. It repeats the question until there
// is an answer.
func (r *linearRead) ask(m *member) {
	id := uint64(m.nextID())
	r.requestIDs = append(r.requestIDs, id)
	m.node.ReadIndex(binary.BigEndian.AppendUint64(nil, id))
	r.retry.stop()
	if !m.isAlone() {
		r.retry = m.after(readAgain, func() {
			if len(r.serving) > 0 && r.index == 0 {
				r.ask(m)
			}
		})
	}
}

// confirmed handles the leader's answer, which names the last committed entry.
func (r *linearRead) confirmed(m *member, state raft.ReadState) {
	if len(r.serving) == 0 || !slices.Contains(r.requestIDs, binary.BigEndian.Uint64(state.RequestCtx)) {
		return // the member has given up on the round
	}
	r.index = state.Index
	r.serve(m)
}

// serve serves the reads of the round, if the member is up to date.
func (r *linearRead) serve(m *member) {
	if r.index != 0 && m.applied >= r.index {
		r.finish(m, nil)
	}
}

// finish ends the round, serves its reads and begins the next round.
func (r *linearRead) finish(m *member, err error) {
	reads := r.serving
	r.serving, r.index = nil, 0
	r.retry.stop()
	for _, serve := range reads {
		serve(err)
	}
	if len(r.serving) == 0 {
		r.begin(m)
	}
}

// leaderChanged fails the round, because the member has asked the previous leader. etcd
// does the same.
func (r *linearRead) leaderChanged(m *member) {
	if m.leaderID != 0 && len(r.serving) > 0 {
		r.finish(m, rpctypes.ErrGRPCLeaderChanged)
	}
}

// failOverdue gives up on a round that has lasted for requestTimeout.
func (r *linearRead) failOverdue(m *member) {
	if len(r.serving) > 0 && m.now().Sub(r.since) >= requestTimeout {
		r.finish(m, rpctypes.ErrGRPCTimeout)
	}
}
