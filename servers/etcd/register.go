package etcd

import (
	"bytes"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/locksim/locksim/trace"
)

// A register is what the trace knows of one lock: whose it is is told by a key. That is the
// lock's own, if it stands; else, of those in the folder of that name, the one that was
// created first, as in go.etcd.io/etcd/client/v3/concurrency: the others wait in line.
type register struct {
	lock string
	// owners are those who have made the keys, by the keys.
	owners map[string]*trace.Actor
	// head is the key that tells whose the lock is, nil if it is nobody's; owner has made it.
	head  *mvccpb.KeyValue
	owner *trace.Actor
}

// belongs says whether a key tells whose the lock is, or who waits for it.
func (r *register) belongs(key []byte) bool {
	rest, ok := strings.CutPrefix(string(key), r.lock)
	return ok && (rest == "" || rest[0] == '/')
}

// see takes in what somebody has changed, and tells whose the lock is now.
func (r *register) see(m *member, changes []*mvccpb.Event, by *trace.Actor) {
	concerned := false
	for _, e := range changes {
		if !r.belongs(e.Kv.Key) {
			continue
		}
		concerned = true
		switch key := string(e.Kv.Key); {
		case e.Type == mvccpb.Event_DELETE:
			delete(r.owners, key)
		case e.Kv.Version == 1 || key == r.lock && !r.stillSays(e.Kv):
			r.owners[key] = by
		}
	}
	if !concerned {
		return
	}
	is := m.store.now.get([]byte(r.lock))
	if is == nil {
		is = m.store.head(r.lock + "/")
	}
	prior := r.owner
	if was := r.head; was != nil {
		if is != nil && is.CreateRevision == was.CreateRevision && bytes.Equal(is.Key, was.Key) && (string(is.Key) != r.lock || r.stillSays(is)) {
			// What else the key says, as that of an election does, changes nothing.
			touched := string(is.Key) == r.lock && is.ModRevision != was.ModRevision
			if r.head = is; touched {
				r.tell(m, trace.KindTouch, by, nil)
			}
			return
		}
		if still := m.store.now.get(was.Key); still == nil || still.CreateRevision != was.CreateRevision {
			kind := trace.KindDelete
			if by == nil {
				kind = trace.KindExpire
			}
			r.tell(m, kind, by, nil)
			prior = nil
		}
	}
	if r.head, r.owner = is, nil; is != nil {
		r.owner = r.owners[string(is.Key)]
		r.tell(m, trace.KindSet, r.owner, prior)
	}
}

// stillSays says that the key of the lock says the same as before of whose it is.
func (r *register) stillSays(kv *mvccpb.KeyValue) bool {
	return r.head != nil && bytes.Equal(r.head.Key, kv.Key) && r.head.Lease == kv.Lease && bytes.Equal(r.head.Value, kv.Value)
}

// tell tells what has become of the lock.
func (r *register) tell(m *member, kind trace.Kind, by, prior *trace.Actor) {
	names := m.host.Names()
	ev := trace.Event{Kind: kind, Key: r.lock, By: by, Owner: r.owner, Prior: prior}
	if r.head.Lease != 0 {
		ev.Value = session(names, r.head.Lease)
	} else {
		ev.Value = tellValue(names, r.head.Value)
	}
	if kind == trace.KindSet || kind == trace.KindTouch {
		ev.TTL, ev.Expires = m.cluster.lasts(m, r.head.Lease)
	}
	if kind == trace.KindExpire {
		ev.By = nil
	}
	m.host.Tell(ev)
}
