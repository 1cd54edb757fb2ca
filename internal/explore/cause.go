package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// causeOf is what the faults of a world are in the abstract, in words, with roles in place
// of names. Worlds that differ only in names, times and sizes have one cause.
func causeOf(rec *Record, w runs.World) (cause []string) {
	type part struct{ slug, words string }
	var parts []part
	for _, f := range w.Faults {
		slug, words := abstract(rec, w, f)
		parts = append(parts, part{slug, words})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.slug, b.slug), cmp.Compare(a.words, b.words)) })
	for _, p := range parts {
		cause = append(cause, p.words)
	}
	return cause
}

// roleOf is what a process of a world is.
func roleOf(rec *Record, w runs.World, name string) story.Role {
	switch {
	case slices.Contains(rec.Clients, name):
		return story.AClient
	case slices.Contains(nodesOf(rec, w), name):
		return story.ANode
	case name == trace.StorageName:
		return story.TheStorage
	}
	return story.AnOther
}

// nodesOf are the nodes of a world's lock, of which there may be fewer or more than
// in its base.
func nodesOf(rec *Record, w runs.World) []string {
	if w.Change.Nodes == 0 {
		return rec.Nodes
	}
	nodes := make([]string, w.Change.Nodes)
	for i := range nodes {
		nodes[i] = rec.system().NodeName(i)
	}
	return nodes
}

// together is what several processes are; if it matters how many, of nodes alone, which
// share of all they are.
func together(rec *Record, w runs.World, names []string, counts bool) story.Role {
	nodes := nodesOf(rec, w)
	n, cut := len(nodes), count(names, func(name string) bool { return slices.Contains(nodes, name) })
	switch {
	case !counts || cut < len(names) || n == 1:
	case cut == n:
		return story.AllNodes
	case 2*cut > n:
		return story.Majority
	case 2*cut == n:
		return story.HalfOfThem
	default:
		return story.Minority
	}
	var roles []story.Role
	for _, name := range names {
		role := roleOf(rec, w, name)
		if role == story.ANode && n == 1 {
			role = story.TheNode
		}
		roles = append(roles, role)
	}
	slices.SortFunc(roles, func(a, b story.Role) int { return cmp.Compare(a.Slug, b.Slug) })
	all := roles[0]
	for _, role := range slices.Compact(roles)[1:] {
		all = all.And(role)
	}
	return all
}

// abstract is one fault without names: a slug, by which the faults of a world are put in
// order, and words for people. Most are told by what the process is that they strike, and
// by what those are at the other end, if there are any.
func abstract(rec *Record, w runs.World, f runs.Fault) (slug, words string) {
	slug = f.Is()
	on := roleOf(rec, w, f.Target())
	switch f.Effect() {
	case trace.KillsProcess:
		return abstractCrash(rec, w, f)
	case trace.HoldsMessage:
		return abstractMessage(rec, w, f)
	case trace.StallsRequest:
		return slug + "-" + string(f.Info().Step), story.FaultOn(f.Info(), on)
	}
	if len(f.Others()) == 0 {
		return slug + "-" + on.Slug, story.FaultOn(f.Info(), on)
	}
	if !cutsOff(f) || on != story.AClient { // as a rule it is a client that is cut off
		slug += "-" + on.Slug
	}
	others := together(rec, w, f.Others(), cutsOff(f))
	return slug + "-" + others.Slug, story.FaultBetween(f.Info(), on, others)
}

// abstractCrash tells crashes apart by what they leave on the disk. How a client is killed
// goes without saying.
func abstractCrash(rec *Record, w runs.World, f runs.Fault) (slug, words string) {
	on, disk, how := roleOf(rec, w, f.Target()), w.Change.Persistence[f.Target()], cmp.Or(trace.Crash(f.How()), trace.Kill)
	slug = f.Is() + "-" + on.Slug
	if disk != "" && disk != sim.NoPersistence {
		slug += "-" + string(disk)
	}
	if on == story.AClient && how == trace.Kill {
		how = ""
	}
	return slug, story.CrashOn(f.Info(), on, string(disk), how)
}

// abstractMessage tells held messages apart by their step and direction. Most messages of a
// step go one way: to the storage, or to a node.
func abstractMessage(rec *Record, w runs.World, f runs.Fault) (slug, words string) {
	held, _ := f.Message()
	m := held.Message
	peer, usual := roleOf(rec, w, m.Peer), story.ANode
	if m.Step.AtStorage() {
		usual = story.TheStorage
	}
	slug = f.Is()
	if m.Step != "" {
		slug += "-" + string(m.Step)
	}
	if m.Reply {
		slug += "-reply"
	} else {
		slug += "-request"
	}
	if m.Step == "" || peer != usual {
		slug += "-" + peer.Slug
	}
	return slug, story.LateMessage(m, peer, peer == usual)
}
