package explore

import (
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Singles lists every single fault that the search tries in a base: each kind of
// fault, with each size, at each point at which something happens to the process
// that it strikes. A fault that strikes a process between two such points does what it
// would do at the earlier of the two, but for when it ends. Those that do harm most
// often come first.
func (r *Record) Singles() []Fault {
	var all []Fault
	for _, list := range []func() []Fault{
		r.pauses, r.partitions, r.jumps, r.crashes, r.holds, r.resets, r.delays, r.failures, r.stalls, r.deaths,
	} {
		all = append(all, list()...)
	}
	return all
}

// sizes are how large a fault can be: twice the TTL, just above it, just below it, and
// much smaller but larger than what clients wait for.
func (r *Record) sizes() []time.Duration {
	ttl := r.TTL
	if ttl == 0 {
		ttl = DefaultTTL // of a lock whose grants do not end
	}
	return []time.Duration{2 * ttl, ttl / 20 * 21, ttl / 20 * 19, ttl / 10}
}

// small is the last of the sizes.
func (r *Record) small() time.Duration { return r.sizes()[3] }

// above is just above the TTL.
func (r *Record) above() time.Duration { return r.sizes()[1] }

// each makes a fault of every size and every point of a kind of process, the points
// that are steps first.
func (r *Record) each(make func(p Point, size time.Duration) []Fault, sizes []time.Duration, roles ...trace.Role) []Fault {
	var all []Fault
	for _, steps := range []bool{true, false} {
		for _, size := range sizes {
			for _, p := range r.Points {
				if steps == p.isStep() && slices.Contains(roles, r.Roles[p.Process]) {
					all = append(all, make(p, size)...)
				}
			}
		}
	}
	return all
}

var everybody = []trace.Role{trace.RoleClient, trace.RoleNode, trace.RoleService, trace.RoleStorage}

// pauses are pauses of every process, and suspended machines of clients whose lock
// reads their clock: with others it cannot be told from a pause.
func (r *Record) pauses() []Fault {
	return r.each(func(p Point, size time.Duration) []Fault {
		pause := fault(&sim.Pause{Process: p.Process}, size).at(p.Strikes)
		if !r.OwnClock || r.Roles[p.Process] != trace.RoleClient {
			return []Fault{pause}
		}
		return []Fault{pause, pause.does(&sim.Pause{Process: p.Process, Mode: trace.Suspend})}
	}, r.sizes(), everybody...)
}

// jumps set the clock of every node, and of every client whose lock reads it, forward
// and back.
func (r *Record) jumps() []Fault {
	roles := []trace.Role{trace.RoleNode}
	if r.OwnClock {
		roles = append(roles, trace.RoleClient)
	}
	return r.each(func(p Point, size time.Duration) []Fault {
		forward := fault(&sim.Jump{Process: p.Process, By: size}, 0).at(p.Strikes)
		return []Fault{forward, forward.does(&sim.Jump{Process: p.Process, By: -size})}
	}, r.sizes(), roles...)
}

// crashes end every server in every way, and nodes under each persistence, for a
// moment and for longer than the TTL.
func (r *Record) crashes() []Fault {
	return r.each(func(p Point, size time.Duration) []Fault {
		var all []Fault
		for _, how := range []trace.Crash{"", trace.PowerLoss, trace.Shutdown} {
			crash := fault(&sim.CrashFault{Process: p.Process, How: how}, size).at(p.Strikes)
			if r.Roles[p.Process] != trace.RoleNode {
				all = append(all, crash)
				continue
			}
			for _, persistence := range sim.Persistences() {
				crash.Persistence = persistence
				all = append(all, crash)
			}
		}
		return all
	}, []time.Duration{r.small(), r.above()}, trace.RoleNode, trace.RoleService, trace.RoleStorage)
}

// deaths are clients that are killed.
func (r *Record) deaths() []Fault {
	return r.each(func(p Point, _ time.Duration) []Fault {
		return []Fault{fault(&sim.CrashFault{Process: p.Process}, 0).at(p.Strikes)}
	}, []time.Duration{0}, trace.RoleClient)
}

// partitions cut every client off, at each of its steps, from every minority and every
// majority of the nodes, and from the storage.
func (r *Record) partitions() []Fault {
	sides := append(subsets(r.Nodes), []string{trace.StorageName})
	return r.each(func(p Point, size time.Duration) []Fault {
		if !p.isStep() {
			return nil
		}
		var all []Fault
		for _, side := range sides {
			all = append(all, fault(&sim.Partition{Process: p.Process, From: side}, size).at(p.Strikes))
		}
		return all
	}, r.sizes(), trace.RoleClient)
}

// manyNodes is how many nodes have more subsets than anybody can try.
const manyNodes = 6

// subsets lists the sets of nodes, small ones first. Of many nodes it has of each size
// only the first and the last.
func subsets(nodes []string) [][]string {
	var all [][]string
	if len(nodes) >= manyNodes {
		for n := 1; n <= len(nodes); n++ {
			all = append(all, nodes[:n])
			if n < len(nodes) {
				all = append(all, nodes[len(nodes)-n:])
			}
		}
		return all
	}
	for mask := 1; mask < 1<<len(nodes); mask++ {
		var set []string
		for i, n := range nodes {
			if mask>>i&1 == 1 {
				set = append(set, n)
			}
		}
		all = append(all, set)
	}
	slices.SortStableFunc(all, func(a, b []string) int { return len(a) - len(b) })
	return all
}

// holds let every message arrive late.
func (r *Record) holds() []Fault {
	var all []Fault
	for _, size := range r.sizes() {
		for _, m := range r.Messages {
			all = append(all, fault(&sim.Hold{Message: m.NthMessage}, size))
		}
	}
	return all
}

// resets cut the connection of every message, before it arrives and when it has.
func (r *Record) resets() []Fault {
	var all []Fault
	for _, m := range r.Messages {
		cut := fault(&sim.Reset{Process: m.Client, From: m.Peer}, 0)
		all = append(all, cut.at(sim.Trigger{When: m.InFlight(m.Nth)}), cut.at(sim.Trigger{When: m.Arrived(m.Nth)}))
	}
	return all
}

// delays slow down, from each step of a client on, what it says to somebody in that
// step, and the answers.
func (r *Record) delays() []Fault {
	var all []Fault
	for _, size := range r.sizes() {
		for i, p := range r.Points {
			if !p.isStep() {
				continue
			}
			for _, peer := range r.spokenTo(i) {
				all = append(all, fault(&sim.Delay{Process: p.Process, To: peer, By: size}, size).at(p.Strikes))
			}
		}
	}
	return all
}

// spokenTo lists to whom a client says something in the step that begins with a point.
func (r *Record) spokenTo(point int) []string {
	p := r.Points[point]
	next := slices.IndexFunc(r.Points[point+1:], func(o Point) bool { return o.Process == p.Process && o.isStep() })
	var peers []string
	for _, m := range r.Messages {
		within := m.At >= p.At && (next < 0 || m.At < r.Points[point+1+next].At)
		if within && !m.Reply && m.Client == p.Process && !slices.Contains(peers, m.Peer) {
			peers = append(peers, m.Peer)
		}
	}
	return peers
}

// failures let a node answer with errors for a moment.
func (r *Record) failures() []Fault {
	return r.each(func(p Point, size time.Duration) []Fault {
		return []Fault{fault(&sim.Fail{Node: p.Process}, size).at(p.Strikes)}
	}, []time.Duration{r.small()}, trace.RoleNode)
}

// stalls stop the thread of the storage that serves a request.
func (r *Record) stalls() []Fault {
	var all []Fault
	for _, size := range r.sizes() {
		for _, m := range r.Messages {
			if m.Peer == trace.StorageName && !m.Reply && m.Step.AtStorage() && m.Nth == 0 {
				all = append(all, fault(&sim.Stall{Client: m.Client, Step: m.Step}, size))
			}
		}
	}
	return all
}
