package libraries_test

import "github.com/locksim/locksim/internal/testkit/suites"

// These variables are what the suite finds in the locks on clusters of three members, by test
// case. A session lives as long as its process, unless the caller of the lock ends it. Most of
// the findings are documented by the libraries, or follow from what is documented. In this
// list, the name of the violated property or of the test case comes after the colon:
//
//   - A release that fails leaves its key, which lasts as long as the session: progress. The
//     client does not repeat the release; its caller has to do that, or end the session.
//   - With etcd, a client may acquire the lock again with a session whose key still exists.
//     Then it holds the lock by the old key and with the same token: token-order. The same
//     happens to a client that acquires the lock twice: handles.
//   - A second unlock of a mutex of etcd's client deletes the key by its name, even if the
//     session has acquired the lock again (issue 22082): release-again.
//   - The holder is notified late of the loss: section-exclusion. etcd's client checks once a
//     second whether the lease has expired, and counts from the arrival of the answer to a
//     keep-alive. go-zookeeper is notified by a server, and so only when it has a connection
//     again. With both, a holder that was paused is notified some time after it runs again. The
//     catalogue's pauses show this if they end while the next holder is in its section.
//   - The answer that grants the lock may arrive after the session has ended, and nothing
//     checks that: section-exclusion in late-reply, late/acquire and pause. If the holder is
//     then notified immediately, it stops and has not done its work: progress.
//   - etcd's client keeps a connection on which nothing can arrive any more: node-silent.
//     go-zookeeper gives it up, but a release that was sent on it has failed by then.
//   - An operator deletes the holder's key or node. The session is still alive, and the loss
//     signal is about the session: same-deleted-by-hand.
//   - A ZooKeeper server that is cut off from its leader answers pings by itself for a while:
//     same-split.
//   - go-zookeeper's Lock returns an error after it has made its node, and leaves the node in
//     the queue (pull request 237 of samuel/go-zookeeper): progress of errors/work,
//     errors/restart, node-down/acquire and node-down/work.
var (
	lateNotices = suites.Findings{
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

	etcdSession = lateNotices.Merge(suites.Findings{
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
	etcdMutex = etcdSession.Merge(suites.Findings{
		"late-reply/acquire":                      {"section-exclusion"},
		"silence/meanwhile":                       {"section-exclusion"},
		"errors/acquire":                          {"token-order"},
		"pause/acquire":                           {"section-exclusion"},
		"release-again":                           {"lease-exclusion", "section-exclusion", "release-ownership"},
		"catalogue/pause-in-flight/elapsed-check": {"section-exclusion", "progress"},
	})
	etcdElection = etcdSession.Merge(suites.Findings{
		"late-reply/acquire":                      {"section-exclusion"},
		"silence/meanwhile":                       {"section-exclusion"},
		"late-reply/acquire/majority":             {"section-exclusion"},
		"late-reply/acquire/all":                  {"section-exclusion"},
		"pause/acquire":                           {"section-exclusion"},
		"catalogue/pause-in-flight/elapsed-check": {"progress"},
	})

	// zookeeperSession are the findings that ZooKeeper's recipes have in common. Our own
	// recipe repeats the deletion until its node no longer exists.
	zookeeperSession = lateNotices.Merge(suites.Findings{
		"late/acquire":          {"section-exclusion"},
		"catalogue/fencing-gap": {"section-exclusion"},
		"catalogue/same-split":  {"lease-exclusion", "section-exclusion"},
	})
	zookeeperLock = zookeeperSession.Merge(suites.Findings{
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
	zookeeperNaive = zookeeperSession.Merge(suites.Findings{
		"pause/acquire": {"section-exclusion"},
	})
)
