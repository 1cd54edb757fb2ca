package explore

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A family is faults that come to the same for a lock, however different their causes
// are: whether a client is paused or cannot reach the storage, its write is late.
type family string

const (
	// late: something a client does with the storage comes late, or twice.
	late family = "late-client"
	// suspended: a client's machine stands still, and its monotonic clock too.
	suspended family = "suspended-client"
	// dead: a client is dead.
	dead family = "dead-client"
	// clientForward and clientBack: a client's clock is set.
	clientForward family = "client-clock-forward"
	clientBack    family = "client-clock-back"
	// unreachable: a client and a node do not hear of each other, or not in time.
	unreachable family = "unreachable-node"
	// forgetful: a node loses keys.
	forgetful family = "forgetful-node"
	// nodeForward and nodeBack: a node's clock is set.
	nodeForward family = "node-clock-forward"
	nodeBack    family = "node-clock-back"
)

// families are those of a world's faults, in order, each as often as it has members.
func (r *Record) families(w World) []family {
	var all []family
	for _, f := range w.Faults {
		all = append(all, r.family(f))
	}
	slices.Sort(all)
	return all
}

// family is what a fault comes to.
func (r *Record) family(f Fault) family {
	role := r.Roles[f.Target]
	client := role == trace.RoleClient
	node := func(name string) bool { return r.Roles[name] == trace.RoleNode }
	switch f.Kind {
	case "jump":
		switch {
		case client && f.By > 0:
			return clientForward
		case client:
			return clientBack
		case f.By > 0:
			return nodeForward
		}
		return nodeBack
	case "pause":
		if client && f.How == string(trace.Suspend) {
			return suspended
		}
	case "crash":
		switch {
		case client:
			return dead
		case role == trace.RoleNode && f.forgets():
			return forgetful
		}
	case "hold":
		for _, word := range strings.Fields(f.Target) {
			if node(strings.TrimSuffix(strings.TrimSuffix(word, ","), "'s")) {
				return unreachable
			}
		}
	}
	if role == trace.RoleNode || slices.ContainsFunc(f.Others, node) {
		return unreachable
	}
	return late
}

// forgets says whether a crash leaves less on the node's disk than there was, at least
// if nothing had been saved lately.
func (f Fault) forgets() bool {
	switch how := trace.Crash(f.How); f.Persistence {
	case sim.Always:
		return false
	case sim.Everysec:
		return how == trace.PowerLoss
	case sim.Snapshots:
		return how != trace.Shutdown
	}
	return true
}

// within says whether one list is a part of another, whatever their order.
func within[E comparable](part, whole []E) bool {
	left := slices.Clone(whole)
	for _, f := range part {
		i := slices.Index(left, f)
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}
