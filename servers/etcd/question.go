package etcd

import (
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/sim"
)

// askAgain is how long a member waits before it asks the leader again, if the connection
// was lost.
const askAgain = 50 * time.Millisecond

// A member asks the leader for what only the leader knows about a lease: to renew it, or
// how long it lasts. These questions do not go through the log but from member to member;
// in etcd by HTTP, see server/lease/leasehttp.
type (
	// asking is a question about a lease.
	asking struct {
		word  uint64
		lease int64
		// wantsTTL: the question is how long the lease lasts; otherwise the lease is to be
		// renewed.
		ttl bool
	}
	// leaseAnswer is the answer: how long the lease still lasts, in seconds, 0 or less if
	// it does not exist; the TTL that was granted; and the lease's keys.
	asked struct {
		word         uint64
		ttl, granted int64
		keys         []string
		// notLeader: the member that was asked does not lead.
		notLeader bool
	}
)

// String describes the answer for the trace.
func (a asked) String() string {
	switch {
	case a.notLeader:
		return "I do not lead"
	case a.ttl <= 0:
		return "there is no such session"
	}
	return fmt.Sprintf("for %d s", a.ttl)
}

// questions are the questions that have not been answered.
type questions struct {
	open  []*question
	again *alarm
}

type question struct {
	asking
	since fakeclock.Reading
	done  func(asked, error)
}

// ask asks the leader, which may be the member itself, and calls done with the answer.
func (m *member) ask(a asking, done func(asked, error)) {
	a.word = uint64(m.nextID())
	q := &question{asking: a, since: m.now(), done: done}
	m.questions.open = append(m.questions.open, q)
	m.pose(q)
	if len(m.questions.open) > 0 {
		m.hurry()
	}
}

// sendQuestion sends a question to the current leader, if there is one.
func (m *member) pose(q *question) {
	switch {
	case m.isLeader() && !q.ttl:
		m.leads(func(still bool) {
			if !still {
				m.questions.give(q, errNotPrimary)
				return
			}
			m.considerOwn(q)
		})
	case m.isLeader():
		m.considerOwn(q)
	case m.leading != 0:
		verb := "renew"
		if q.ttl {
			verb = "how long is"
		}
		m.peers[m.leading].send(sim.Packet{Body: q.asking, Text: fmt.Sprintf("%s %s", verb, session(m.host.Names(), q.lease))})
	}
}

func (m *member) considerOwn(q *question) {
	m.consider(q.asking, func(a asked) { m.questions.answered(m, a) })
}

// answerQuestion answers a question as the leader. For a question of another member it does
// not make sure that it still leads: see ServeHTTP in server/lease/leasehttp/http.go.
func (m *member) consider(q asking, answer func(asked)) {
	if q.ttl {
		l := m.lessor.all[q.lease]
		switch {
		case !m.lessor.primary:
			answer(asked{word: q.word, notLeader: true})
		case l == nil:
			answer(asked{word: q.word, ttl: -1})
		default:
			left := l.expires.Sub(m.now())
			answer(asked{word: q.word, ttl: int64(left / time.Second), granted: l.ttl, keys: l.sortedKeys()})
		}
		return
	}
	m.lessor.renew(q.lease, func(ttl int64, leads bool) {
		answer(asked{word: q.word, ttl: ttl, notLeader: !leads})
	})
}

// receiveAnswer handles an answer to one of the questions.
func (qs *questions) answered(m *member, a asked) {
	i := slices.IndexFunc(qs.open, func(q *question) bool { return q.word == a.word })
	switch {
	case i < 0:
	case a.notLeader:
		qs.lost(m)
	default:
		q := qs.open[i]
		qs.open = slices.Delete(qs.open, i, i+1)
		q.done(a, nil)
	}
}

// leaderChanged sends all questions to the new leader.
func (qs *questions) leaderChanged(m *member) {
	for _, q := range slices.Clone(qs.open) {
		m.pose(q)
	}
}

// failOverdue gives up on questions that have taken too long.
func (qs *questions) overdue(m *member) {
	for _, q := range slices.Clone(qs.open) {
		switch {
		case m.now().Sub(q.since) < patience:
		case m.leading == 0:
			qs.give(q, rpctypes.ErrGRPCNoLeader)
		default:
			qs.give(q, rpctypes.ErrGRPCTimeout)
		}
	}
}

// fail gives up on a question, unless it has been answered.
func (qs *questions) give(q *question, err error) {
	if i := slices.Index(qs.open, q); i >= 0 {
		qs.open = slices.Delete(qs.open, i, i+1)
		q.done(asked{}, err)
	}
}

// scheduleRetry sends the questions again after a while, because the leader may not have
// received them.
func (qs *questions) lost(m *member) {
	if len(qs.open) == 0 || m.node == nil || qs.again.planned() {
		return
	}
	qs.again = m.after(askAgain, func() {
		for _, q := range slices.Clone(qs.open) {
			m.pose(q)
		}
	})
}
