package explore

import (
	"slices"

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
	is := func(role trace.Role, process string) bool { return r.Roles[process] == role }
	switch a := f.Action.(type) {
	case *sim.Jump:
		switch client := is(trace.RoleClient, a.Process); {
		case client && a.By > 0:
			return clientForward
		case client:
			return clientBack
		case a.By > 0:
			return nodeForward
		}
		return nodeBack
	case *sim.Pause:
		if is(trace.RoleClient, a.Process) && a.Mode == trace.Suspend {
			return suspended
		}
	case *sim.CrashFault:
		switch {
		case is(trace.RoleClient, a.Process):
			return dead
		case is(trace.RoleNode, a.Process) && forgets(a.How, f.Persistence):
			return forgetful
		}
	}
	for _, process := range slices.Concat(f.Targets()...) {
		if is(trace.RoleNode, process) {
			return unreachable
		}
	}
	return late
}

// forgets says whether a crash leaves less on the node's disk than there was, at least
// if nothing had been saved lately.
func forgets(how trace.Crash, disk sim.Persistence) bool {
	switch disk {
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
