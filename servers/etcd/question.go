package etcd

import (
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/sim"
)

// askAgain is how long a member waits that has not got through to the leader.
const askAgain = 50 * time.Millisecond

// What only the leader knows of a lease it is asked: to renew it, or how long it lasts. That
// goes past the log, from member to member; in etcd by HTTP, see server/lease/leasehttp.
type (
	// asking is a question.
	asking struct {
		word  uint64
		lease int64
		// ttl asks how long it lasts, and nothing more.
		ttl bool
	}
	// asked is the answer: how long the lease lasts from now on, in seconds, 0 or less if
	// there is none; how long it was granted for; and its keys.
	asked struct {
		word         uint64
		ttl, granted int64
		keys         []string
		// notLeader: whoever was asked does not know.
		notLeader bool
	}
)

// String is the answer for people.
func (a asked) String() string {
	switch {
	case a.notLeader:
		return "I do not lead"
	case a.ttl <= 0:
		return "there is no such session"
	}
	return fmt.Sprintf("for %d s", a.ttl)
}

// questions are those that have no answer yet.
type questions struct {
	open  []*question
	again *alarm
}

type question struct {
	asking
	since fakeclock.Reading
	done  func(asked, error)
}

// ask asks the leader, which may be the member itself.
func (m *member) ask(a asking, done func(asked, error)) {
	a.word = uint64(m.nextID())
	q := &question{asking: a, since: m.now(), done: done}
	m.questions.open = append(m.questions.open, q)
	m.pose(q)
	if len(m.questions.open) > 0 {
		m.hurry()
	}
}

// pose puts a question to whoever leads now; to nobody if nobody does.
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

// consider answers a question as the leader. Another's is answered without making sure that
// it still leads: see ServeHTTP in server/lease/leasehttp/http.go.
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

// answered takes an answer.
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

// leaderChanged asks whoever leads now.
func (qs *questions) leaderChanged(m *member) {
	for _, q := range slices.Clone(qs.open) {
		m.pose(q)
	}
}

// overdue gives up on what takes too long.
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

// give gives up on a question, unless it has been answered.
func (qs *questions) give(q *question, err error) {
	if i := slices.Index(qs.open, q); i >= 0 {
		qs.open = slices.Delete(qs.open, i, i+1)
		q.done(asked{}, err)
	}
}

// lost says that what was sent to the leader may not have got there.
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
