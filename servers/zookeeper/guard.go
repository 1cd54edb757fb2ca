package zookeeper

// Stands is as in [sim.Guard]: whether a node that ends with its session, and that a section
// has made, is there, wherever it is in the queue: what a multi with a check of its version
// finds.
func (m *member) Stands(client string, section int) bool {
	latest := m.latest()
	if latest == nil {
		return false
	}
	for _, n := range latest.nodes {
		if n.owner != 0 && n.by != nil && n.by.Client == client && n.by.Section == section {
			return true
		}
	}
	return false
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
