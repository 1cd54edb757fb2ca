package etcd

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/sim"
)

const (
	// longestTTL is lease.MaxLeaseTTL, in seconds.
	longestTTL = 9_000_000_000
	// shortestTTL is what any shorter TTL becomes, in seconds: one and a half election
	// timeouts, rounded up. See MinLeaseTTL in server/etcdserver/server.go.
	shortestTTL = int64((electionTimeout*3/2 + time.Second - 1) / time.Second)
	// leaseCheck is how often a leader looks which leases have expired: so an expiry is late
	// by up to that. See lessor.runLoop.
	leaseCheck = 500 * time.Millisecond
	// revokeAgain is how long a leader waits for a revocation before it asks for it again:
	// defaultExpiredleaseRetryInterval in server/lease/lessor.go.
	revokeAgain = 3 * time.Second
)

// A lease is a client's session. Which leases there are is the same on all members; when they
// expire only their leader knows, who counts the time that passes for it, whatever its wall
// clock says.
type lease struct {
	id  int64
	ttl int64 // seconds
	// keys are those that go with it.
	keys map[string]bool
	// expires is when it does by the leader's monotonic clock.
	expires fakeclock.Reading
	// revoking is until when nobody asks again for it to be revoked.
	revoking fakeclock.Reading
	// waiting are the renewals that came too late, and hear so when it is revoked.
	waiting []func(ttl int64, leads bool)
}

func (l *lease) lasts() time.Duration { return time.Duration(l.ttl) * time.Second }

// A lessor is a member's leases, as server/lease/lessor.go has them.
type lessor struct {
	m   *member
	all map[int64]*lease
	// primary: the member is the leader, and has done all that was decided before.
	primary bool
	// phase is when in each leaseCheck the member looks.
	phase time.Duration
	look  *alarm
}

func (le *lessor) known(id int64) bool { return le.all[id] != nil }

func (le *lessor) grant(id, ttl int64) (*lease, error) {
	switch {
	case id == 0:
		return nil, rpctypes.ErrGRPCLeaseNotFound
	case ttl > longestTTL:
		return nil, rpctypes.ErrGRPCLeaseTTLTooLarge
	case le.known(id):
		return nil, rpctypes.ErrGRPCLeaseExist
	}
	l := &lease{id: id, ttl: max(ttl, shortestTTL), keys: map[string]bool{}}
	le.all[id] = l
	if le.primary {
		le.refresh(l, 0)
	}
	return l, nil
}

// revoke ends a lease that is known. Its keys are still there.
func (le *lessor) revoke(l *lease) {
	delete(le.all, l.id)
	for _, late := range l.waiting {
		late(0, true)
	}
}

// attach is told of each key that gets another lease.
func (le *lessor) attach(key string, was, is int64) {
	if l := le.all[was]; l != nil {
		delete(l.keys, key)
	}
	if l := le.all[is]; l != nil {
		l.keys[key] = true
	}
}

// refresh gives a lease its whole TTL again, and more.
func (le *lessor) refresh(l *lease, extend time.Duration) {
	l.expires = le.m.now().Add(l.lasts() + extend)
	l.revoking = fakeclock.Reading{}
	le.plan()
}

// promote is for who has become the leader: it does not know when the leases were renewed
// last, so each gets its whole TTL again.
func (le *lessor) promote() {
	le.primary = true
	for _, l := range le.sorted() {
		le.refresh(l, electionTimeout)
		le.m.cluster.renewed(le.m, l)
	}
}

// demote is for who no longer is the leader.
func (le *lessor) demote() {
	if !le.primary {
		return
	}
	le.primary = false
	le.look.stop()
	for _, l := range le.sorted() {
		waiting := l.waiting
		l.waiting = nil
		for _, again := range waiting {
			again(0, false)
		}
	}
}

// renew renews a lease, and says how long it lasts, 0 if there is none. A lease that has expired and is still there is about to be
// revoked: who renews it hears of that.
func (le *lessor) renew(id int64, done func(ttl int64, leads bool)) {
	l := le.all[id]
	switch {
	case !le.primary:
		done(0, false)
	case l == nil:
		done(0, true)
	case l.expires.Sub(le.m.now()) <= 0:
		l.waiting = append(l.waiting, done)
	default:
		le.refresh(l, 0)
		le.m.cluster.renewed(le.m, l)
		done(l.ttl, true)
	}
}

// sorted are the leases in the order in which they expire.
func (le *lessor) sorted() []*lease {
	return slices.SortedFunc(maps.Values(le.all), func(a, b *lease) int {
		return cmp.Or(cmp.Compare(a.expires.Nanos, b.expires.Nanos), cmp.Compare(a.id, b.id))
	})
}

// due is when the leader will have seen that a lease has expired: at the first look after.
func (le *lessor) due(l *lease) fakeclock.Reading {
	at := max(l.expires.Nanos, l.revoking.Nanos)
	looks := (time.Duration(at) - le.phase + leaseCheck - 1) / leaseCheck
	return fakeclock.Reading{Clock: l.expires.Clock, Nanos: int64(le.phase + looks*leaseCheck)}
}

// plan has the leader look when the first lease can have expired. A lease that is renewed
// meanwhile costs nothing: the look finds that out.
func (le *lessor) plan() {
	if !le.primary || len(le.all) == 0 {
		return
	}
	var first *lease
	for _, l := range le.all {
		if first == nil || le.due(l).Nanos < le.due(first).Nanos {
			first = l
		}
	}
	due := le.due(first)
	if le.look.planned() && le.look.due.Nanos <= due.Nanos {
		return
	}
	le.look.stop()
	le.look = le.m.alarm(due, le.expire)
}

// expire asks for the leases to be revoked that have expired.
func (le *lessor) expire() {
	now := le.m.now()
	var over []*lease
	for _, l := range le.sorted() {
		if le.primary && l.expires.Sub(now) <= 0 && l.revoking.Sub(now) <= 0 {
			l.revoking = now.Add(revokeAgain)
			over = append(over, l)
		}
	}
	le.plan()
	if len(over) > 0 {
		le.m.leads(func(still bool) {
			for _, l := range over {
				if still {
					le.m.revoke(l.id)
				}
			}
		})
	}
}

// sortedKeys are the keys that go with the lease.
func (l *lease) sortedKeys() []string { return slices.Sorted(maps.Keys(l.keys)) }

// lessorOf is the setting by which a member ends and prolongs sessions as an earlier release
// does, in which who takes itself for the leader asks nobody. It was mended in 3.4.31, 3.5.13
// and 3.6.0: https://github.com/etcd-io/etcd/pull/16822.
const (
	lessorOf   = "lessor"
	unchecking = "3.4.23"
)

var lessorSetting = sim.Setting{
	Name:  lessorOf,
	Title: "the release as which a leader ends and prolongs sessions: 3.4.23 never makes sure that it still leads; by default it does if it has not ticked for a while",
	Check: func(value string) error {
		if value != unchecking {
			return errors.New("it is " + unchecking)
		}
		return nil
	},
}

// errNotPrimary is what a client hears who asks a member that no longer leads to renew a
// lease: lease.ErrNotPrimary in server/lease.
var errNotPrimary = errors.New("not a primary lessor")

// leads says whether the member still leads, which takes itself for the leader. One that has
// not ticked for a while, because it was paused or waits for its disk, asks the others first:
// see ensureLeadership in server/etcdserver/server.go.
func (m *member) leads(then func(still bool)) {
	if m.active() || m.host.Set(lessorOf) == unchecking {
		then(m.isLeader())
		return
	}
	m.upToDate(func(err error) { then(err == nil && m.isLeader()) })
}
