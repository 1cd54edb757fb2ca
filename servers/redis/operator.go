package redis

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Revoke implements [sim.Revocable]: like an operator, it sends DEL for each key of a lock that the
// client has set. The second argument does not matter, because Redis has no sessions.
func (n *node) Revoke(client string, _ bool) (found bool) {
	if n.repl.isReadOnly() || n.repl.lacksReplicas() {
		return false
	}
	n.expire()
	for _, id := range n.sortedIDs(n.keys) {
		if owner := n.keys[id].owner; owner != nil && owner.Client == client && slices.Contains(n.host.Keys(), id.name) {
			n.mini.DB(id.db).Del(id.name)
			n.tracker.words = append(n.tracker.words, id.name)
			found = true
		}
	}
	n.recordChanges(trace.Operator())
	n.serveBlocked()
	return found
}
