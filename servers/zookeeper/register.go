package zookeeper

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// A register records in the trace what is true of the whole ensemble. It records each
// transaction once: when the first member applies it, which is when a majority has it on
// disk.
//
// It derives the holder of a lock from the nodes, as all known recipes do. A lock has a
// node of its own. If that node is ephemeral, its creator holds the lock. Otherwise each
// client that wants the lock creates a child of it. The child with the lowest sequence
// number belongs to the holder, and the other children belong to waiters. The recipes leave
// the parent of such children empty. So a node that has data and no child, and is not
// ephemeral, is held by its creator, until somebody deletes it.
type register struct {
	recordedZxid int64               // the zxid of the last transaction that was recorded
	keys         []string            // the paths of the locks
	lockNodes    map[string]lockNode // by the path of the lock
	clients      map[int64]string    // the names of the clients, by session
}

// A lockNode is the node by which its creator holds a lock.
type lockNode struct {
	path string
	*znode
}

// recordApplied records what a transaction has changed: sessions, stored data, and the
// holders of locks. m is the member that has applied it.
func (r *register) recordApplied(m *member, x *txn) {
	if x.zxid <= r.recordedZxid {
		return
	}
	r.recordedZxid = x.zxid
	r.recordSession(m, x)
	r.recordWrite(m, x)
	for _, key := range r.keys {
		old, current := r.lockNodes[key], lockNodeOf(m.tree, key)
		// The holder is the same, but other properties of its node may have changed.
		if old.path == current.path && (old.znode == nil || old.czxid == current.czxid) {
			if old.znode != nil {
				r.lockNodes[key] = current
			}
			continue
		}
		if old.znode != nil {
			how, by := trace.KindDelete, x.by
			if x.expired {
				how, by = trace.KindExpire, nil
			}
			m.host.RecordEvent(trace.Event{Kind: how, Key: key, Value: old.name(m), By: by, Owner: old.creator})
		}
		delete(r.lockNodes, key)
		if current.znode != nil {
			r.lockNodes[key] = current
			r.recordGrant(m, trace.KindSet, key, current)
		}
	}
}

// recordSession records that a session was opened or has ended.
func (r *register) recordSession(m *member, x *txn) {
	if x.code != ok {
		return
	}
	name := sessionName(m.host.Names(), x.session)
	switch x.op {
	case opOpen:
		if x.by != nil {
			r.clients[x.session] = x.by.Client
		}
		m.host.RecordEvent(trace.Event{Kind: trace.KindOpen, Peer: r.clients[x.session], Session: name, TTL: milliseconds(x.timeout)})
	case opClose:
		kind := trace.KindCloseSession
		if x.expired {
			kind = trace.KindExpireSession
		}
		ended := trace.Event{Kind: kind, Peer: r.clients[x.session], Session: name}
		if x.by.IsOperator() {
			ended.By = x.by
		}
		m.host.RecordEvent(ended)
	}
}

// recordRenewal records that the leader has renewed a session, for each lock that the
// session holds.
func (r *register) recordRenewal(m *member, session int64) {
	for _, key := range r.keys {
		if current := r.lockNodes[key]; current.znode != nil && current.owner == session {
			r.recordGrant(m, trace.KindTouch, key, current)
		}
	}
}

// recordGrant records that a lock is held, and when its session expires if it is not
// renewed.
func (r *register) recordGrant(m *member, kind trace.Kind, key string, current lockNode) {
	ev := trace.Event{Kind: kind, Key: key, Value: current.name(m), By: current.creator, Owner: current.creator}
	if s := m.tree.sessions[current.owner]; s != nil {
		ev.TTL = milliseconds(s.timeout)
		ev.Expires = m.role.expires(current.owner)
	}
	m.host.RecordEvent(ev)
}

// lockNodeOf returns the node by which a lock is held. The result has no znode if nobody
// holds the lock.
func lockNodeOf(t *tree, key string) lockNode {
	n := t.nodes[key]
	switch {
	case n == nil:
		return lockNode{}
	case n.owner != 0, len(n.data) > 0 && len(n.children) == 0:
		return lockNode{key, n}
	}
	var first lockNode
	lowest := ""
	for _, name := range n.children {
		if seq := sequence(name); seq != "" && (lowest == "" || seq < lowest) {
			path := key + "/" + name
			first, lowest = lockNode{path, t.nodes[path]}, seq
		}
	}
	return first
}

// sequence returns the sequence number of a node: the ten digits at the end of its name. It
// returns "" if the name does not end in ten digits.
func sequence(name string) string {
	const digits = 10
	if len(name) < digits {
		return ""
	}
	seq := name[len(name)-digits:]
	if strings.Trim(seq, "0123456789") != "" {
		return ""
	}
	return seq
}

// name returns a name for the node in the trace. If the node is deleted and created again,
// the new one has another name.
func (h lockNode) name(m *member) string {
	return m.host.Names().Name("value", fmt.Sprintf("%s made by 0x%x", h.path, h.czxid))
}

// milliseconds returns a number of milliseconds as a duration.
func milliseconds(n int32) time.Duration { return time.Duration(n) * time.Millisecond }
