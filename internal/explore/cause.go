package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// causeOf describes the faults of a world in words, with roles in place of names. Worlds
// that differ only in names, times and sizes have the same cause.
func causeOf(rec *Record, w runs.WorldSpec) (cause []string) {
	type part struct{ slug, words string }
	var parts []part
	for _, f := range w.Faults {
		slug, words := abstractFault(rec, w, f)
		parts = append(parts, part{slug, words})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.slug, b.slug), cmp.Compare(a.words, b.words)) })
	for _, p := range parts {
		cause = append(cause, p.words)
	}
	return cause
}

// roleOf returns the role of a process of a world.
func roleOf(rec *Record, w runs.WorldSpec, name string) story.Role {
	switch {
	case slices.Contains(rec.Clients, name):
		return story.AClient
	case slices.Contains(nodesOf(rec, w), name):
		return story.ANode
	case name == trace.StorageName:
		return story.TheStorage
	}
	return story.OtherServer
}

// nodesOf returns the nodes of a world's lock. There may be fewer or more than in its base.
func nodesOf(rec *Record, w runs.WorldSpec) []string {
	if w.Change.Nodes == 0 {
		return rec.Nodes
	}
	nodes := make([]string, w.Change.Nodes)
	for i := range nodes {
		nodes[i] = rec.system().NodeName(i)
	}
	return nodes
}

// groupRole returns the common role of several processes. If counts is set and all of them
// are nodes, the role says what share of the nodes they are.
func groupRole(rec *Record, w runs.WorldSpec, names []string, counts bool) story.Role {
	nodes := nodesOf(rec, w)
	n, cut := len(nodes), count(names, func(name string) bool { return slices.Contains(nodes, name) })
	switch {
	case !counts || cut < len(names) || n == 1:
	case cut == n:
		return story.AllNodes
	case 2*cut > n:
		return story.Majority
	case 2*cut == n:
		return story.HalfOfNodes
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

// abstractFault describes one fault without names. slug orders the faults of a world, and
// words are for people. Most faults are described by the role of the process that they
// strike, and by the role of the processes at the other end, if there are any.
func abstractFault(rec *Record, w runs.WorldSpec, f runs.Fault) (slug, words string) {
	slug = f.Slug()
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
	if !isPartition(f) || on != story.AClient { // usually a client is cut off, so the slug does not mention it
		slug += "-" + on.Slug
	}
	others := groupRole(rec, w, f.Others(), isPartition(f))
	return slug + "-" + others.Slug, story.FaultBetween(f.Info(), on, others)
}

// abstractCrash describes a crash. It distinguishes crashes by what they leave on the disk.
// A kill is the usual crash of a client, so it is not mentioned.
func abstractCrash(rec *Record, w runs.WorldSpec, f runs.Fault) (slug, words string) {
	on, disk, how := roleOf(rec, w, f.Target()), w.Change.Persistence[f.Target()], cmp.Or(trace.Crash(f.How()), trace.Kill)
	slug = f.Slug() + "-" + on.Slug
	if disk != "" && disk != sim.NoPersistence {
		slug += "-" + string(disk)
	}
	if on == story.AClient && how == trace.Kill {
		how = ""
	}
	return slug, story.CrashOn(f.Info(), on, string(disk), how)
}

// abstractMessage describes a held message by its step and direction. Most messages of a
// step go to one kind of process, the storage or a node; only another peer is mentioned.
func abstractMessage(rec *Record, w runs.WorldSpec, f runs.Fault) (slug, words string) {
	held, _ := f.Message()
	m := held.Message
	peer, usual := roleOf(rec, w, m.Peer), story.ANode
	if m.Step.AtStorage() {
		usual = story.TheStorage
	}
	slug = f.Slug()
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
