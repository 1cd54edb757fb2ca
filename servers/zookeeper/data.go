package zookeeper

import (
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// What clients keep in ZooKeeper beside their locks is the data of nodes, which stay. The
// version of a node, which counts how often its data was set, is that of the object: who made
// the node has set it to nothing, as version 0.

// Plain and Synced are the ways to read: from the server that the client is connected to,
// which may be behind, and from that server when it has caught up with its leader, as after a
// sync.
const (
	Plain  = "plain"
	Synced = "synced"
)

// gave tells that a member has answered a read of data.
func (m *member) gave(path string, n *znode, by *trace.Actor) {
	if object, is := m.host.Object(path); is && by != nil {
		ev := sim.Served(trace.Read, object, by)
		ev.Version = int(n.version)
		m.host.Emit(ev)
	}
}

// wrote tells what has become of a write of data.
func (r *register) wrote(m *member, x *txn) {
	for _, one := range x.ops {
		r.wrote(m, &txn{op: one.op, code: one.code, path: one.path, data: one.data, version: one.version, by: x.by})
	}
	object, is := m.host.Object(x.path)
	if !is || x.op != opSetData || x.by == nil {
		return
	}
	ev := sim.Served(trace.Write, object, x.by)
	ev.Value = string(x.data)
	switch x.code {
	case ok:
		ev.Version, ev.Replaced = int(x.version), int(x.version)-1
	case errBadVersion:
		ev.OK, ev.Version = false, int(m.tree.nodes[x.path].version)
		ev.Text = storage.Changed(object, ev.Version)
	default:
		return
	}
	m.host.Tell(ev)
}

// Kept is as in [sim.DataServer]: as the member has it that has applied most.
func (m *member) Kept(path string) (version int, value string) {
	if latest := m.latest(); latest != nil && latest.nodes[path] != nil {
		n := latest.nodes[path]
		return int(n.version), string(n.data)
	}
	return 0, ""
}

// latest is the tree of the member that has applied most; nil if none has a tree.
func (m *member) latest() *tree {
	var latest *tree
	for _, name := range m.host.Members() {
		if o, ok := m.host.Peer(name).(*member); ok && o.tree != nil && (latest == nil || o.tree.zxid > latest.zxid) {
			latest = o.tree
		}
	}
	return latest
}
