package zookeeper

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// A register records what is true of the whole ensemble, once: each change when the first
// member applies it, which is when a majority has it on disk.
//
// The holder of a lock is determined as all known recipes do: by the lock's own node, if it
// is ephemeral, or else by its child with the lowest sequence number. The children behind
// that one are waiters.
type register struct {
	recordedZxid int64 // the zxid up to which everything has been recorded
	keys         []string
	heads        map[string]head
	clients      map[int64]string // the client of each session
}

// A head is the node with which a lock is held.
type head struct {
	path string
	*znode
}

// recordApplied records what a transaction that a member has applied has changed.
func (r *register) recordApplied(m *member, x *txn) {
	if x.zxid <= r.recordedZxid {
		return
	}
	r.recordedZxid = x.zxid
	r.recordSession(m, x)
	r.recordWrite(m, x)
	for _, key := range r.keys {
		old, current := r.heads[key], headOf(m.tree, key)
		if old.path == current.path && (old.znode == nil || old.czxid == current.czxid) {
			if old.znode != nil {
				r.heads[key] = current
			}
			continue
		}
		if old.znode != nil {
			how, by := trace.KindDelete, x.by
			if x.expired {
				how, by = trace.KindExpire, nil
			}
			m.host.RecordEvent(trace.Event{Kind: how, Key: key, Value: old.name(m), By: by, Owner: old.by})
		}
		delete(r.heads, key)
		if current.znode != nil {
			r.heads[key] = current
			r.recordGrant(m, trace.KindSet, key, current)
		}
	}
}

// recordSession records that a session begins or ends.
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

// recordRenewal records that the leader has renewed a session that holds a lock.
func (r *register) recordRenewal(m *member, session int64) {
	for _, key := range r.keys {
		if current := r.heads[key]; current.znode != nil && current.owner == session {
			r.recordGrant(m, trace.KindTouch, key, current)
		}
	}
}

func (r *register) recordGrant(m *member, kind trace.Kind, key string, current head) {
	ev := trace.Event{Kind: kind, Key: key, Value: current.name(m), By: current.by, Owner: current.by}
	if s := m.tree.sessions[current.owner]; s != nil {
		ev.TTL = milliseconds(s.timeout)
		ev.Expires = m.role.expires(current.owner)
	}
	m.host.RecordEvent(ev)
}

// headOf returns the node with which a lock is held; it is empty if nobody holds the lock.
func headOf(t *tree, key string) head {
	n := t.nodes[key]
	switch {
	case n == nil:
		return head{}
	case n.owner != 0:
		return head{key, n}
	}
	var first head
	lowest := ""
	for _, name := range n.children {
		if seq := sequence(name); seq != "" && (lowest == "" || seq < lowest) {
			path := key + "/" + name
			first, lowest = head{path, t.nodes[path]}, seq
		}
	}
	return first
}

// sequence returns the ten digits at the end of the name of a sequential node, or "" if
// there are none.
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

// name returns a name for the node that no other node has had before.
func (h head) name(m *member) string {
	return m.host.Names().Name("value", fmt.Sprintf("%s made by 0x%x", h.path, h.czxid))
}

func milliseconds(n int32) time.Duration { return time.Duration(n) * time.Millisecond }
