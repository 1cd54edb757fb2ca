package locks

import "strings"

// ZooKeeper is the system of locks on ZooKeeper.
const ZooKeeper = "zookeeper"

// The locks on ZooKeeper are only registered here; the package libraries/zookeeper makes
// them. Without the feature loss-signal the work is not notified that the session has
// ended. Without kept-queue a release deletes the parent node of the queue if the queue is
// empty.
func init() {
	const lock = "github.com/go-zookeeper/zk, unmodified: its Lock, a queue of sequential ephemeral nodes"
	for name, title := range map[string]string{
		"zookeeper":            lock + "; token: the node's sequence number + 1",
		"zookeeper-czxid":      "as zookeeper, but after Lock it reads its node again, and fails if the node is gone; token: the node's czxid",
		"zookeeper-disconnect": "as zookeeper, but it notifies its holder as soon as the connection is lost, instead of when the session ends",
		"zookeeper-naive":      "on github.com/go-zookeeper/zk, unmodified: one ephemeral node that all waiters watch; token: its czxid",
	} {
		features := []string{"loss-signal", "kept-queue"}
		if name == "zookeeper-naive" { // it has no queue
			features = features[:1]
		}
		Register(Kind{
			Name: name, Title: title, System: ZooKeeper, Slots: zooKeeperSlots, Renews: true, HasDataClient: true, Adapter: adapters + "zookeeper", Library: "github.com/go-zookeeper/zk",
			Features: features,
		})
	}
}

// ZooKeeperPath returns the path of a lock: of its only node, or of the parent of its
// queue.
func ZooKeeperPath(key string) string { return "/" + strings.Trim(key, "/") }

// zooKeeperSlots returns one slot, the path in the cluster, and a quorum of one.
func zooKeeperSlots(key string, nodes int) (slots []Slot, quorum int) {
	return InCluster(ZooKeeperPath(key), nodes)
}
