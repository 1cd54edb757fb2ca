package etcd

import (
	"bytes"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/locksim/locksim/trace"
)

// A lockRegister is the state of one lock, as the trace shows it. One key, the head,
// identifies the holder. It is the key with the lock's own name, if that exists. Otherwise
// it is the key that was created first in the folder of that name, as in
// go.etcd.io/etcd/client/v3/concurrency. The other keys in the folder belong to waiters.
type lockRegister struct {
	name string
	// claims are the lock's keys, by their names, with the clients that put them.
	claims map[string]claim
	// head is the key that identifies the holder; nil if nobody holds the lock. owner is
	// the acquisition that put it.
	head  *mvccpb.KeyValue
	owner *trace.Actor
}

// A claim is a key of a lock, and the acquisition that claims the lock with it.
type claim struct {
	kv *mvccpb.KeyValue
	by *trace.Actor
}

// isLockKey reports whether a key is the lock's own key or a key in its folder.
func (r *lockRegister) isLockKey(key []byte) bool {
	rest, ok := strings.CutPrefix(string(key), r.name)
	return ok && (rest == "" || rest[0] == '/')
}

// observe handles changes of keys and records what they mean for the lock. by is the
// acquisition that made the changes. expired reports whether the changes delete keys
// because their session has expired.
func (r *lockRegister) observe(m *member, changes []*mvccpb.Event, by *trace.Actor, expired bool) {
	isConcerned := false
	for _, e := range changes {
		if !r.isLockKey(e.Kv.Key) {
			continue
		}
		isConcerned = true
		switch key := string(e.Kv.Key); {
		case e.Type == mvccpb.Event_DELETE:
			delete(r.claims, key)
		default:
			old := r.claims[key]
			if !r.hasSameOwner(e.Kv, old.kv) || inAnotherSection(by, old.by) {
				old.by = by
			}
			r.claims[key] = claim{e.Kv, old.by}
		}
	}
	if !isConcerned {
		return
	}
	head := r.findHead(m)
	prior := r.owner
	if old := r.head; old != nil {
		if head != nil && bytes.Equal(head.Key, old.Key) && r.hasSameOwner(head, old) && r.claims[string(head.Key)].by == r.owner {
			touched := string(head.Key) == r.name && head.ModRevision != old.ModRevision
			if r.head = head; touched {
				r.recordEvent(m, trace.KindTouch, by, nil)
			}
			return
		}
		if current := m.store.current.get(old.Key); current == nil || current.CreateRevision != old.CreateRevision {
			kind := trace.KindDelete
			if expired {
				kind = trace.KindExpire
			}
			r.recordEvent(m, kind, by, nil)
			prior = nil
		}
	}
	if r.head, r.owner = head, nil; head != nil {
		r.owner = r.claims[string(head.Key)].by
		r.recordEvent(m, trace.KindSet, r.owner, prior)
	}
}

// hasSameOwner reports whether a key belongs to the same owner in two versions. It does if
// the key was not created anew in between and has the same lease. The lock's own key must
// also have the same value. The value of a key in the folder does not matter, because the
// leader of an election proclaims there.
func (r *lockRegister) hasSameOwner(current, previous *mvccpb.KeyValue) bool {
	return previous != nil && current.CreateRevision == previous.CreateRevision && current.Lease == previous.Lease &&
		(string(current.Key) != r.name || bytes.Equal(current.Value, previous.Value))
}

// inAnotherSection reports whether a client has put its own key again in another critical section.
// (A section is the client's work under the lock, from one acquire to the release.) The leader of
// an election does so if it remains the leader and proclaims a value in its next section.
func inAnotherSection(by, previous *trace.Actor) bool {
	return by != nil && previous != nil && by.Client == previous.Client && by.Section != previous.Section
}

// recordEvent records what has happened to the lock. The event shows the session of the
// head or, if the head has no lease, its value.
func (r *lockRegister) recordEvent(m *member, kind trace.Kind, by, prior *trace.Actor) {
	names := m.host.Names()
	ev := trace.Event{Kind: kind, Key: r.name, By: by, Owner: r.owner, Prior: prior}
	if r.head.Lease != 0 {
		ev.Value = sessionName(names, r.head.Lease)
	} else {
		ev.Value = describeValue(names, r.head.Value)
	}
	if kind == trace.KindSet || kind == trace.KindTouch {
		ev.TTL, ev.Expires = m.cluster.sessionTimes(m, r.head.Lease)
	}
	if kind == trace.KindExpire {
		ev.By = nil
	}
	m.host.RecordEvent(ev)
}
