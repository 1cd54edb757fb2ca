package locks

// majority is the quorum of n nodes.
func majority(n int) int { return n/2 + 1 }

// inCluster is the slot of a lock whose nodes keep one register together.
func inCluster(key string, _ int) (slots []Slot, quorum int) {
	return []Slot{{Node: Cluster, Key: key}}, 1
}

// InCluster is where a lock of some name is kept, as its grants are told by a system whose
// nodes are a cluster: one slot, and a quorum of one.
func InCluster(system, key string) (slots []Slot, quorum int) {
	if system == ZooKeeper {
		key = ZooKeeperPath(key)
	}
	return inCluster(key, 0)
}

// onEveryNode is the slots of a lock that keeps its key on every node.
func onEveryNode(key string, nodes int) (slots []Slot, quorum int) {
	for i := range nodes {
		slots = append(slots, Slot{Node: i, Key: key})
	}
	return slots, majority(nodes)
}
