package zookeeper

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/agenda"
)

// A tracker is how a leader expires sessions. It counts in ticks: a session that expires
// during a tick ends with that tick, up to a tick later than its timeout says. It uses the
// monotonic clock: SessionTrackerImpl and ExpiryQueue of the real server.
type tracker struct {
	m        *member
	sessions map[int64]*tracked
	expire   func(int64)
	timer    *agenda.Timer
}

type tracked struct {
	timeout time.Duration
	due     int64 // on the member's monotonic clock, in nanoseconds
	closing bool
	// owner is the member to which the session's client is connected. Requests from another
	// member come too late.
	owner string
}

// add starts tracking a session.
func (t *tracker) add(id int64, timeout int32, owner string) {
	if t.sessions[id] == nil {
		t.sessions[id] = &tracked{timeout: milliseconds(timeout), owner: owner}
	}
	t.touch(id)
}

// touch renews a session. It returns false if the session no longer exists.
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

// close marks a session that is about to end.
func (t *tracker) close(id int64) {
	if s := t.sessions[id]; s != nil {
		s.closing = true
	}
}

func (t *tracker) remove(id int64) { delete(t.sessions, id) }

// arm sets the timer for the first session that is due.
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

// quit stops tracking.
func (t *tracker) quit() {
	t.m.timers.Stop(t.timer)
	t.timer = nil
	clear(t.sessions)
}

// endDueSessions ends the sessions that have expired.
func (t *tracker) endDueSessions() {
	t.timer = nil
	now := t.m.timers.Now()
	for _, id := range slices.Sorted(maps.Keys(t.sessions)) {
		if s := t.sessions[id]; s != nil && !s.closing && s.due <= now {
			s.closing = true
			t.expire(id) // which may stop the tracker
		}
	}
	t.arm()
}

// expires returns when a session expires in true time, if nothing changes until then.
func (t *tracker) expires(id int64) time.Duration {
	s := t.sessions[id]
	if s == nil {
		return 0
	}
	host := t.m.host
	at, _ := host.When(host.Clock().Now().Add(time.Duration(s.due - t.m.timers.Now())))
	return at
}
