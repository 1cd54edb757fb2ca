package zookeeper

import (
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// Clients keep their data in persistent nodes. An object's version is the version of its
// node: the number of times its data was set. The node is created without data, as version
// 0.

// Plain and Synced are the two kinds of read. A plain read is answered by the server that
// the client is connected to, which may be behind; a synced one by that server when it has
// caught up with its leader, as after a sync.
const (
	Plain  = "plain"
	Synced = "synced"
)

// recordRead records that a member has answered a read of data.
func (m *member) recordRead(path string, n *znode, by *trace.Actor) {
	if object, is := m.host.Object(path); is && by != nil {
		ev := sim.NewServeEvent(trace.Read, object, by)
		ev.Version = int(n.version)
		m.host.Emit(ev)
	}
}

// recordWrite records the result of a write of data.
func (r *register) recordWrite(m *member, x *txn) {
	for _, one := range x.ops {
		r.recordWrite(m, &txn{op: one.op, code: one.code, path: one.path, data: one.data, version: one.version, by: x.by})
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

// Kept implements [sim.DataServer], with the data of the member that has applied most.
func (m *member) Kept(path string) (version int, value string) {
	if latest := m.latest(); latest != nil && latest.nodes[path] != nil {
		n := latest.nodes[path]
		return int(n.version), string(n.data)
	}
	return 0, ""
}

// latest returns the tree of the member that has applied most, or nil if none has a tree.
func (m *member) latest() *tree {
	var latest *tree
	for _, name := range m.host.Members() {
		if o, ok := m.host.Peer(name).(*member); ok && o.tree != nil && (latest == nil || o.tree.zxid > latest.zxid) {
			latest = o.tree
		}
	}
	return latest
}
