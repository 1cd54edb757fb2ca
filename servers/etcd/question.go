package etcd

// This file asks the leader about leases. Only the leader knows when they expire.

import (
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/sim"
)

// askAgain is how long a member waits before it asks the leader again, after it has lost the
// connection or has asked a member that does not lead.
const askAgain = 50 * time.Millisecond

// A member asks the leader for what only the leader knows about a lease. It asks the leader
// to renew the lease, or it asks how long the lease lasts. These questions do not go
// through the log but directly from member to member. In etcd they use HTTP, see
// server/lease/leasehttp.
type (
	// leaseQuestion is a question about a lease.
	leaseQuestion struct {
		id    uint64
		lease int64
		// wantsTTL: the question is how long the lease lasts. Otherwise the leader should
		// renew the lease.
		wantsTTL bool
	}
	// leaseAnswer is the answer: how many seconds the lease still lasts (0 or less if it does not
	// exist), the TTL that was granted, and the lease's keys.
	leaseAnswer struct {
		id              uint64
		ttl, grantedTTL int64
		keys            []string
		// notLeader: the member that was asked does not lead.
		notLeader bool
	}
)

// String returns the text by which the trace shows the answer.
func (a leaseAnswer) String() string {
	switch {
	case a.notLeader:
		return "this member does not lead"
	case a.ttl <= 0:
		return "there is no such session"
	}
	return fmt.Sprintf("%d s left", a.ttl)
}

// questions are this member's questions that have not been answered.
type questions struct {
	open  []*pendingQuestion
	retry *alarm
}

// A pendingQuestion is a question that has not been answered. done is called with the
// answer.
type pendingQuestion struct {
	leaseQuestion
	since fakeclock.Reading
	done  func(leaseAnswer, error)
}

// ask asks the leader, which may be the member itself. It calls done with the answer.
func (m *member) ask(a leaseQuestion, done func(leaseAnswer, error)) {
	a.id = uint64(m.nextID())
	q := &pendingQuestion{leaseQuestion: a, since: m.now(), done: done}
	m.questions.open = append(m.questions.open, q)
	m.sendQuestion(q)
	if len(m.questions.open) > 0 {
		m.scheduleGiveUp()
	}
}

// sendQuestion sends a question to the leader, if the member knows one.
func (m *member) sendQuestion(q *pendingQuestion) {
	switch {
	case m.isLeader() && !q.wantsTTL:
		m.confirmLeadership(func(leads bool) {
			if !leads {
				m.questions.fail(q, errNotPrimary)
				return
			}
			m.answerOwnQuestion(q)
		})
	case m.isLeader():
		m.answerOwnQuestion(q)
	case m.leaderID != 0:
		verb := "renew"
		if q.wantsTTL {
			verb = "ask for the time left of"
		}
		m.peers[m.leaderID].send(sim.Packet{Body: q.leaseQuestion, Text: fmt.Sprintf("%s %s", verb, sessionName(m.host.Names(), q.lease))})
	}
}

// answerOwnQuestion answers the leader's own question.
func (m *member) answerOwnQuestion(q *pendingQuestion) {
	m.answerQuestion(q.leaseQuestion, func(a leaseAnswer) { m.questions.receiveAnswer(m, a) })
}

// answerQuestion answers a question as the leader, by calling answer. For a question of
// another member, the leader does not make sure that it still leads. See ServeHTTP in
// server/lease/leasehttp/http.go.
func (m *member) answerQuestion(q leaseQuestion, answer func(leaseAnswer)) {
	if q.wantsTTL {
		l := m.lessor.leases[q.lease]
		switch {
		case !m.lessor.isPrimary:
			answer(leaseAnswer{id: q.id, notLeader: true})
		case l == nil:
			answer(leaseAnswer{id: q.id, ttl: -1})
		default:
			left := l.expires.Sub(m.now())
			answer(leaseAnswer{id: q.id, ttl: int64(left / time.Second), grantedTTL: l.ttl, keys: l.sortedKeys()})
		}
		return
	}
	m.lessor.renew(q.lease, func(ttl int64, leads bool) {
		answer(leaseAnswer{id: q.id, ttl: ttl, notLeader: !leads})
	})
}

// receiveAnswer handles the leader's answer to a question.
func (qs *questions) receiveAnswer(m *member, a leaseAnswer) {
	i := slices.IndexFunc(qs.open, func(q *pendingQuestion) bool { return q.id == a.id })
	switch {
	case i < 0:
	case a.notLeader:
		qs.scheduleRetry(m)
	default:
		q := qs.open[i]
		qs.open = slices.Delete(qs.open, i, i+1)
		q.done(a, nil)
	}
}

// leaderChanged sends all questions to the new leader.
func (qs *questions) leaderChanged(m *member) {
	for _, q := range slices.Clone(qs.open) {
		m.sendQuestion(q)
	}
}

// failOverdue gives up on questions that have waited for requestTimeout.
func (qs *questions) failOverdue(m *member) {
	for _, q := range slices.Clone(qs.open) {
		switch {
		case m.now().Sub(q.since) < requestTimeout:
		case m.leaderID == 0:
			qs.fail(q, rpctypes.ErrGRPCNoLeader)
		default:
			qs.fail(q, rpctypes.ErrGRPCTimeout)
		}
	}
}

// fail gives up on a question, unless it has been answered.
func (qs *questions) fail(q *pendingQuestion, err error) {
	if i := slices.Index(qs.open, q); i >= 0 {
		qs.open = slices.Delete(qs.open, i, i+1)
		q.done(leaseAnswer{}, err)
	}
}

// scheduleRetry sends the questions again after a while, because the leader may not have
// received them.
func (qs *questions) scheduleRetry(m *member) {
	if len(qs.open) == 0 || m.node == nil || qs.retry.isPlanned() {
		return
	}
	qs.retry = m.after(askAgain, func() {
		for _, q := range slices.Clone(qs.open) {
			m.sendQuestion(q)
		}
	})
}
