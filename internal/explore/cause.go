package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// causeOf is what the faults of a world are in the abstract, with roles in place of
// names: an ID such as crash-node+partition-minority, and the faults in words, in the
// same order. Worlds that differ only in names, times and sizes have one cause.
func causeOf(rec *Record, w World) (id string, cause []string) {
	type part struct{ slug, words string }
	var parts []part
	for _, f := range w.Faults {
		slug, words := abstract(rec, w, f)
		parts = append(parts, part{slug, words})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.slug, b.slug), cmp.Compare(a.words, b.words)) })
	var slugs []string
	for _, p := range parts {
		slugs, cause = append(slugs, p.slug), append(cause, p.words)
	}
	return strings.Join(slugs, "+"), cause
}

// A role is what a process is to a lock.
type role struct{ slug, words string }

var (
	aClient    = role{"client", "a client"}
	aNode      = role{"node", "a node"}
	theStorage = role{"storage", "the storage"}
	// anOther is a process on which no lock is kept, and that does not ask for one: a
	// replica, a counter of tokens or a service.
	anOther = role{"other", "another server"}
)

// roleOf is what a process of a world is.
func roleOf(rec *Record, w World, name string) role {
	switch {
	case slices.Contains(rec.Clients, name):
		return aClient
	case slices.Contains(nodesOf(rec, w), name):
		return aNode
	case name == trace.StorageName:
		return theStorage
	}
	return anOther
}

// nodesOf are the nodes of a world's lock, of which there may be fewer or more than
// in its base.
func nodesOf(rec *Record, w World) []string {
	if w.Change.Nodes == 0 {
		return rec.Nodes
	}
	nodes := make([]string, w.Change.Nodes)
	for i := range nodes {
		nodes[i] = rec.system().NodeName(i)
	}
	return nodes
}

// share is what several processes are together: if it matters how many, of nodes
// alone, which share of all they are.
func share(rec *Record, w World, names []string, counts bool) role {
	nodes := nodesOf(rec, w)
	cut := 0
	for _, name := range names {
		if slices.Contains(nodes, name) {
			cut++
		}
	}
	switch n := len(nodes); {
	case !counts || cut < len(names) || n == 1:
		roles := make([]role, len(names))
		for i, name := range names {
			roles[i] = roleOf(rec, w, name)
		}
		slices.SortFunc(roles, func(a, b role) int { return cmp.Compare(a.slug, b.slug) })
		roles = slices.Compact(roles)
		var both role
		for i, r := range roles {
			if i > 0 {
				both.slug, both.words = both.slug+"-", both.words+" and "
			}
			if r == aNode && n == 1 {
				r.words = "the node"
			}
			both.slug, both.words = both.slug+r.slug, both.words+r.words
		}
		return both
	case cut == n:
		return role{"all-nodes", "all nodes"}
	case 2*cut > n:
		return role{"majority", "a majority of the nodes"}
	case 2*cut == n:
		return role{"half", "half of the nodes"}
	default:
		return role{"minority", "a minority of the nodes"}
	}
}

// abstract is one fault without names: a word for an ID, and words for people.
func abstract(rec *Record, w World, f Fault) (slug, words string) {
	return effects[f.Effect()].cause(rec, w, f)
}

// onOne tells a fault by what the process is that it strikes.
func onOne(rec *Record, w World, f Fault) (slug, words string) {
	on := roleOf(rec, w, f.Target())
	return f.Is() + "-" + on.slug, story.FaultNoun(f.Info(), func(string) string { return on.words })
}

// between tells it by what the two processes are between which it acts.
func between(rec *Record, w World, f Fault) (slug, words string) {
	if len(f.Others()) == 0 {
		return onOne(rec, w, f)
	}
	on, peer := roleOf(rec, w, f.Target()), share(rec, w, f.Others(), false)
	return f.Is() + "-" + on.slug + "-" + peer.slug, roles(f, on, peer)
}

// fromOthers tells it by who is cut off, unless that is a client, and by how many nodes it
// is from which it is.
func fromOthers(rec *Record, w World, f Fault) (slug, words string) {
	if len(f.Others()) == 0 {
		return onOne(rec, w, f)
	}
	on, others := roleOf(rec, w, f.Target()), share(rec, w, f.Others(), true)
	slug = f.Is() + "-" + others.slug
	if on != aClient {
		slug = f.Is() + "-" + on.slug + "-" + others.slug
	}
	return slug, roles(f, on, others)
}

// roles is a fault with what the processes are in place of their names.
func roles(f Fault, on, others role) string {
	info := f.Info()
	info.Targets = [][]string{{on.words}, {others.words}}
	return story.FaultNoun(info, func(role string) string { return role })
}

// onStep tells it by the step of the request that it strikes.
func onStep(rec *Record, w World, f Fault) (slug, words string) {
	_, words = onOne(rec, w, f)
	return f.Is() + "-" + string(f.Info().Step), words
}

// abstractCrash tells crashes apart by what they leave on the disk.
func abstractCrash(rec *Record, w World, f Fault) (slug, words string) {
	slug, words = onOne(rec, w, f)
	how := cmp.Or(trace.Crash(f.How()), trace.Kill)
	on := roleOf(rec, w, f.Target())
	switch disk := w.Change.Persistence[f.Target()]; disk {
	case "":
	case sim.NoPersistence:
		words += " without persistence"
	default:
		slug += "-" + string(disk)
		words += " with persistence " + string(disk)
	}
	if on == aClient && how == trace.Kill {
		return slug, words
	}
	return slug, words + " (" + strings.ReplaceAll(string(how), "-", " ") + ")"
}

// abstractMessage tells held messages apart by their step and direction.
func abstractMessage(rec *Record, w World, f Fault) (slug, words string) {
	held, _ := f.Message()
	m := held.Message
	peer := roleOf(rec, w, m.Peer)
	switch {
	case m.Step != "" && m.Reply:
		slug, words = f.Is()+"-"+string(m.Step)+"-reply", "a late reply to "+article(string(m.Step))
	case m.Step != "":
		slug, words = f.Is()+"-"+string(m.Step)+"-request", "a late "+string(m.Step)+" request"
	case m.Reply:
		return f.Is() + "-reply-" + peer.slug, "a late reply of " + peer.words
	default:
		return f.Is() + "-request-" + peer.slug, "a late request to " + peer.words
	}
	// Most messages of a step go one way: to the storage, or to a node.
	usual := aNode
	if m.Step.AtStorage() {
		usual = theStorage
	}
	if peer != usual {
		return slug + "-" + peer.slug, fmt.Sprintf("%s (%s)", words, peer.words)
	}
	return slug, words
}

// article is a noun with "a" or "an".
func article(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}
