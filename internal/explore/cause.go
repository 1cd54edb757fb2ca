package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// causeOf describes the faults of a world in words, one text for each fault. It uses roles, such as
// a client, in place of names. So worlds that differ only in names, times and sizes have the same
// cause. rec is what the run of the world's base, without faults, has shown.
func causeOf(rec *Record, w runs.WorldSpec) (cause []string) {
	type part struct{ slug, words string }
	var parts []part
	for _, f := range w.Faults {
		slug, words := describeFault(rec, w, f)
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

// nodesOf returns the nodes of a world's lock. A world can have another number of nodes than its
// base.
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

// groupRole returns one role for several processes. If mentionsShare is set and all of them
// are nodes, the role says what share of all nodes they are, such as a majority.
func groupRole(rec *Record, w runs.WorldSpec, names []string, mentionsShare bool) story.Role {
	nodes := nodesOf(rec, w)
	n, nodeCount := len(nodes), countMatching(names, func(name string) bool { return slices.Contains(nodes, name) })
	switch {
	case !mentionsShare || nodeCount < len(names) || n == 1:
	case nodeCount == n:
		return story.AllNodes
	case 2*nodeCount > n:
		return story.Majority
	case 2*nodeCount == n:
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
	combined := roles[0]
	for _, role := range slices.Compact(roles)[1:] {
		combined = combined.And(role)
	}
	return combined
}

// describeFault describes one fault without names. slug is a short text by which the faults
// of a world are ordered; words is the text for people. Most descriptions name the role of
// the process that the fault strikes. If the fault affects a connection, they also name the
// role of the processes at the other end.
func describeFault(rec *Record, w runs.WorldSpec, f runs.Fault) (slug, words string) {
	slug = f.Slug()
	role := roleOf(rec, w, f.Target())
	switch f.Effect() {
	case trace.KillsProcess:
		return describeCrash(rec, w, f)
	case trace.HoldsMessage:
		return describeMessage(rec, w, f)
	case trace.StallsRequest:
		return slug + "-" + string(f.Info().Step), story.FaultOn(f.Info(), role)
	}
	if len(f.Others()) == 0 {
		return slug + "-" + role.Slug, story.FaultOn(f.Info(), role)
	}
	if !isPartition(f) || role != story.AClient { // a partition usually cuts off a client, so the slug names only another role
		slug += "-" + role.Slug
	}
	others := groupRole(rec, w, f.Others(), isPartition(f))
	return slug + "-" + others.Slug, story.FaultBetween(f.Info(), role, others)
}

// describeCrash describes a crash. Crashes that leave different things on the disk have
// different descriptions. The usual crash of a client is a kill, so a kill is not
// mentioned.
func describeCrash(rec *Record, w runs.WorldSpec, f runs.Fault) (slug, words string) {
	role, disk, manner := roleOf(rec, w, f.Target()), w.Change.Persistence[f.Target()], cmp.Or(trace.Crash(f.How()), trace.Kill)
	slug = f.Slug() + "-" + role.Slug
	if disk != "" && disk != sim.NoPersistence {
		slug += "-" + string(disk)
	}
	if role == story.AClient && manner == trace.Kill {
		manner = ""
	}
	return slug, story.CrashOn(f.Info(), role, string(disk), manner)
}

// describeMessage describes a fault that keeps one message in flight. It names the direction of the
// message, and the step of the client that the message belongs to, such as acquire. Most messages
// of a step go to one kind of process: to the storage or to a node. The description mentions the
// other end only if it is unusual.
func describeMessage(rec *Record, w runs.WorldSpec, f runs.Fault) (slug, words string) {
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
