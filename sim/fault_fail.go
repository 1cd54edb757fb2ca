package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

func init() {
	registerFault(FaultKind{
		Name:   "fail",
		Title:  "a node answers every command with an error",
		Effect: trace.AnswersErrors,
		New:    func() Action { return &Fail{} },
		Manners: []Manner{
			{Phrases: trace.Phrases{Subject: "{target}", Predicate: "answers every command with an error{lasting}", Noun: "{target} answering with errors"}},
		},
		Sites: []Site{{Roles: nodes, At: faultcard.AtPoints, Lengths: brief}},
	})
}

// Fail is the action of the fault fail. While it lasts, the node executes no command of a client
// and answers each command with an error. It still serves messages that only set up a connection.
// Commands that had begun to wait, such as BLPOP, continue. The node's keys expire, and are saved
// and replicated, as usual.
type Fail struct {
	Node string `yaml:"fail" json:"fail" jsonschema:"description=The node that answers with errors."`
	With string `yaml:"with,omitempty" json:"with,omitempty" fault:"manner" jsonschema:"description=The error\\, in one line. Default: the error of such a server while it cannot serve\\, for Redis LOADING Redis is loading the dataset in memory."`
}

func (a *Fail) check(t Topology) error {
	switch _, system, err := t.lookupNode("fail", a.Node, "commands fail"); {
	case err != nil:
		return err
	case system.Failure == "":
		return fmt.Errorf("fail: %s is a %s, which does not answer with errors; pause it, or let it crash", a.Node, cmp.Or(system.Node, "server"))
	case strings.TrimSpace(a.With) != a.With || strings.ContainsAny(a.With, "\r\n"):
		return fmt.Errorf("with: must be one line, such as %s", system.Failure)
	}
	return nil
}

func (a *Fail) strike(w *World, f *faultState) {
	h := w.byName[a.Node].host()
	h.setFailFaults(append(h.failFaults, f))
}

func (a *Fail) lift(w *World, f *faultState) {
	h := w.byName[a.Node].host()
	h.setFailFaults(slices.DeleteFunc(slices.Clone(h.failFaults), func(o *faultState) bool { return o == f }))
}
