package etcd

import (
	"encoding/binary"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/raft/v3"

	"github.com/locksim/locksim/fakeclock"
)

// readAgain is how long a member waits for the leader's answer before it asks again how far
// the log is: readIndexRetryTime in server/etcdserver/read.
const readAgain = 500 * time.Millisecond

// A linearRead makes sure that a member's reads are up to date. The member asks the leader
// how far the log is; the leader asks a majority whether it still leads; then the member
// waits until it has applied that much. Reads that arrive meanwhile wait for the next
// round. It works like LinearizableReadLoop in server/etcdserver/read.
type reading struct {
	// serving are the reads of the current round, queued those of the next.
	serves, next []func(error)
	since        fakeclock.Reading
	words        []uint64 // of the requests of this round
	again        *alarm
	// index is the entry that must be applied first; 0 if it is not known yet.
	index uint64
}

// whenUpToDate calls serve when the member is up to date, or with an error if it cannot be.
func (m *member) upToDate(serve func(error)) {
	r := &m.reading
	r.next = append(r.next, serve)
	if len(r.serves) == 0 {
		r.begin(m)
	}
}

func (r *reading) begin(m *member) {
	if len(r.next) == 0 {
		return
	}
	r.serves, r.next = r.next, nil
	r.since, r.words, r.index = m.now(), nil, 0
	r.ask(m)
	m.hurry()
}

// ask asks the leader, and asks again if there is no answer.
func (r *reading) ask(m *member) {
	word := uint64(m.nextID())
	r.words = append(r.words, word)
	m.node.ReadIndex(binary.BigEndian.AppendUint64(nil, word))
	r.again.stop()
	if !m.alone() {
		r.again = m.after(readAgain, func() {
			if len(r.serves) > 0 && r.index == 0 {
				r.ask(m)
			}
		})
	}
}

// confirmed handles the leader's answer: how far the log was.
func (r *reading) confirmed(m *member, is raft.ReadState) {
	if len(r.serves) == 0 || !slices.Contains(r.words, binary.BigEndian.Uint64(is.RequestCtx)) {
		return // the round has been given up
	}
	r.index = is.Index
	r.serve(m)
}

// serve serves the waiting reads, if the member is up to date.
func (r *reading) serve(m *member) {
	if r.index != 0 && m.applied >= r.index {
		r.end(m, nil)
	}
}

func (r *reading) end(m *member, err error) {
	serves := r.serves
	r.serves, r.index = nil, 0
	r.again.stop()
	for _, serve := range serves {
		serve(err)
	}
	if len(r.serves) == 0 {
		r.begin(m)
	}
}

// leaderChanged fails the round that the previous leader was asked for, as in etcd.
func (r *reading) leaderChanged(m *member) {
	if m.leading != 0 && len(r.serves) > 0 {
		r.end(m, rpctypes.ErrGRPCLeaderChanged)
	}
}

// failOverdue gives up on a round that has taken too long.
func (r *reading) overdue(m *member) {
	if len(r.serves) > 0 && m.now().Sub(r.since) >= patience {
		r.end(m, rpctypes.ErrGRPCTimeout)
	}
}
