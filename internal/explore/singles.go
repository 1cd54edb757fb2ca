package explore

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Singles lists the worlds of every single fault that a search tries in a base. It tries each kind
// of fault that all of the given Kinds select, in each manner, such as a crash by power loss, and
// in each size. It tries a fault of a process at each point at which something happens to that
// process. A fault between two such points would do the same as one at the earlier point, except
// that it ends later. Faults that do harm most often come first. Faults that never end come last.
func (r *Record) Singles(kinds ...Kinds) []runs.WorldSpec {
	return slices.Collect(r.singles(kinds...))
}

// singles lists what Singles returns.
func (r *Record) singles(kinds ...Kinds) iter.Seq[runs.WorldSpec] {
	type siteOfKind struct {
		kind sim.FaultKind
		site sim.Site
	}
	var sites []siteOfKind
	for _, k := range sim.FaultKinds() {
		for _, s := range k.Sites {
			sites = append(sites, siteOfKind{k, s})
		}
	}
	permanence := func(t siteOfKind) int {
		if len(t.site.Lengths)+len(t.site.Rates) > 0 || t.kind.Instant {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(sites, func(a, b siteOfKind) int {
		return cmp.Or(permanence(a)-permanence(b), effectPolicies[a.kind.Effect].harmRank-effectPolicies[b.kind.Effect].harmRank)
	})
	return func(yield func(runs.WorldSpec) bool) {
		for _, t := range sites {
			s := faultSite{r, t.kind, t.site, manners(t.kind, t.site, kinds)}
			for _, w := range s.worlds() {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// A faultSite is one site of a kind of fault, applied to a base. The site says where faults of this
// kind are tried, and in which sizes.
type faultSite struct {
	*Record
	kind sim.FaultKind
	sim.Site
	manners []sim.Manner
}

// manners returns the manners of a kind that a search tries at a site.
func manners(k sim.FaultKind, s sim.Site, kinds []Kinds) []sim.Manner {
	return slices.DeleteFunc(slices.Clone(k.Manners), func(m sim.Manner) bool {
		isExcluded := func(kinds Kinds) bool { return !kinds.tries(k, m) }
		return s.Manners != nil && !slices.Contains(s.Manners, m.Value) || slices.ContainsFunc(kinds, isExcluded)
	})
}

// worlds returns the worlds with one of the site's faults.
func (s faultSite) worlds() (all []runs.WorldSpec) {
	for _, group := range s.spots() {
		for _, size := range s.sizes() {
			for _, at := range group {
				for _, m := range s.manners {
					if s.canSuffer(at.Target, m) {
						all = append(all, s.worldsAt(at, m, size)...)
					}
				}
			}
		}
	}
	return all
}

// A faultTarget, or spot, is the process or message that a fault of a site strikes, and the trigger
// at which the fault strikes.
type faultTarget struct {
	sim.Parts
	strikes trace.Trigger
}

// spots returns the targets of the site in groups, which are tried one after the other. Targets
// at which a client begins a step come first.
func (s faultSite) spots() [][]faultTarget {
	switch s.At {
	case faultcard.AtPoints, faultcard.AtSteps:
		return s.spotsAtPoints()
	case faultcard.AtEveryPoint:
		return [][]faultTarget{s.spotsAnywhere()}
	}
	var all []faultTarget
	for _, m := range s.Messages {
		inFlight := trace.Trigger{When: m.InFlight(m.Nth)}
		switch {
		case s.At == faultcard.OnMessages:
			all = append(all, faultTarget{Parts: sim.Parts{Target: m.String()}})
		case s.At == faultcard.OnRequests && m.Peer == trace.StorageName && !m.Reply && m.Step.AtStorage() && m.Nth == 0:
			all = append(all, faultTarget{Parts: sim.Parts{Target: m.Client, Step: m.Step}})
		case s.At == faultcard.AtCalls && m.Step.AtLock():
			all = append(all, faultTarget{sim.Parts{Target: m.Client}, inFlight})
		case s.At == faultcard.AtMessages:
			ends := sim.Parts{Target: m.Client, Others: []string{m.Peer}}
			all = append(all, faultTarget{ends, inFlight}, faultTarget{ends, trace.Trigger{When: m.Arrived(m.Nth)}})
		}
	}
	return [][]faultTarget{all}
}

// spotsAtPoints returns the spots at which something happens to the struck process itself:
// first the steps, and then the messages, unless the faults strike only at steps.
func (s faultSite) spotsAtPoints() [][]faultTarget {
	var steps, messages []faultTarget
	for i, p := range s.Points {
		if !s.canStrike(p.Process) {
			continue
		}
		for _, others := range s.otherEnds(i) {
			at := faultTarget{sim.Parts{Target: p.Process, Others: others}, p.Strikes}
			switch {
			case p.isStep():
				steps = append(steps, at)
			case s.At == faultcard.AtPoints:
				messages = append(messages, at)
			}
		}
	}
	return [][]faultTarget{steps, messages}
}

// spotsAnywhere returns a spot for each process that can be struck and each point of the
// run, even if nothing happens to the process there.
func (s faultSite) spotsAnywhere() (all []faultTarget) {
	for _, process := range slices.Sorted(maps.Keys(s.Record.Roles)) {
		if !s.canStrike(process) {
			continue
		}
		for _, p := range s.Points {
			all = append(all, faultTarget{sim.Parts{Target: process}, p.Strikes})
		}
	}
	return all
}

// worldsAt returns the worlds with the fault of a spot, in one manner and size. Usually it
// is one world. If the fault strikes a node and the disk matters, there is one world for
// each persistence, which is how the node writes to its disk.
func (s faultSite) worldsAt(at faultTarget, m sim.Manner, size sim.Size) (all []runs.WorldSpec) {
	parts := at.Parts
	parts.Kind, parts.How, parts.Rate = s.kind.Name, m.Value, size.Rate
	if s.kind.HasSize() {
		parts.By = size.Time
	}
	if m.Value == faultcard.Negative {
		parts.How, parts.By, parts.Rate = "", -parts.By, -parts.Rate
	}
	f, err := parts.Fault()
	if err != nil {
		panic("explore: the card of a kind of fault contradicts its parameters: " + err.Error()) // the test TestCards detects this earlier
	}
	f.Strikes = at.strikes
	if !s.kind.Instant {
		f.For = size.Time
	}
	w := runs.WorldSpec{Base: s.Base, Faults: []runs.Fault{{Fault: f}}}
	if !s.Disks || s.Record.Roles[f.Target()] != trace.RoleNode {
		return []runs.WorldSpec{w}
	}
	for _, disk := range s.Record.system().Persistences() {
		w.Change.Persistence = map[string]sim.Persistence{f.Target(): disk}
		all = append(all, w)
	}
	return all
}

// sizes returns the sizes of the site's faults. Takeover is how long another client waits for a
// crashed holder. If it was measured, and Lengths contains largestPercent, two of the sizes are
// times that are longer than the Takeover. Faults without a size have one zero size.
func (s faultSite) sizes() (all []sim.Size) {
	for _, rate := range s.Rates {
		all = append(all, sim.Size{Rate: rate})
	}
	if s.Takeover > 0 && slices.Contains(s.Lengths, largestPercent) {
		all = append(all, sim.Size{Time: percentOf(s.Takeover, largestPercent)}, sim.Size{Time: percentOf(s.Takeover, justAbovePercent)})
	}
	for _, percent := range s.Lengths {
		all = append(all, sim.Size{Time: s.percentOfTTL(percent)})
	}
	if len(all) == 0 {
		return []sim.Size{{}}
	}
	return all
}

// percentOfTTL returns a percentage of the TTL. If the lock's grants do not end, it returns
// a percentage of [DefaultTTL].
func (r *Record) percentOfTTL(percent int) time.Duration {
	return percentOf(cmp.Or(r.TTL, DefaultTTL), percent)
}

// percentOf returns a percentage of a duration.
func percentOf(d time.Duration, percent int) time.Duration {
	return d / 20 * time.Duration(percent) / 5
}

// Two of the lengths of faults that a search tries, in percent of the TTL: the largest, and
// the one just above the TTL.
const largestPercent, justAbovePercent = 200, 105

// canStrike reports whether the site's faults can strike a process, by its role and by what
// the fault needs.
func (s faultSite) canStrike(process string) bool {
	return slices.Contains(s.Site.Roles, s.Record.Roles[process]) && s.meets(s.Needs, process)
}

// canSuffer reports whether a process can suffer a fault in the manner m.
func (s faultSite) canSuffer(process string, m sim.Manner) bool {
	return (len(m.Roles) == 0 || slices.Contains(m.Roles, s.Record.Roles[process])) &&
		(m.System == "" || m.System == s.Record.System) && s.meets(m.Needs, process)
}

// meets reports whether a process has what a fault needs, such as a disk.
func (r *Record) meets(need faultcard.Gate, process string) bool {
	switch need {
	case faultcard.NeedsOwnClock:
		return r.OwnClock || r.Roles[process] != trace.RoleClient
	case faultcard.NeedsDisk:
		return r.system().HandlesDiskStall("")
	case faultcard.NeedsReplica:
		return slices.Contains(r.Replicas, process)
	}
	return true
}

// otherEnds returns, for faults that strike at a point, the sets of processes at the
// faults' other end. If the faults have no other end, it returns one nil set.
func (s faultSite) otherEnds(point int) (all [][]string) {
	switch s.Others {
	case faultcard.AnyNodeSet:
		return append(subsets(s.Nodes), []string{trace.StorageName})
	case faultcard.EachNodeCount:
		return append(firstAndLast(s.Nodes), []string{trace.StorageName})
	case faultcard.EachReceiver:
		for _, peer := range s.peersOf(point) {
			all = append(all, []string{peer})
		}
		return all
	}
	return [][]string{nil}
}

// manyNodes is the number of nodes from which on there are too many sets of nodes to try
// all.
const manyNodes = 6

// subsets lists the sets of nodes, the smallest first. If there are many nodes, it lists
// only the first and the last set of each size.
func subsets(nodes []string) [][]string {
	var all [][]string
	if len(nodes) >= manyNodes {
		return firstAndLast(nodes)
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

// firstAndLast lists two sets of nodes of each size: the first nodes and the last nodes.
func firstAndLast(nodes []string) (all [][]string) {
	for n := 1; n <= len(nodes); n++ {
		all = append(all, nodes[:n])
		if n < len(nodes) {
			all = append(all, nodes[len(nodes)-n:])
		}
	}
	return all
}

// peersOf lists the processes to which a client sends requests during the step that begins
// at a point.
func (r *Record) peersOf(point int) []string {
	p := r.Points[point]
	next := slices.IndexFunc(r.Points[point+1:], func(o InjectionPoint) bool { return o.Process == p.Process && o.isStep() })
	var peers []string
	for _, m := range r.Messages {
		isInStep := m.At >= p.At && (next < 0 || m.At < r.Points[point+1+next].At)
		if isInStep && !m.Reply && m.Client == p.Process && !slices.Contains(peers, m.Peer) {
			peers = append(peers, m.Peer)
		}
	}
	return peers
}
