package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A family is a group of faults that have the same consequence for a lock, however
// different the faults are. For example, a client's write arrives late if the client is
// paused, and also if the client cannot reach the storage.
type family string

const (
	// lateClient: a client's request to the storage arrives late, or twice.
	lateClient family = "late-client"
	// suspendedClient: a client's machine is suspended, and its monotonic clock stops too.
	suspendedClient family = "suspended-client"
	// deadClient: a client has crashed.
	deadClient family = "dead-client"
	// cancelledCall: a client cancels a call to its lock.
	cancelledCall family = "cancelled-call"
	// clientClockForward and clientClockBack: a client's clock is set, or runs fast or
	// slow.
	clientClockForward family = "client-clock-forward"
	clientClockBack    family = "client-clock-back"
	// unreachableNode: messages between a client and a node arrive late or not at all.
	unreachableNode family = "unreachable-node"
	// forgetfulNode: a node loses keys.
	forgetfulNode family = "forgetful-node"
	// nodeClockForward and nodeClockBack: a node's clock is set, or runs fast or slow.
	nodeClockForward family = "node-clock-forward"
	nodeClockBack    family = "node-clock-back"
)

// families returns the families of a world's faults, sorted, one for each fault.
func (r *Record) families(w runs.WorldSpec) []family {
	var all []family
	for _, f := range w.Faults {
		all = append(all, r.family(w, f))
	}
	slices.Sort(all)
	return all
}

// family returns the family of a fault of a world.
func (r *Record) family(w runs.WorldSpec, f runs.Fault) family {
	return effectPolicies[f.Effect()].familyOf(r, w, f)
}

// stoppedFamily returns the family of a fault that stops a process.
func stoppedFamily(r *Record, w runs.WorldSpec, f runs.Fault) family {
	if r.Roles[f.Target()] == trace.RoleClient && f.How() == string(trace.Suspend) {
		return suspendedClient
	}
	return lateFamily(r, w, f)
}

// crashedFamily returns the family of a fault that crashes a process.
func crashedFamily(r *Record, w runs.WorldSpec, f runs.Fault) family {
	switch role := r.Roles[f.Target()]; {
	case role == trace.RoleClient:
		return deadClient
	case role == trace.RoleNode && r.forgets(trace.Crash(f.How()), w.Change.Persistence[f.Target()]):
		return forgetfulNode
	}
	return lateFamily(r, w, f)
}

// fixedFamily returns a function that returns the family f for every fault.
func fixedFamily(f family) func(*Record, runs.WorldSpec, runs.Fault) family {
	return func(*Record, runs.WorldSpec, runs.Fault) family { return f }
}

// lateFamily returns the family of a fault that only makes something late. If the fault
// acts on a node, or on messages to a node, the node counts as unreachable.
func lateFamily(r *Record, _ runs.WorldSpec, f runs.Fault) family {
	for _, process := range slices.Concat(f.Targets()...) {
		if r.Roles[process] == trace.RoleNode {
			return unreachableNode
		}
	}
	return lateClient
}

// clockFamily returns the family of a fault that makes a clock wrong.
func clockFamily(r *Record, _ runs.WorldSpec, f runs.Fault) family {
	client, back := r.Roles[f.Target()] == trace.RoleClient, f.By() < 0 || f.Rate() < 0
	switch {
	case client && back:
		return clientClockBack
	case client:
		return clientClockForward
	case back:
		return nodeClockBack
	}
	return nodeClockForward
}

// forgets reports whether a node with this disk can lose, in such a crash, changes that it has
// confirmed. It may lose none, if it happened to save all of them shortly before.
func (r *Record) forgets(how trace.Crash, disk sim.Persistence) bool {
	return !r.system().Keeps(disk, cmp.Or(how, trace.Kill))
}

// isContainedIn reports whether whole has every element of part, and each at least as often as part
// has it. The order makes no difference.
func isContainedIn[E comparable](part, whole []E) bool {
	remaining := slices.Clone(whole)
	for _, f := range part {
		i := slices.Index(remaining, f)
		if i < 0 {
			return false
		}
		remaining = slices.Delete(remaining, i, i+1)
	}
	return true
}
