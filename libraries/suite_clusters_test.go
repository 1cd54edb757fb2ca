package libraries_test

import "github.com/locksim/locksim/internal/testkit/roof"

// What the suite finds in the locks on clusters of three members, by story. A session lives
// as long as its process, and the recipes leave it to the caller to end it. Most of it is
// documented, or follows from what is:
//
//   - A release that fails leaves its key, which stands as long as the session does: progress.
//     The client does not ask again; whoever uses it has to, or has to end the session.
//   - With etcd, whoever asks again with a session whose key still stands has the lock by that
//     key, with the same token: token-order. So has who asks for it twice: handles.
//   - A mutex of etcd's client that is unlocked again deletes the key by its name, also if the
//     session has the lock anew (issue 22082): release-again.
//   - The loss is told late: section-exclusion. etcd's client looks once a second, and counts
//     from when the answer to a keep-alive came. go-zookeeper is told by a server, and so only
//     when it has a connection again. A holder who was paused and runs again is told late by
//     both: of the catalogue's pauses, those that end while the next one is in.
//   - The answer by which one has the lock may come when the session is over, and nobody
//     looks at that: section-exclusion of late-reply, late/acquire and pause. Who stops at
//     once because it is told so has got nothing done: progress.
//   - etcd's client keeps a connection on which nothing comes any more: node-silent.
//     go-zookeeper does not, but the release that was sent there has failed by then.
//   - An operator deletes the holder's key or node. The session lives on, and the signal is
//     the session's: same-deleted-by-hand.
//   - A ZooKeeper server that is cut off from its leader answers pings by itself for a while:
//     same-split.
//   - go-zookeeper's Lock returns an error after it has made its node, and leaves the node in
//     the queue (pull request 237 of samuel/go-zookeeper): progress of errors/work,
//     errors/restart, node-down/acquire and node-down/work.
var (
	toldLate = roof.Findings{
		"silence/work/all":                               {"section-exclusion"},
		"pause/work":                                     {"section-exclusion"},
		"catalogue/same-holder-cut-off/gives-up":         {"section-exclusion"},
		"catalogue/same-holder-cut-off/waits":            {"section-exclusion"},
		"catalogue/same-deleted-by-hand":                 {"claim: notifies"},
		"catalogue/same-leader/heeds":                    {"section-exclusion"},
		"catalogue/same-leader/late":                     {"section-exclusion"},
		"catalogue/fencing-lost-update/writes":           {"section-exclusion"},
		"catalogue/fencing-lost-update/reads-and-writes": {"section-exclusion"},
	}

	etcdSession = toldLate.And(roof.Findings{
		"handles":                    {"lease-exclusion", "section-exclusion", "token-order", "progress"},
		"contexts/cancelled-before":  {"progress"},
		"late/acquire":               {"section-exclusion", "progress"},
		"lost-request/release":       {"progress", "token-order"},
		"late-request/meanwhile":     {"section-exclusion"},
		"silence/work":               {"section-exclusion"},
		"silence/work/majority":      {"section-exclusion"},
		"errors/acquire/majority":    {"progress"},
		"errors/acquire/all":         {"progress"},
		"errors/release":             {"progress", "token-order"},
		"node-down/acquire":          {"progress"},
		"node-down/acquire/majority": {"progress"},
		"node-down/release":          {"progress", "token-order"},
		"node-down/meanwhile":        {"progress"},
		"node-silent/work/minority":  {"progress"},
	})
	onEtcd = etcdSession.And(roof.Findings{
		"late-reply/acquire":                      {"section-exclusion"},
		"silence/meanwhile":                       {"section-exclusion"},
		"errors/acquire":                          {"token-order"},
		"pause/acquire":                           {"section-exclusion"},
		"release-again":                           {"lease-exclusion", "section-exclusion", "release-ownership"},
		"catalogue/pause-in-flight/elapsed-check": {"section-exclusion", "progress"},
	})
	electedOnEtcd = etcdSession.And(roof.Findings{
		"late-reply/acquire":                      {"section-exclusion"},
		"silence/meanwhile":                       {"section-exclusion"},
		"late-reply/acquire/majority":             {"section-exclusion"},
		"late-reply/acquire/all":                  {"section-exclusion"},
		"pause/acquire":                           {"section-exclusion"},
		"catalogue/pause-in-flight/elapsed-check": {"progress"},
	})

	// zookeeperSession is what ZooKeeper's recipes share. Ours asks again until its node is
	// gone.
	zookeeperSession = toldLate.And(roof.Findings{
		"late/acquire":          {"section-exclusion"},
		"catalogue/fencing-gap": {"section-exclusion"},
		"catalogue/same-split":  {"lease-exclusion", "section-exclusion"},
	})
	onZooKeeper = zookeeperSession.And(roof.Findings{
		"errors/restart":            {"progress"},
		"lost-request/release":      {"progress"},
		"late-request/release":      {"progress"},
		"silence/release":           {"progress"},
		"silence/work":              {"progress"},
		"silence/work/majority":     {"progress"},
		"errors/release":            {"progress"},
		"errors/work":               {"progress"},
		"errors/work/majority":      {"progress"},
		"errors/work/all":           {"progress"},
		"node-down/acquire":         {"progress"},
		"node-down/release":         {"progress"},
		"node-down/work":            {"progress"},
		"node-down/work/all":        {"progress"},
		"node-silent/work/minority": {"progress"},
	})
	naiveOnZooKeeper = zookeeperSession.And(roof.Findings{
		"pause/acquire": {"section-exclusion"},
	})
)
