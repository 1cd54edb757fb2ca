package kubernetes

import (
	"maps"
	"slices"

	"github.com/locksim/locksim/trace"
)

// Revoke implements [sim.Revocable]. It deletes each Lease that the client holds, as
// kubectl delete does. The second argument does not matter, because Kubernetes has no
// sessions.
func (n *node) Revoke(client string, _ bool) (found bool) {
	n.Do(func() {
		for _, at := range slices.Sorted(maps.Keys(n.leases.stored)) {
			stored := n.leases.stored[at]
			if stored.holder() == "" || stored.owner == nil || stored.owner.Client != client {
				continue
			}
			found = true
			n.leases.remove(stored.Metadata.Namespace, stored.Metadata.Name, nil, trace.Operator())
		}
	})
	return found
}
