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

// at makes a fault strike at a point.
func (f Fault) at(p Point) Fault {
	f.Before, f.When = p.Before, p.When
	return f
}

// each makes a fault of every size and every point of a kind of process, the points
// that are steps first.
func (r *Record) each(make func(p Point, size time.Duration) []Fault, sizes []time.Duration, roles ...trace.Role) []Fault {
	var all []Fault
	for _, steps := range []bool{true, false} {
		for _, size := range sizes {
			for _, p := range r.Points {
				if steps == (p.Before != "") && slices.Contains(roles, r.Roles[p.Process]) {
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
		pause := Fault{Kind: "pause", Target: p.Process, For: size}.at(p)
		if !r.OwnClock || r.Roles[p.Process] != trace.RoleClient {
			return []Fault{pause}
		}
		suspend := pause
		suspend.How = string(trace.Suspend)
		return []Fault{pause, suspend}
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
		forward := Fault{Kind: "jump", Target: p.Process, By: size}.at(p)
		back := forward
		back.By = -size
		return []Fault{forward, back}
	}, r.sizes(), roles...)
}

// crashes end every server in every way, and nodes under each persistence, for a
// moment and for longer than the TTL.
func (r *Record) crashes() []Fault {
	return r.each(func(p Point, size time.Duration) []Fault {
		var all []Fault
		for _, how := range []trace.Crash{"", trace.PowerLoss, trace.Shutdown} {
			crash := Fault{Kind: "crash", Target: p.Process, How: string(how), For: size}.at(p)
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
		return []Fault{Fault{Kind: "crash", Target: p.Process}.at(p)}
	}, []time.Duration{0}, trace.RoleClient)
}

// partitions cut every client off, at each of its steps, from every minority and every
// majority of the nodes, and from the storage.
func (r *Record) partitions() []Fault {
	sides := append(subsets(r.Nodes), []string{trace.StorageName})
	return r.each(func(p Point, size time.Duration) []Fault {
		if p.Before == "" {
			return nil
		}
		var all []Fault
		for _, side := range sides {
			all = append(all, Fault{Kind: "partition", Target: p.Process, Others: side, For: size}.at(p))
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
			all = append(all, Fault{Kind: "hold", Target: m.held(), For: size})
		}
	}
	return all
}

// resets cut the connection of every message, before it arrives and when it has.
func (r *Record) resets() []Fault {
	var all []Fault
	for _, m := range r.Messages {
		nth := m.Nth
		if nth == 1 {
			nth = 0
		}
		cut := Fault{Kind: "reset", Target: m.Client, Others: []string{m.Peer}, When: m.InFlight(nth).String()}
		all = append(all, cut)
		cut.When = m.Arrived(nth).String()
		all = append(all, cut)
	}
	return all
}

// delays slow down, from each step of a client on, what it says to somebody in that
// step, and the answers.
func (r *Record) delays() []Fault {
	var all []Fault
	for _, size := range r.sizes() {
		for i, p := range r.Points {
			if p.Before == "" {
				continue
			}
			for _, peer := range r.spokenTo(i) {
				all = append(all, Fault{Kind: "delay", Target: p.Process, Others: []string{peer}}.at(p).Sized(size))
			}
		}
	}
	return all
}

// spokenTo lists to whom a client says something in the step that begins with a point.
func (r *Record) spokenTo(point int) []string {
	p := r.Points[point]
	next := slices.IndexFunc(r.Points[point+1:], func(o Point) bool { return o.Process == p.Process && o.Before != "" })
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
		return []Fault{Fault{Kind: "fail", Target: p.Process, For: size}.at(p)}
	}, []time.Duration{r.small()}, trace.RoleNode)
}

// stalls stop the thread of the storage that serves a request.
func (r *Record) stalls() []Fault {
	var all []Fault
	for _, size := range r.sizes() {
		for _, m := range r.Messages {
			if m.Peer == trace.StorageName && !m.Reply && m.Step.AtStorage() && m.Nth == 1 {
				all = append(all, Fault{Kind: "stall", Target: m.Client, Step: m.Step, For: size})
			}
		}
	}
	return all
}
