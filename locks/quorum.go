package locks

// majority is the quorum of n nodes.
func majority(n int) int { return n/2 + 1 }

// inCluster is the slot of a lock whose nodes keep one register together.
func inCluster(key string, _ int) (slots []Slot, quorum int) {
	return []Slot{{Node: Cluster, Key: key}}, 1
}

// onEveryNode is the slots of a lock that keeps its key on every node.
func onEveryNode(key string, nodes int) (slots []Slot, quorum int) {
	for i := range nodes {
		slots = append(slots, Slot{Node: i, Key: key})
	}
	return slots, majority(nodes)
}
