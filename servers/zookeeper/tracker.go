package zookeeper

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/agenda"
)

// A tracker finds out for the leader which sessions have expired. It rounds up to ticks: a
// session expires at the end of the tick in which its timeout passes, so up to one tick
// late. It uses the monotonic clock. In the real server this is SessionTrackerImpl and
// ExpiryQueue.
type tracker struct {
	m        *member
	sessions map[int64]*trackedSession
	expire   func(int64)   // ends a session that has expired
	timer    *agenda.Timer // calls endDueSessions when the first session expires
}

// A trackedSession is a session as the leader tracks it.
type trackedSession struct {
	timeout time.Duration
	due     int64 // on the member's monotonic clock, in nanoseconds
	closing bool  // the end of the session is proposed
	// owner is the member to which the session's client is connected. A request that
	// arrives through another member was sent before the client reconnected, and is
	// refused.
	owner string
}

// add starts to track a session, or renews it if it is tracked already.
func (t *tracker) add(id int64, timeout int32, owner string) {
	if t.sessions[id] == nil {
		t.sessions[id] = &trackedSession{timeout: milliseconds(timeout), owner: owner}
	}
	t.touch(id)
}

// touch renews a session. It returns false if there is no such session, or if it is ending.
func (t *tracker) touch(id int64) bool {
	s := t.sessions[id]
	if s == nil || s.closing {
		return false
	}
	tick, up := int64(t.m.limits.tick), int64(t.m.uptime)
	due := ((t.m.timers.Now()+up+int64(s.timeout))/tick+1)*tick - up
	if due == s.due {
		return true
	}
	s.due = due
	if t.timer == nil || due < t.timer.Due() {
		t.arm()
	}
	t.m.register.recordRenewal(t.m, id)
	return true
}

// close notes that the end of a session is proposed: the session can no longer be renewed.
func (t *tracker) close(id int64) {
	if s := t.sessions[id]; s != nil {
		s.closing = true
	}
}

// remove stops tracking a session that has ended.
func (t *tracker) remove(id int64) { delete(t.sessions, id) }

// arm sets the timer to the earliest time at which a session expires.
func (t *tracker) arm() {
	t.m.timers.Stop(t.timer)
	t.timer = nil
	first := int64(-1)
	for _, s := range t.sessions {
		if !s.closing && (first < 0 || s.due < first) {
			first = s.due
		}
	}
	if first >= 0 {
		t.timer = t.m.timers.At(first, t.endDueSessions)
	}
}

// quit stops tracking all sessions.
func (t *tracker) quit() {
	t.m.timers.Stop(t.timer)
	t.timer = nil
	clear(t.sessions)
}

// endDueSessions ends the sessions that have expired by now.
func (t *tracker) endDueSessions() {
	t.timer = nil
	now := t.m.timers.Now()
	for _, id := range slices.Sorted(maps.Keys(t.sessions)) {
		if s := t.sessions[id]; s != nil && !s.closing && s.due <= now {
			s.closing = true
			t.expire(id) // this may stop the tracker, so the loop looks each session up again
		}
	}
	t.arm()
}

// expires returns the true time at which a session expires if it is not renewed; 0 if there
// is no such session.
func (t *tracker) expires(id int64) time.Duration {
	s := t.sessions[id]
	if s == nil {
		return 0
	}
	host := t.m.host
	at, _ := host.When(host.Clock().Now().Add(time.Duration(s.due - t.m.timers.Now())))
	return at
}
