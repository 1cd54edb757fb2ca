package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// CanServe reports whether, at the end of the run, the lock could serve a client in spite of the
// faults that still acted. Three things must work: the client itself, its link to the storage, and
// enough of the lock's slots for a quorum, with the client's links to them. Other faults are no
// excuse for a lock. A lock with a quorum has to tolerate a minority of servers that are silent,
// slow, failing or down. And leases end so that the lock tolerates a client that has stopped for
// good.
func (h *History) CanServe(lock, client string) bool {
	slots, ok := h.ReachableSlots(lock, client)
	of, quorum := h.Required(lock)
	return ok && (len(slots) >= quorum || of == 0)
}

// Required returns how many servers have to work if a lock is to serve clients: quorum of
// total slots, or of total members of its cluster.
func (h *History) Required(lock string) (total, quorum int) {
	l := h.locks[lock]
	if n := len(l.Members); n > 0 {
		return n, n/2 + 1
	}
	return len(l.Slots), l.Quorum
}

// ReachableSlots returns the slots of a lock that worked and that a client could reach at the
// end of the run. For a cluster it returns the largest group of members that reach each other
// and of which the client reaches at least one, as slots without a key. ok is false if
// something that the client needs besides the slots did not work.
func (h *History) ReachableSlots(lock, client string) (slots Slots, ok bool) {
	members := h.locks[lock].Members
	current := h.Slots(lock)
	if len(members) > 0 {
		current = nil
		for _, m := range members {
			current = append(current, Place{m, ""})
		}
	}
	for _, ev := range h.Promotions() {
		current.See(ev)
	}
	struck := map[string]bool{} // nodes that the client cannot rely on
	for fault := range h.faults.acting {
		nodes, onlyNodes := h.nodesTaken(fault, lock, client)
		for _, n := range nodes {
			struck[n] = true
			// A node without a slot has another role, such as a replica's. The trace does not say
			// which role, so the lock counts as unable to serve.
			onlyNodes = onlyNodes && slices.ContainsFunc(current, func(p Place) bool { return p.Node == n })
		}
		if !onlyNodes {
			return nil, false
		}
	}
	for _, server := range h.SilentServers(client) {
		if h.Role(server) != trace.RoleNode {
			return nil, false
		}
		struck[server] = true
	}
	if len(members) > 0 {
		return h.largestReachableGroup(current, struck), true
	}
	for _, p := range current {
		if !struck[p.Node] {
			slots = append(slots, p)
		}
	}
	return slots, true
}

// largestReachableGroup returns the largest group of a cluster's members that reach each other
// and of which the client reaches at least one. struck are the members that the client cannot
// reach or that do not work.
func (h *History) largestReachableGroup(members Slots, struck map[string]bool) Slots {
	var most Slots
	for _, leader := range members {
		if h.isStruck(leader.Node) {
			continue
		}
		group, reached := Slots{leader}, !struck[leader.Node]
		for _, m := range members {
			if m != leader && !h.isStruck(m.Node) && !h.areCutOff(leader.Node, m.Node) {
				group, reached = append(group, m), reached || !struck[m.Node]
			}
		}
		if reached && len(group) > len(most) {
			most = group
		}
	}
	return most
}

// isStruck reports whether a fault that acted at the end of the run had struck a node
// itself.
func (h *History) isStruck(node string) bool {
	for fault := range h.faults.acting {
		f := h.Fault(fault)
		if !h.strikesLink(fault) && (f.Stops == node || f.Target() == node) {
			return true
		}
	}
	return false
}

// areCutOff reports whether a fault that acted at the end of the run had struck the link
// between two nodes.
func (h *History) areCutOff(one, other string) bool {
	for fault := range h.faults.acting {
		if f := h.Fault(fault); h.strikesLink(fault) {
			a, b := f.Targets[0], f.Targets[1]
			if slices.Contains(a, one) && slices.Contains(b, other) || slices.Contains(a, other) && slices.Contains(b, one) {
				return true
			}
		}
	}
	return false
}

// isHindered reports whether a fault that acted at the end of the run had struck a client,
// or one of its links.
func (h *History) isHindered(client string) bool {
	for fault := range h.faults.acting {
		f := h.Fault(fault)
		if f.Stops == client || slices.ContainsFunc(f.Targets, func(group []string) bool { return slices.Contains(group, client) }) {
			return true
		}
	}
	return false
}

// nodesTaken returns the nodes that a fault makes unavailable to a client that wants a lock.
// onlyNodes is false if the fault disturbs, or may disturb, something else that the client needs.
func (h *History) nodesTaken(fault int, lock, client string) (nodes []string, onlyNodes bool) {
	f := h.Fault(fault)
	switch {
	case h.strikesLink(fault):
		for _, one := range f.Targets[0] {
			for _, other := range f.Targets[1] {
				switch a, b := h.Role(one), h.Role(other); {
				case a == trace.RoleNode && b == trace.RoleNode && h.areMembers(lock, one, other):
					// The link is between members, and not between a member and the client.
				case a == trace.RoleNode && b == trace.RoleNode:
					nodes = append(nodes, one, other)
				case one == client && b == trace.RoleNode:
					nodes = append(nodes, other)
				case other == client && a == trace.RoleNode:
					nodes = append(nodes, one)
				case one == client, other == client:
					return nil, false
				case a != trace.RoleClient && b != trace.RoleClient:
					return nil, false // the link is between services and the storage
				}
			}
		}
		return nodes, true
	case f.Effect == trace.StallsRequest: // other requests are served
		return nil, f.Target() != client
	}
	struck := f.Target()
	if struck == "" {
		struck = f.Stops
	}
	switch h.Role(struck) {
	case trace.RoleNode:
		return []string{struck}, true
	case trace.RoleClient:
		clockUnread := h.locks[lock].TrueTime && (f.Effect == trace.SetsClock || f.Effect == trace.DriftsClock)
		return nil, struck != client || clockUnread
	}
	return nil, false
}

// areMembers reports whether two nodes are members of the cluster that keeps a lock.
func (h *History) areMembers(lock, one, other string) bool {
	all := h.locks[lock].Members
	return slices.Contains(all, one) && slices.Contains(all, other)
}

// strikesLink reports whether a fault strikes the link between processes.
func (h *History) strikesLink(fault int) bool { return len(h.Fault(fault).Targets) == 2 }
