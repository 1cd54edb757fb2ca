package zookeeper

import (
	"maps"
	"slices"

	"github.com/locksim/locksim/trace"
)

// Revoke is as in [sim.Revocable]: delete of each node by which the client has a lock or
// waits for it, or the end of the sessions that these nodes are of, as somebody can ask for
// who connects with a session's id and password. The leader takes it.
func (m *member) Revoke(client string, session bool) (found bool) {
	l, leads := m.role.(*leading)
	if !leads || !l.active {
		return false
	}
	var asked []*request
	ends := map[int64]bool{}
	for _, path := range m.claims() {
		n := m.tree.nodes[path]
		if n.by == nil || n.by.Client != client {
			continue
		}
		switch {
		case !session:
			asked = append(asked, &request{op: opDelete, path: path, version: anyVersion})
		case !ends[n.owner]:
			ends[n.owner] = true
			asked = append(asked, &request{op: opClose, session: n.owner})
		}
	}
	m.turn(func() {
		for _, q := range asked {
			x := l.ahead.prepare(q, nil)
			x.by = trace.Operator()
			if q.op == opClose {
				l.tracker.close(q.session)
			}
			l.propose(x)
		}
	})
	return len(asked) > 0
}

// anyVersion is that of a delete which does not ask how often a node was changed.
const anyVersion = -1

// claims are the paths of the nodes that end with a session and are a lock of the world's, or
// stand in its queue.
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
