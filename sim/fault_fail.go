package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

func init() {
	RegisterFault(FaultKind{
		Name:   "fail",
		Title:  "a Redis node answers every command with an error",
		Effect: trace.AnswersErrors,
		New:    func() Action { return &Fail{} },
		Manners: []Manner{
			{Phrases: trace.Phrases{Subject: "{target}", Does: "answers every command with an error{lasting}", Noun: "{target} answering with errors"}},
			{
				Value: errOOM, Slug: "out-of-memory",
				Phrases: trace.Phrases{Subject: "{target}", Does: "answers every command that it is out of memory{lasting}", Noun: "{target} answering that it is out of memory"},
			},
		},
		Sites: []Site{{Roles: nodes, At: AtPoints, Lengths: brief}},
	})
}

// errLoading is what Redis answers while it reads its data from the disk:
// shared.loadingerr in https://github.com/redis/redis/blob/unstable/src/server.c
const errLoading = "LOADING Redis is loading the dataset in memory"

// errOOM is what Redis answers when its memory is full: shared.oomerr there. Unlike
// LOADING it is no error after which go-redis sends a command again (shouldRetry in its
// error.go).
const errOOM = "OOM command not allowed when used memory > 'maxmemory'."

// Fail is the parameters of the fault of that name. While it lasts, the node
// executes no command of a client and answers each with the error. It still serves
// what only sets a connection up, and goes on with blocking commands that had
// begun; its keys expire, and are saved and replicated, as ever.
type Fail struct {
	Node string `yaml:"fail" json:"fail" jsonschema:"description=The Redis node that answers with errors."`
	With string `yaml:"with,omitempty" json:"with,omitempty" fault:"manner" jsonschema:"description=The error\\, in one line. Default: LOADING Redis is loading the dataset in memory."`
}

func (a *Fail) Check(t Topology) error {
	if strings.TrimSpace(a.With) != a.With || strings.ContainsAny(a.With, "\r\n") {
		return errors.New("with: an error of Redis is one line, such as " + errLoading)
	}
	if err := t.process("fail", a.Node); err != nil {
		return err
	}
	if _, ok := t.Nodes[a.Node]; !ok {
		return fmt.Errorf("fail: %s is no Redis node; name the node whose commands fail", a.Node)
	}
	return nil
}

func (a *Fail) Strike(w *World, f *FaultState) {
	n := w.byName[a.Node].server.(*redisNode)
	n.fail(append(n.failing, f))
}

func (a *Fail) Lift(w *World, f *FaultState) {
	n := w.byName[a.Node].server.(*redisNode)
	n.fail(slices.DeleteFunc(slices.Clone(n.failing), func(o *FaultState) bool { return o == f }))
}

// fail has some faults decide from now on whether the node fails.
func (n *redisNode) fail(faults []*FaultState) {
	was := n.failure()
	n.failing = faults
	switch is := n.failure(); {
	case is == was:
	case is == "":
		n.w.emit(trace.Event{Kind: trace.KindRecover, Process: n.p.name})
	default:
		n.w.emit(trace.Event{Kind: trace.KindFail, Process: n.p.name, Text: is})
	}
}

// failure is the error with which the node answers every command, that of the
// fault that struck first; "" if it executes them.
func (n *redisNode) failure() string {
	if len(n.failing) == 0 {
		return ""
	}
	return cmp.Or(n.failing[0].fault.Action.(*Fail).With, errLoading)
}

// fails answers a command with an error if the node is to, and reports whether it
// did.
func (r *redisPeer) fails(name string, args []string) bool {
	n := r.n
	why := n.failure()
	if why == "" || handshake(args) {
		return false
	}
	// As in rejectCommand of Redis's server.c, no transaction survives it.
	switch {
	case !n.queueing[r.peer]:
	case name == "EXEC":
		n.answer(r.peer, "DISCARD")
		delete(n.queueing, r.peer)
		why = "EXECABORT Transaction discarded because of: " + why
	default:
		n.answer(r.peer, "GET") // without a key it is wrong, which miniredis remembers
	}
	r.refuse(why)
	return true
}
