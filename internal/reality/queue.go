package reality

import (
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// A queue is the keys of one lock in a cluster. One key, the head, identifies the holder: the
// key with the lock's own name, if that exists, and otherwise the one that was created first
// in the folder of that name. The other keys in the folder belong to waiters. The simulated
// servers derive the holder in the same way.
type queue struct {
	c    *cluster
	name string
	// claims are the keys, by name.
	claims map[string]claim
	// head is the key that identifies the holder; nil if nobody holds the lock. owner is the
	// acquisition that put it.
	head  *claim
	owner *trace.Actor
}

// A claim is a key of a lock, as it was last written, and the acquisition that put it.
type claim struct {
	change
	by *trace.Actor
}

// has reports whether a key is the lock's own key or a key in its folder.
func (q *queue) has(key string) bool {
	rest, ok := strings.CutPrefix(key, q.name)
	return ok && (rest == "" || rest[0] == '/')
}

// apply records a change of one of the keys. The mutex is held.
func (q *queue) apply(ch change, why cause) {
	by := why.by
	old, existed := q.claims[ch.key]
	if ch.isDeleted {
		delete(q.claims, ch.key)
	} else {
		claimed := claim{ch, by}
		if existed && q.hasSameOwner(ch, old.change) && !isInAnotherSection(by, old.by) {
			claimed.by = old.by
		}
		q.claims[ch.key] = claimed
	}
	head := q.findHead()
	prior := q.owner
	if was := q.head; was != nil {
		if head != nil && head.key == was.key && q.hasSameOwner(head.change, was.change) && head.by == q.owner {
			isTouched := head.key == q.name && head.revision != was.revision
			if q.head = head; isTouched {
				q.emit(q.liveEvent(trace.KindTouch, by), why.earliest)
			}
			return
		}
		if now, exists := q.claims[was.key]; !exists || now.created != was.created {
			kind := trace.KindDelete
			if why.hasExpired {
				kind = trace.KindExpire
			}
			q.emit(q.event(kind, by), why.earliest)
			prior = nil
		}
	}
	if q.head, q.owner = head, nil; head != nil {
		q.owner = head.by
		ev := q.liveEvent(trace.KindSet, q.owner)
		ev.Prior = prior
		q.c.r.emit(ev)
	}
}

// hasSameOwner reports whether a key belongs to the same owner in two versions: it was not
// created anew in between, and is bound to the same session. The lock's own key must also
// have the same value.
func (q *queue) hasSameOwner(is, was change) bool {
	return is.created == was.created && is.session == was.session && (is.key != q.name || is.value == was.value)
}

// isInAnotherSection reports whether a client has put its own key again in its next critical
// section, as the leader of an election does.
func isInAnotherSection(by, was *trace.Actor) bool {
	return by != nil && was != nil && by.Client == was.Client && by.Section != was.Section
}

// findHead returns the key that identifies the holder.
func (q *queue) findHead() *claim {
	var first *claim
	for key, cl := range q.claims {
		if q.c.name == locks.ZooKeeper && cl.session == "" {
			continue // a folder, which is bound to no session
		}
		if key == q.name {
			return &cl
		}
		if first == nil || cl.created < first.created {
			first = &cl
		}
	}
	return first
}

// emit records an event about the lock, which may have happened from earliest on. The mutex
// is held.
func (q *queue) emit(ev trace.Event, earliest time.Duration) {
	ev.Earliest = earliest
	q.c.r.emit(ev)
}

// event returns an event about the head. It shows the session of the key or, if it is bound
// to none, its value.
func (q *queue) event(kind trace.Kind, by *trace.Actor) trace.Event {
	names := q.c.r.names
	ev := trace.Event{Kind: kind, Process: q.c.name, Key: q.name, By: by, Owner: q.owner, Value: names.Value(q.head.value)}
	if q.head.session != "" {
		ev.Value = nameSession(names, q.head.session)
	}
	return ev
}

// liveEvent returns an event after which the head exists. It has the end of the session, if
// the head is bound to one.
func (q *queue) liveEvent(kind trace.Kind, by *trace.Actor) trace.Event {
	ev := q.event(kind, by)
	if s := q.c.sessions[q.head.session]; s != nil {
		ev.TTL, ev.Expires = s.ttl, max(s.expires, 1)
	}
	return ev
}
