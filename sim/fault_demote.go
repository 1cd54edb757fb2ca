package sim

import (
	"fmt"

	"github.com/locksim/locksim/trace"
)

func init() {
	registerFault(FaultKind{
		Name:     "demote",
		Title:    "a master that another node has replaced becomes a replica of that node, and drops its own data",
		Effect:   trace.MovesRole,
		Instant:  true,
		New:      func() Action { return &Demote{} },
		Manners:  []Manner{{Phrases: trace.Phrases{Subject: "{target}", Predicate: "becomes a replica of the node that has taken its place", Noun: "a demotion of {target}"}}},
		NotTried: "a promotion has to come first, and the promotion does the damage",
	})
}

// Demote is the action of the fault demote: a master whose place a replica has taken
// becomes a replica itself. Redis Sentinel does that to a failed master when it can reach
// the master again.
type Demote struct {
	Node string `yaml:"demote" json:"demote" jsonschema:"description=The master whose place a replica has taken."`
}

func (a *Demote) check(t Topology) error {
	if err := t.checkProcess("demote", a.Node); err != nil {
		return err
	}
	for _, n := range t.Nodes {
		if n.ReplicaOf != a.Node || a.Node == "" {
			continue
		}
		if system, _ := LookupSystem(t.Nodes[a.Node].System); !system.Demotes {
			return fmt.Errorf("demote: %s is %s %s, which cannot become a replica later", a.Node, article(system.Node), system.Node)
		}
		return nil
	}
	return fmt.Errorf("demote: %s has no replica that could take its place; name a master that has one", a.Node)
}

func (a *Demote) strike(w *World, f *faultState) {
	if !w.byName[a.Node].host().server.(Demotable).Demote() {
		f.markIneffective("no replica had taken the place of " + a.Node + " when it was to be demoted")
	}
}
