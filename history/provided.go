package history

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Provided reports whether nothing was missing at the end of the run that a lock needs to
// serve a client, whatever faults still acted then: the client itself and its way to the
// storage were well, and so were enough of the lock's slots for a quorum, and its ways to
// them. To live with a minority that is silent, slow, erring or down is what a quorum is
// for; to live with another client that stopped for good, what an end of the lease is for.
func (h *History) Provided(lock, client string) bool {
	slots, ok := h.Reach(lock, client)
	return ok && (len(slots) >= h.locks[lock].Quorum || len(h.locks[lock].Slots) == 0)
}

// Reach are the slots of a lock that were well at the end of the run, and within a client's
// reach. It is not ok if something else was missing that serves the client.
func (h *History) Reach(lock, client string) (slots Slots, ok bool) {
	now := h.Slots(lock)
	for _, ev := range h.Promotions() {
		now.See(ev)
	}
	struck := map[string]bool{} // nodes that the client cannot rely on
	for fault := range h.faults.acting {
		nodes, all := h.takes(fault, lock, client)
		for _, n := range nodes {
			struck[n] = true
			// A node without a slot has another part, such as a replica's, and nobody tells which.
			all = all && slices.ContainsFunc(now, func(p Place) bool { return p.Node == n })
		}
		if !all {
			return nil, false
		}
	}
	for _, server := range h.Unheard(client) {
		if h.Role(server) != trace.RoleNode {
			return nil, false
		}
		struck[server] = true
	}
	for _, p := range now {
		if !struck[p.Node] {
			slots = append(slots, p)
		}
	}
	return slots, true
}

// Hindered reports whether a fault that acted at the end of the run had struck a client, or
// one of its ways to others.
func (h *History) Hindered(client string) bool {
	for fault := range h.faults.acting {
		f := h.Fault(fault)
		if f.Stops == client || slices.ContainsFunc(f.Targets, func(group []string) bool { return slices.Contains(group, client) }) {
			return true
		}
	}
	return false
}

// takes says which nodes a fault takes from a client that wants a lock, and whether they
// are all that it takes. Of what is not known it takes more.
func (h *History) takes(fault int, lock, client string) (nodes []string, all bool) {
	f := h.Fault(fault)
	switch {
	case h.ofLink(fault):
		for _, one := range f.Targets[0] {
			for _, other := range f.Targets[1] {
				switch a, b := h.Role(one), h.Role(other); {
				case a == trace.RoleNode && b == trace.RoleNode:
					nodes = append(nodes, one, other)
				case one == client && b == trace.RoleNode:
					nodes = append(nodes, other)
				case other == client && a == trace.RoleNode:
					nodes = append(nodes, one)
				case one == client, other == client:
					return nil, false
				case a != trace.RoleClient && b != trace.RoleClient:
					return nil, false // between services and the storage
				}
			}
		}
		return nodes, true
	case f.Effect == trace.StallsRequest: // the others are served
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
		unread := h.locks[lock].TrueTime && (f.Effect == trace.SetsClock || f.Effect == trace.DriftsClock)
		return nil, struck != client || unread
	}
	return nil, false
}

// ofLink says that a fault strikes the way between processes.
func (h *History) ofLink(fault int) bool { return len(h.Fault(fault).Targets) == 2 }
