package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/internal/runs"
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
	// cancelled: a client takes back what it has asked its lock for.
	cancelled family = "cancelled-call"
	// clientForward and clientBack: a client's clock is set, or runs fast or slow.
	clientForward family = "client-clock-forward"
	clientBack    family = "client-clock-back"
	// unreachable: a client and a node do not hear of each other, or not in time.
	unreachable family = "unreachable-node"
	// forgetful: a node loses keys.
	forgetful family = "forgetful-node"
	// nodeForward and nodeBack: a node's clock is set, or runs fast or slow.
	nodeForward family = "node-clock-forward"
	nodeBack    family = "node-clock-back"
)

// families are those of a world's faults, in order, each as often as it has members.
func (r *Record) families(w runs.World) []family {
	var all []family
	for _, f := range w.Faults {
		all = append(all, r.family(w, f))
	}
	slices.Sort(all)
	return all
}

// family is what a fault of a world comes to.
func (r *Record) family(w runs.World, f runs.Fault) family {
	return effects[f.Effect()].comesTo(r, w, f)
}

// whatStops is what a process comes to that stands still.
func whatStops(r *Record, w runs.World, f runs.Fault) family {
	if r.Roles[f.Target()] == trace.RoleClient && f.How() == string(trace.Suspend) {
		return suspended
	}
	return justLate(r, w, f)
}

// whatDies is what a process comes to that crashes.
func whatDies(r *Record, w runs.World, f runs.Fault) family {
	switch on := r.Roles[f.Target()]; {
	case on == trace.RoleClient:
		return dead
	case on == trace.RoleNode && r.forgets(trace.Crash(f.How()), w.Change.Persistence[f.Target()]):
		return forgetful
	}
	return justLate(r, w, f)
}

// always is what a fault comes to whatever it strikes.
func always(f family) func(*Record, runs.World, runs.Fault) family {
	return func(*Record, runs.World, runs.Fault) family { return f }
}

// justLate is what a fault comes to that only makes something late: if it acts on a node,
// or on messages to one, that cannot be reached.
func justLate(r *Record, _ runs.World, f runs.Fault) family {
	for _, process := range slices.Concat(f.Targets()...) {
		if r.Roles[process] == trace.RoleNode {
			return unreachable
		}
	}
	return late
}

// wrongClock is what a clock does that is ahead of its time, or behind.
func wrongClock(r *Record, _ runs.World, f runs.Fault) family {
	client, back := r.Roles[f.Target()] == trace.RoleClient, f.By() < 0 || f.Rate() < 0
	switch {
	case client && back:
		return clientBack
	case client:
		return clientForward
	case back:
		return nodeBack
	}
	return nodeForward
}

// forgets says whether a crash leaves less on the node's disk than there was, at least
// if nothing had been saved lately.
func (r *Record) forgets(how trace.Crash, disk sim.Persistence) bool {
	return !r.system().Keeps(disk, cmp.Or(how, trace.Kill))
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
