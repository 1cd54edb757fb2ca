package locks

// majority is the quorum of n nodes.
func majority(n int) int { return n/2 + 1 }

// InCluster is where a lock is kept by nodes that keep one register together: one slot, and a
// quorum of one. key is what their grants are told under.
func InCluster(key string, _ int) (slots []Slot, quorum int) {
	return []Slot{{Node: Cluster, Key: key}}, 1
}

// onEveryNode is the slots of a lock that keeps its key on every node.
func onEveryNode(key string, nodes int) (slots []Slot, quorum int) {
	for i := range nodes {
		slots = append(slots, Slot{Node: i, Key: key})
	}
	return slots, majority(nodes)
}
