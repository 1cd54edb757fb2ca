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
	// claims are the keys, by their names, and those whose they are.
	claims map[string]claim
	// head is the key that tells whose the lock is, nil if it is nobody's; owner has made it.
	head  *mvccpb.KeyValue
	owner *trace.Actor
}

// A claim is a key of a lock, and who has said by it that the lock is its own.
type claim struct {
	kv *mvccpb.KeyValue
	by *trace.Actor
}

// belongs says whether a key tells whose the lock is, or who waits for it.
func (r *register) belongs(key []byte) bool {
	rest, ok := strings.CutPrefix(string(key), r.lock)
	return ok && (rest == "" || rest[0] == '/')
}

// see takes in what somebody has changed, and tells whose the lock is now. What is gone has
// expired, or was removed.
func (r *register) see(m *member, changes []*mvccpb.Event, by *trace.Actor, expired bool) {
	concerned := false
	for _, e := range changes {
		if !r.belongs(e.Kv.Key) {
			continue
		}
		concerned = true
		switch key := string(e.Kv.Key); {
		case e.Type == mvccpb.Event_DELETE:
			delete(r.claims, key)
		default:
			was := r.claims[key]
			if !r.says(e.Kv, was.kv) || inAnotherSection(by, was.by) {
				was.by = by
			}
			r.claims[key] = claim{e.Kv, was.by}
		}
	}
	if !concerned {
		return
	}
	is := r.first(m)
	prior := r.owner
	if was := r.head; was != nil {
		if is != nil && bytes.Equal(is.Key, was.Key) && r.says(is, was) && r.claims[string(is.Key)].by == r.owner {
			touched := string(is.Key) == r.lock && is.ModRevision != was.ModRevision
			if r.head = is; touched {
				r.tell(m, trace.KindTouch, by, nil)
			}
			return
		}
		if still := m.store.now.get(was.Key); still == nil || still.CreateRevision != was.CreateRevision {
			kind := trace.KindDelete
			if expired {
				kind = trace.KindExpire
			}
			r.tell(m, kind, by, nil)
			prior = nil
		}
	}
	if r.head, r.owner = is, nil; is != nil {
		r.owner = r.claims[string(is.Key)].by
		r.tell(m, trace.KindSet, r.owner, prior)
	}
}

// says reports that a key says the same as before of whose it is: it has not been made anew,
// and it has the same lease. What else the lock's own key says tells whose it is, too; that of
// one in its folder does not, as what the leader of an election proclaims there.
func (r *register) says(is, was *mvccpb.KeyValue) bool {
	return was != nil && is.CreateRevision == was.CreateRevision && is.Lease == was.Lease &&
		(string(is.Key) != r.lock || bytes.Equal(is.Value, was.Value))
}

// inAnotherSection says that a client has put its own key again, for its next section: a
// leader may go on leading, and proclaim what it does now.
func inAnotherSection(by, was *trace.Actor) bool {
	return by != nil && was != nil && by.Client == was.Client && by.Section != was.Section
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
