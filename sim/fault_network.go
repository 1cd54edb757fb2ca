package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

func init() {
	registerFault(FaultKind{
		Name:   "partition",
		Title:  "a process and others cannot reach each other",
		Effect: trace.CutsLink,
		New:    func() Action { return &Partition{} },
		Manners: []Manner{
			{Phrases: trace.Phrases{Subject: "{target}", Predicate: "cannot reach {others}{lasting}", Noun: "a partition of {target} from {others}"}},
			{
				Value: string(To), Slug: "partition-to",
				Phrases: trace.Phrases{Subject: "{target}", Predicate: "cannot send to {others}{lasting}", Noun: "a one-way partition from {target} to {others}"},
			},
			{
				Value: string(From), Slug: "partition-from",
				Phrases: trace.Phrases{Subject: "{target}", Predicate: "receives nothing from {others}{lasting}", Noun: "a one-way partition from {others} to {target}"},
			},
		},
		Sites: []Site{
			{Roles: clients, At: faultcard.AtSteps, Others: faultcard.AnyNodeSet, Lengths: anyLength, Manners: []string{""}},
			{Roles: clients, At: faultcard.AtSteps, Others: faultcard.EachNodeCount, Lengths: briefOrLong, Manners: []string{string(To), string(From)}},
		},
	})
	registerFault(FaultKind{
		Name:   "delay",
		Title:  "messages between two processes take longer",
		Effect: trace.SlowsLink,
		New:    func() Action { return &Delay{} },
		Manners: []Manner{
			{
				Phrases: trace.Phrases{Subject: "each message between {target} and {others}", Predicate: "takes {size} longer{for-the-next}", Noun: "slow messages between {target} and {others}"},
			},
			{
				Value: string(To), Slug: "delay-to",
				Phrases: trace.Phrases{Subject: "each message from {target} to {others}", Predicate: "takes {size} longer{for-the-next}", Noun: "slow messages from {target} to {others}"},
			},
			{
				Value: string(From), Slug: "delay-from",
				Phrases: trace.Phrases{Subject: "each message from {others} to {target}", Predicate: "takes {size} longer{for-the-next}", Noun: "slow messages from {others} to {target}"},
			},
		},
		Sites: []Site{{Roles: clients, At: faultcard.AtSteps, Others: faultcard.EachReceiver, Lengths: anyLength, Manners: []string{""}}},
	})
	registerFault(FaultKind{
		Name:    "hold",
		Title:   "one message is held back, and all that follow it on its connection",
		Effect:  trace.HoldsMessage,
		New:     func() Action { return &Hold{} },
		Manners: []Manner{{Phrases: trace.Phrases{Subject: "the network", Predicate: "holds back {message}{lasting}", Noun: "late delivery of {message}"}}},
		Sites:   []Site{{At: faultcard.OnMessages, Lengths: anyLength}},
	})
	registerFault(FaultKind{
		Name:    "reset",
		Title:   "the connections between two processes are cut",
		Effect:  trace.ResetsConnection,
		New:     func() Action { return &Reset{} },
		Manners: []Manner{{Phrases: trace.Phrases{Subject: "the connection between {target} and {others}", Predicate: "is cut", Noun: "connections cut between {target} and {others}"}}},
		Sites:   []Site{{Roles: clients, At: faultcard.AtMessages, Others: faultcard.EachReceiver}},
	})
}

// Direction says on which messages a fault acts: those that its process sends to the others, those
// that the others send to its process, or both.
type Direction string

const (
	Both Direction = "both" // the default
	To   Direction = "to"   // from the first process to the others
	From Direction = "from" // from the others to the first
)

// eachLink calls do for each link between a process and the others on which a fault with
// this direction acts.
func (d Direction) eachLink(w *World, process string, others []string, do func(*link)) {
	for _, other := range others {
		if d != From {
			do(w.linkBetween(process, other))
		}
		if d != To {
			do(w.linkBetween(other, process))
		}
	}
}

// check returns an error if the direction, the process or the others are invalid. field and
// otherField are the parameters in which the names of the process and of the others are written.
func (d Direction) check(t Topology, field, process string, otherField string, others []string) error {
	switch d {
	case "", Both, To, From:
	default:
		return fmt.Errorf("direction: %q is not a direction; write both, to or from", d)
	}
	if err := t.checkProcess(field, process); err != nil {
		return err
	}
	if len(others) == 0 {
		return fmt.Errorf("%s: name at least one process", otherField)
	}
	for i, other := range others {
		if err := t.checkProcess(otherField, other); err != nil {
			return err
		}
		if other == process {
			return fmt.Errorf("%s: %s has no connection to itself", otherField, other)
		}
		if slices.Contains(others[:i], other) {
			return fmt.Errorf("%s: %s is named twice", otherField, other)
		}
	}
	return nil
}

// Partition is the action of the fault partition: a process and others cannot reach each
// other. Messages that are sent while it lasts arrive when it ends, if their connection
// still exists.
type Partition struct {
	Process   string    `yaml:"partition" json:"partition" jsonschema:"description=The process that is cut off."`
	From      []string  `yaml:"from" json:"from" fault:"others" jsonschema:"maxItems=1000,description=The processes that it cannot reach."`
	Direction Direction `yaml:"direction,omitempty" json:"direction,omitempty" fault:"manner" jsonschema:"enum=both,enum=to,enum=from,description=Which messages are lost: both ways (the default)\\, only those to the others\\, or only those from them."`
}

func (a *Partition) check(t Topology) error {
	return a.Direction.check(t, "partition", a.Process, "from", a.From)
}

func (a *Partition) strike(w *World, _ *faultState) {
	a.Direction.eachLink(w, a.Process, a.From, (*link).cut)
}
func (a *Partition) lift(w *World, _ *faultState) {
	a.Direction.eachLink(w, a.Process, a.From, (*link).mend)
}

// Delay is the action of the fault delay: every message between two processes that is sent
// while it lasts takes longer.
type Delay struct {
	Process   string        `yaml:"delay" json:"delay" jsonschema:"description=The process whose messages are delayed."`
	To        string        `yaml:"to" json:"to" fault:"others" jsonschema:"description=The process at the other end."`
	By        time.Duration `yaml:"by" json:"by" fault:"size" jsonschema:"type=string,description=How much longer each message takes."`
	Direction Direction     `yaml:"direction,omitempty" json:"direction,omitempty" fault:"manner" jsonschema:"enum=both,enum=to,enum=from,description=Which messages are delayed: both ways (the default)\\, only those to the other process\\, or only those from it."`
}

func (a *Delay) check(t Topology) error {
	if err := checkPositive("by", a.By); err != nil {
		return err
	}
	if a.To == "" {
		return fmt.Errorf("to: name the process at the other end")
	}
	return a.Direction.check(t, "delay", a.Process, "to", []string{a.To})
}

func (a *Delay) strike(w *World, _ *faultState) {
	a.Direction.eachLink(w, a.Process, []string{a.To}, func(l *link) { l.extraDelay += a.By })
}
func (a *Delay) lift(w *World, _ *faultState) {
	a.Direction.eachLink(w, a.Process, []string{a.To}, func(l *link) { l.extraDelay -= a.By })
}

// Hold is the action of the fault hold: one message is kept in flight, and is not delivered before
// the fault ends. That is the first matching message that is sent after the fault's trigger, or a
// later one: with ", 3rd time" it is the third matching message.
type Hold struct {
	Message trace.NthMessage `yaml:"hold" json:"hold" jsonschema:"description=The message\\, such as client-1's write request to storage: the next one that matches. For a later one add its number\\, as in client-1's acquire request to redis-2\\, 3rd time."`
}

func (a *Hold) check(t Topology) error {
	m := a.Message.Message
	if m.IsZero() {
		return errors.New("hold: name the message that is held back")
	}
	for _, name := range m.Names() {
		if err := t.checkProcess("hold", name); err != nil {
			return err
		}
	}
	if !t.Clients[m.Client] && !t.Services[m.Client] {
		return fmt.Errorf("hold: %s is not a client; a held message goes to or from a client, or a service that passes it on", m.Client)
	}
	return nil
}

// rule selects the message that the fault holds back.
func (a *Hold) rule() rule {
	return rule{kind: trace.KindSend, nth: a.Message.Nth, matches: a.Message.Selects}
}

func (a *Hold) strike(w *World, f *faultState) { w.emit(f.heldBack.describe(trace.KindHold)) }
func (a *Hold) lift(_ *World, f *faultState)   { f.releaseHeldBack() }

// Reset is the action of the fault reset: it resets the connections between two processes.
// Both ends see the reset at the same moment, and messages in flight are lost.
type Reset struct {
	Process string `yaml:"reset" json:"reset" jsonschema:"description=The process whose connections are cut."`
	From    string `yaml:"from" json:"from" fault:"others" jsonschema:"description=The process at the other end."`
}

func (a *Reset) check(t Topology) error {
	if a.From == "" {
		return fmt.Errorf("from: name the process at the other end")
	}
	return Direction("").check(t, "reset", a.Process, "from", []string{a.From})
}

func (a *Reset) strike(w *World, _ *faultState) {
	for _, c := range slices.Clone(w.conns) {
		x, y := c.clientProcess.name, c.serverProcess.name
		if x == a.Process && y == a.From || x == a.From && y == a.Process {
			c.resetBothEnds()
		}
	}
}
