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
	// longestTTL is the longest TTL of a lease, in seconds. It is etcd's lease.MaxLeaseTTL.
	longestTTL = 9_000_000_000
	// shortestTTL replaces any shorter TTL, in seconds. It is one and a half election
	// timeouts, rounded up. See MinLeaseTTL in server/etcdserver/server.go.
	shortestTTL = int64((electionTimeout*3/2 + time.Second - 1) / time.Second)
	// leaseCheck is the time between two checks of a leader for expired leases. So a lease
	// can end later than its TTL, by up to this time. See lessor.runLoop.
	leaseCheck = 500 * time.Millisecond
	// revokeRetry is how long a leader waits for the revocation of an expired lease before
	// it asks for it again. See defaultExpiredleaseRetryInterval in server/lease/lessor.go.
	revokeRetry = 3 * time.Second
)

// A lease is a client's session. All members know the same leases, but only the leader
// knows when they expire. It measures that by its monotonic clock, so changes of the wall
// clock do not matter.
type lease struct {
	id  int64
	ttl int64 // in seconds
	// keys are the keys that are deleted when the lease ends.
	keys map[string]bool
	// expires is when the lease expires, by the leader's monotonic clock.
	expires fakeclock.Reading
	// retryRevokeAt is when the leader may ask again for the lease to be revoked; zero if
	// it has not asked yet.
	retryRevokeAt fakeclock.Reading
	// lateRenewals answer the renewals that came after the lease had expired. They are
	// called when the lease is revoked.
	lateRenewals []func(ttl int64, leads bool)
}

func (l *lease) duration() time.Duration { return time.Duration(l.ttl) * time.Second }

// A lessor holds a member's leases, as etcd's server/lease/lessor.go does.
type lessor struct {
	m      *member
	leases map[int64]*lease
	// isPrimary: the member leads and has applied all entries from before its term, so it
	// decides when leases expire.
	isPrimary bool
	// checkPhase is the time of the member's first check. It is less than leaseCheck and
	// differs between members.
	checkPhase time.Duration
	checkAlarm *alarm // rings when the next lease can have expired
}

func (le *lessor) has(id int64) bool { return le.leases[id] != nil }

// grant adds a lease. It fails if the ID is 0 or exists already, or if the TTL is too long.
func (le *lessor) grant(id, ttl int64) (*lease, error) {
	switch {
	case id == 0:
		return nil, rpctypes.ErrGRPCLeaseNotFound
	case ttl > longestTTL:
		return nil, rpctypes.ErrGRPCLeaseTTLTooLarge
	case le.has(id):
		return nil, rpctypes.ErrGRPCLeaseExist
	}
	l := &lease{id: id, ttl: max(ttl, shortestTTL), keys: map[string]bool{}}
	le.leases[id] = l
	if le.isPrimary {
		le.refresh(l, 0)
	}
	return l, nil
}

// revoke ends a lease. The caller deletes the lease's keys.
func (le *lessor) revoke(l *lease) {
	delete(le.leases, l.id)
	for _, answerRenewal := range l.lateRenewals {
		answerRenewal(0, true)
	}
}

// attach is called for each key whose lease changes; lease 0 means none.
func (le *lessor) attach(key string, oldLease, newLease int64) {
	if l := le.leases[oldLease]; l != nil {
		delete(l.keys, key)
	}
	if l := le.leases[newLease]; l != nil {
		l.keys[key] = true
	}
}

// refresh makes a lease expire after its TTL from now, plus extend.
func (le *lessor) refresh(l *lease, extend time.Duration) {
	l.expires = le.m.now().Add(l.duration() + extend)
	l.retryRevokeAt = fakeclock.Reading{}
	le.planCheck()
}

// promote is called when the member has become the leader. The member does not know when
// the leases were last renewed, so it renews all of them.
func (le *lessor) promote() {
	le.isPrimary = true
	for _, l := range le.sorted() {
		le.refresh(l, electionTimeout)
		le.m.cluster.recordRenewal(le.m, l)
	}
}

// demote is called when the member no longer leads.
func (le *lessor) demote() {
	if !le.isPrimary {
		return
	}
	le.isPrimary = false
	le.checkAlarm.stop()
	for _, l := range le.sorted() {
		renewals := l.lateRenewals
		l.lateRenewals = nil
		for _, answerRenewal := range renewals {
			answerRenewal(0, false)
		}
	}
}

// renew renews a lease and calls done with the lease's TTL, or with 0 if the lease does not exist.
// leads is false if the member does not lead. If the lease has expired but has not been revoked
// yet, renew does not renew the lease, and calls done when the lease is revoked.
func (le *lessor) renew(id int64, done func(ttl int64, leads bool)) {
	l := le.leases[id]
	switch {
	case !le.isPrimary:
		done(0, false)
	case l == nil:
		done(0, true)
	case l.expires.Sub(le.m.now()) <= 0:
		l.lateRenewals = append(l.lateRenewals, done)
	default:
		le.refresh(l, 0)
		le.m.cluster.recordRenewal(le.m, l)
		done(l.ttl, true)
	}
}

// sorted returns the leases in the order in which they expire.
func (le *lessor) sorted() []*lease {
	return slices.SortedFunc(maps.Values(le.leases), func(a, b *lease) int {
		return cmp.Or(cmp.Compare(a.expires.Nanos, b.expires.Nanos), cmp.Compare(a.id, b.id))
	})
}

// due returns when the leader will notice that a lease has expired: at its first check after the
// lease's end. If the leader has already asked for the lease to be revoked, due returns the first
// check at which it may ask again.
func (le *lessor) due(l *lease) fakeclock.Reading {
	earliest := max(l.expires.Nanos, l.retryRevokeAt.Nanos)
	checks := (time.Duration(earliest) - le.checkPhase + leaseCheck - 1) / leaseCheck
	return fakeclock.Reading{Clock: l.expires.Clock, Nanos: int64(le.checkPhase + checks*leaseCheck)}
}

// planCheck sets the alarm for the check at which the next lease can have expired. If that
// lease is renewed before, the check does nothing.
func (le *lessor) planCheck() {
	if !le.isPrimary || len(le.leases) == 0 {
		return
	}
	var first *lease
	for _, l := range le.leases {
		if first == nil || le.due(l).Nanos < le.due(first).Nanos {
			first = l
		}
	}
	due := le.due(first)
	if le.checkAlarm.isPlanned() && le.checkAlarm.due.Nanos <= due.Nanos {
		return
	}
	le.checkAlarm.stop()
	le.checkAlarm = le.m.alarm(due, le.revokeExpired)
}

// revokeExpired asks for all expired leases to be revoked, if the member still leads.
func (le *lessor) revokeExpired() {
	now := le.m.now()
	var expired []*lease
	for _, l := range le.sorted() {
		if le.isPrimary && l.expires.Sub(now) <= 0 && l.retryRevokeAt.Sub(now) <= 0 {
			l.retryRevokeAt = now.Add(revokeRetry)
			expired = append(expired, l)
		}
	}
	le.planCheck()
	if len(expired) > 0 {
		le.m.confirmLeadership(func(leads bool) {
			for _, l := range expired {
				if leads {
					le.m.revoke(l.id)
				}
			}
		})
	}
}

// sortedKeys returns the keys that are deleted when the lease ends.
func (l *lease) sortedKeys() []string { return slices.Sorted(maps.Keys(l.keys)) }

// lessorVersion is the setting with which a member ends and renews sessions as an earlier release
// of etcd did. In that release a member that believes that it leads does not check whether it still
// does. This was fixed in 3.4.31, 3.5.13 and 3.6.0: https://github.com/etcd-io/etcd/pull/16822.
const (
	lessorVersion    = "lessor"
	uncheckedRelease = "3.4.23"
)

var lessorSetting = sim.Setting{
	Name:  lessorVersion,
	Title: "the release whose rules a leader follows when it ends and renews sessions: in 3.4.23 it never checks that it still leads; by default it checks that if it has not ticked for a while",
	Check: func(value string) error {
		if value != uncheckedRelease {
			return errors.New("it must be " + uncheckedRelease)
		}
		return nil
	},
}

// errNotPrimary is the error when a member that no longer leads has to renew a lease. It is
// lease.ErrNotPrimary in server/lease.
var errNotPrimary = errors.New("not a primary lessor")

// confirmLeadership finds out whether a member that believes that it leads really does, and calls
// next with the result. A member that has not ticked for a while, because it was paused or waits
// for its disk, asks the other members first. See ensureLeadership in server/etcdserver/server.go.
func (m *member) confirmLeadership(next func(leads bool)) {
	if m.hasTickedRecently() || m.host.SettingValue(lessorVersion) == uncheckedRelease {
		next(m.isLeader())
		return
	}
	m.whenUpToDate(func(err error) { next(err == nil && m.isLeader()) })
}
