package etcd

import (
	"encoding/binary"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/raft/v3"

	"github.com/locksim/locksim/fakeclock"
)

// readAgain is how long a member waits for the leader to say how far the log is before it asks
// again: readIndexRetryTime in server/etcdserver/read.
const readAgain = 500 * time.Millisecond

// A reading is how a member makes sure that what it reads is up to date: it asks the leader
// how far the log is, who asks most members whether it still leads, and waits until it has
// done that much itself. What comes while it asks waits for the next time. It is as
// LinearizableReadLoop in server/etcdserver/read.
type reading struct {
	// serves are those for which it asks now, and next those who came later.
	serves, next []func(error)
	since        fakeclock.Reading
	words        []uint64 // of what it has asked
	again        *alarm
	// index is what has to be done first; 0 is not known yet.
	index uint64
}

// upToDate has something served when the member is up to date, or hears that it cannot be.
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

// ask asks the leader, and again if there is no answer.
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

// confirmed takes in how far the log was when it was asked.
func (r *reading) confirmed(m *member, is raft.ReadState) {
	if len(r.serves) == 0 || !slices.Contains(r.words, binary.BigEndian.Uint64(is.RequestCtx)) {
		return // it has been given up on
	}
	r.index = is.Index
	r.serve(m)
}

// serve serves those who wait, if the member is up to date.
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

// leaderChanged is the end of what the leader before was asked, as in etcd.
func (r *reading) leaderChanged(m *member) {
	if m.leading != 0 && len(r.serves) > 0 {
		r.end(m, rpctypes.ErrGRPCLeaderChanged)
	}
}

// overdue gives up on what takes too long.
func (r *reading) overdue(m *member) {
	if len(r.serves) > 0 && m.now().Sub(r.since) >= patience {
		r.end(m, rpctypes.ErrGRPCTimeout)
	}
}
