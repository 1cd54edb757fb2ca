package locks

// majority returns how many of n nodes are a majority, which is the quorum.
func majority(n int) int { return n/2 + 1 }

// InCluster returns the slots of a lock on nodes that agree on one common state: one slot,
// and a quorum of one. Traces show the grants under key.
func InCluster(key string, _ int) (slots []Slot, quorum int) {
	return []Slot{{Node: Cluster, Key: key}}, 1
}

// onEveryNode returns the slots of a lock that stores its key on every node.
func onEveryNode(key string, nodes int) (slots []Slot, quorum int) {
	for i := range nodes {
		slots = append(slots, Slot{Node: i, Key: key})
	}
	return slots, majority(nodes)
}
