package zookeeper

import (
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// This file lets an ensemble (the servers of one cluster) be the storage of a world: each object of
// the storage is a persistent node. The version of an object is the version of its node, which is
// how often its data was set. The node is created without data, as version 0.

// plain and Synced are the two ways to read an object. The server that the client is
// connected to answers both. It answers a plain read immediately, although it may not have
// the latest changes. Before a synced read, the client sends a sync, so that the server
// first catches up with its leader.
const (
	plain  = "plain"
	Synced = "synced"
)

// recordRead records that this member has answered a read of an object.
func (m *member) recordRead(path string, n *znode, by *trace.Actor) {
	if object, is := m.host.Object(path); is && by != nil {
		ev := sim.NewServeEvent(trace.Read, object, by)
		ev.Version = int(n.version)
		m.host.Emit(ev)
	}
}

// recordWrite records the result of a write of an object: the new version, or that the
// write was refused because the object has another version.
func (r *register) recordWrite(m *member, x *txn) {
	for _, op := range x.ops {
		r.recordWrite(m, &txn{op: op.op, code: op.code, path: op.path, data: op.data, version: op.version, by: x.by})
	}
	object, is := m.host.Object(x.path)
	if !is || x.op != opSetData || x.by == nil {
		return
	}
	ev := sim.NewServeEvent(trace.Write, object, x.by)
	ev.Value = string(x.data)
	switch x.code {
	case ok:
		ev.Version, ev.Replaced = int(x.version), int(x.version)-1
	case errBadVersion:
		ev.OK, ev.Version = false, int(m.tree.nodes[x.path].version)
		ev.Text = storage.VersionRefusal(object, ev.Version)
	default:
		return
	}
	m.host.RecordEvent(ev)
}

// Kept implements [sim.DataServer]. It returns the data of the member that has applied the most
// transactions.
func (m *member) Kept(path string) (version int, value string) {
	if latest := m.latest(); latest != nil && latest.nodes[path] != nil {
		n := latest.nodes[path]
		return int(n.version), string(n.data)
	}
	return 0, ""
}

// latest returns the tree of the member that has applied the most transactions, or nil if
// no member has a tree.
func (m *member) latest() *tree {
	var latest *tree
	for _, name := range m.host.Members() {
		if o, ok := m.host.Peer(name).(*member); ok && o.tree != nil && (latest == nil || o.tree.zxid > latest.zxid) {
			latest = o.tree
		}
	}
	return latest
}
