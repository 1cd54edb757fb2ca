package zookeeper

import (
	"maps"
	"slices"

	"github.com/locksim/locksim/trace"
)

// Revoke implements [sim.Revocable]. It deletes each ephemeral node by which the client
// holds a lock or waits for one. If session is set, it ends the sessions of these nodes
// instead: in a real ensemble, anybody who knows a session's ID and password can do so.
// Only the leader acts; other members do nothing and return false.
func (m *member) Revoke(client string, session bool) (found bool) {
	l, isLeader := m.role.(*leaderRole)
	if !isLeader || !l.isActive {
		return false
	}
	var requests []*request
	ends := map[int64]bool{}
	for _, path := range m.claims() {
		n := m.tree.nodes[path]
		if n.creator == nil || n.creator.Client != client {
			continue
		}
		switch {
		case !session:
			requests = append(requests, &request{op: opDelete, path: path, version: anyVersion})
		case !ends[n.owner]:
			ends[n.owner] = true
			requests = append(requests, &request{op: opClose, session: n.owner})
		}
	}
	m.turn(func() {
		for _, q := range requests {
			x := l.proposedTree.prepare(q, nil)
			x.by = trace.Operator()
			if q.op == opClose {
				l.tracker.close(q.session)
			}
			l.propose(x)
		}
	})
	return len(requests) > 0
}

// anyVersion is the version in a request that accepts every version of the node.
const anyVersion = -1

// claims returns the paths of the ephemeral nodes by which clients hold or wait for a lock:
// the lock's node and its children.
func (m *member) claims() (all []string) {
	for _, path := range slices.Sorted(maps.Keys(m.tree.nodes)) {
		if m.tree.nodes[path].owner == 0 {
			continue
		}
		if slices.Contains(m.register.keys, path) || slices.Contains(m.register.keys, parent(path)) {
			all = append(all, path)
		}
	}
	return all
}
