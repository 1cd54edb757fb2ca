package sim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// An Action is what a fault does. Its value is the fault's parameters, with yaml tags by
// which a scenario sets them. What each parameter says stands in parameters.go, what all
// have to know of a kind in its card: [FaultKind].
//
// An action changes the world from inside, so it stands in this package: to add a kind of
// fault, write one file that registers its card.
type Action interface {
	// check refuses parameters that make no sense in a world.
	check(Topology) error
	// strike begins the fault.
	strike(*World, *faultState)
}

// A lifter is an action that lasts: lift ends it.
type lifter interface {
	Action
	lift(*World, *faultState)
}

// Topology is the world as far as a fault's parameters can be wrong about it.
type Topology struct {
	Clients  map[string]bool
	Nodes    map[string]Node
	Services map[string]bool
	Lock     locks.Kind
	// InCluster says that there is no process of the storage: see [Storage].
	InCluster bool
}

// process checks the name of a process.
func (t Topology) process(field, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%s: name a process", field)
	case name == trace.StorageName && !t.InCluster || t.Clients[name] || t.Services[name]:
		return nil
	}
	if _, ok := t.Nodes[name]; ok {
		return nil
	}
	return &UnknownProcess{Field: field, Name: name, Known: t.names()}
}

func (t Topology) names() []string {
	names := slices.Concat(slices.Collect(maps.Keys(t.Clients)), slices.Collect(maps.Keys(t.Nodes)), slices.Collect(maps.Keys(t.Services)))
	if !t.InCluster {
		names = append(names, trace.StorageName)
	}
	slices.Sort(names)
	return names
}

// client checks the name of a client, and says whose it is if it is another process's.
func (t Topology) client(field, name, whose string) error {
	err := t.process(field, name)
	if err == nil && !t.Clients[name] {
		err = fmt.Errorf("%s: %s is no client; name the client whose %s", field, name, whose)
	}
	return err
}

// node finds a node, as client does a client, and its system.
func (t Topology) node(field, name, whose string) (Node, System, error) {
	node, is := t.Nodes[name]
	err := t.process(field, name)
	if err == nil && !is {
		err = fmt.Errorf("%s: %s is no node; name the node whose %s", field, name, whose)
	}
	system, _ := LookupSystem(node.System)
	return node, system, err
}

// UnknownProcess is the error of a name that is no process's.
type UnknownProcess struct {
	Field, Name string
	Known       []string
}

func (e *UnknownProcess) Error() string {
	return fmt.Sprintf("%s: there is no process %q; there are %s", e.Field, e.Name, strings.Join(e.Known, ", "))
}

// faultState is one fault in the course of a run.
type faultState struct {
	trace.FaultInfo
	w      *World
	fault  Fault
	kind   FaultKind
	number int
	armed  bool // a patient fault is waiting
	struck bool
	lifted bool
	vain   bool // it found nothing to act on
	// planned says that the time of its end is known, whether it has struck or not, and
	// ending that it has, and is going to end then.
	planned, ending bool
	plans           int // how often that time was worked out
	// passed counts what the fault's rule has met, and kept is what it keeps.
	passed int
	kept   passer
}

// armFault waits for the fault's moment.
func (w *World) armFault(number int, fault Fault) {
	f := &faultState{w: w, fault: fault, number: number}
	f.kind, _ = KindOf(fault.Action)
	f.FaultInfo = fault.Info()
	f.Assumption, f.Idle = fault.breaks(w.cfg.Topology()), w.idle(fault)
	f.Moot = f.Idle != ""
	w.faults = append(w.faults, f)
	if !fault.Strikes.When.IsZero() {
		w.when(fault.Strikes.When, f.trigger)
	}
	w.when(fault.Until, f.lift, func() { f.planned, f.ending = true, f.struck })
}

// Info is what a trace says of the fault, but for what it breaks and whether it acted.
func (f Fault) Info() trace.FaultInfo {
	info := trace.FaultInfo{
		Text: f.Text, Course: f.Course(), Kind: f.Kind(), Effect: f.Effect(), Targets: f.Targets(),
		Strikes: f.Strikes, Lasts: f.For, Phrases: f.Manner().Phrases,
	}
	info.Message, _ = f.Message()
	if parameter(f.Action, "step").IsValid() {
		info.Step = cmp.Or(f.Step(), trace.Write)
	}
	if f.By() != 0 || f.Rate() != 0 {
		info.Size = f.Size().String()
	}
	if f.Effect() == trace.StopsProcess || f.Effect() == trace.KillsProcess {
		info.Stops = f.Target()
	}
	return info
}

// Topology is what the faults of a world can act on.
func (cfg *Config) Topology() Topology {
	t := Topology{Clients: map[string]bool{}, Nodes: map[string]Node{}, Services: map[string]bool{}, Lock: cfg.Lock.Kind, InCluster: cfg.Storage.InCluster}
	for _, c := range cfg.Clients {
		t.Clients[c.Name] = true
	}
	for _, n := range cfg.Nodes {
		if s, err := cfg.system(n); err == nil {
			n.System = s.Name
		}
		t.Nodes[n.Name] = n
	}
	for _, s := range cfg.Services {
		t.Services[s.Name] = true
	}
	return t
}

// breaks is the assumption that the fault breaks. A crash takes something else from each role.
func (f Fault) breaks(t Topology) trace.Assumption {
	switch dies := f.Effect() == trace.KillsProcess; {
	case dies && f.Target() == trace.StorageName:
		return trace.AssumeStorageMemory
	case dies && !t.Clients[f.Target()]:
		return trace.AssumeLockMemory
	}
	return f.Effect().Breaks()
}

// idle says why a fault cannot act on the lock at hand, or "".
func (w *World) idle(fault Fault) string {
	if len(w.trace.Locks) == 0 {
		return ""
	}
	for _, group := range fault.Targets() {
		if len(group) > 0 && !slices.ContainsFunc(group, w.takesPart) && !w.strikesElsewhere(fault) {
			return fmt.Sprintf("it cannot act on the lock, which keeps nothing on %s", strings.Join(group, " or "))
		}
	}
	if e := fault.Effect(); e == trace.SetsClock || e == trace.DriftsClock {
		if p := w.byName[fault.Target()]; p.role == trace.RoleClient && !w.cfg.Lock.Kind.OwnClock && !w.cfg.Lock.Kind.ReadsClock && !w.cfg.Tokens.Source.OwnClock && w.cfg.schedule() == nil {
			return fmt.Sprintf("it cannot act on the lock, which does not read %s's clock but true time", p.name)
		}
	}
	return ""
}

// strikesElsewhere says that the same trouble strikes at the same moment where it can act:
// all servers lose power, and the lock is on one of them.
func (w *World) strikesElsewhere(fault Fault) bool {
	return slices.ContainsFunc(w.cfg.Faults, func(o Fault) bool {
		return o.Kind() == fault.Kind() && o.Strikes.Equal(fault.Strikes) && w.byName[o.Target()].host() != nil && w.takesPart(o.Target())
	})
}

// takesPart says whether a process has a part in the story: a node has one if a
// lock is kept on it, or on the node that it is a replica of, or if it counts
// tokens or keeps the data.
func (w *World) takesPart(name string) bool {
	p := w.byName[name]
	if p == nil || p.role != trace.RoleNode {
		return true
	}
	cfg := p.host().cfg
	if w.cfg.counts(cfg) || w.cfg.Storage.InCluster && p.host().system.Name == w.cfg.Lock.Kind.System {
		return true
	}
	return slices.ContainsFunc(w.trace.Locks, func(l trace.LockInfo) bool {
		return slices.Contains(l.Members, name) || slices.ContainsFunc(l.Slots, func(s trace.SlotInfo) bool { return s.Node == name || s.Node == cfg.ReplicaOf })
	})
}

// strikeInitial strikes what strikes at the start, and plans what strikes at a
// time.
func (w *World) strikeInitial() {
	for _, f := range w.faults {
		s := f.fault.Strikes
		switch {
		case !s.When.IsZero() || !s.Before.IsZero():
		case s.At == 0:
			f.trigger()
		default:
			w.at(s.At, f.trigger)
		}
	}
}

// before strikes what strikes before a client's step.
func (w *World) before(client string, step trace.Step, nth int) {
	for _, f := range w.faults {
		b := f.fault.Strikes.Before
		if b.Client == client && b.Step == step && max(b.Nth, 1) == nth {
			f.trigger()
		}
	}
}

// trigger is the fault's moment.
func (f *faultState) trigger() {
	if f.armed || f.struck {
		return
	}
	if f.kind.Patient() {
		f.armed = true
		return
	}
	f.strike()
}

// changes records that the fault strikes or is over. What nodes hear of each other may change
// by that, if all groups of what it concerns have nodes: a way has two ends.
func (f *faultState) changes(ev trace.Event) {
	f.w.emit(ev)
	if !slices.ContainsFunc(f.Targets, func(group []string) bool {
		return !slices.ContainsFunc(group, func(name string) bool { return f.w.byName[name].host() != nil })
	}) {
		f.w.attend()
	}
}

// strike begins the fault, once.
func (f *faultState) strike() {
	if f.struck {
		return
	}
	f.struck = true
	f.ending = f.planned
	f.changes(trace.Event{
		Kind: trace.KindStrike, Fault: f.number, Text: f.fault.Text, Instant: f.kind.Instant,
		Lifts: !f.kind.Instant && (f.fault.For > 0 || !f.fault.Until.IsZero()),
	})
	f.fault.strike(f.w, f)
	if f.fault.For == 0 {
		return
	}
	f.ending = true
	if f.fault.ByClockOf == "" {
		f.w.at(f.w.now()+f.fault.For, f.lift)
		return
	}
	clock := f.w.byName[f.fault.ByClockOf].clock
	due := clock.Now().Add(f.fault.For)
	clock.OnChange(func(string) { f.plan(clock, due) })
	f.plan(clock, due)
}

// plan ends the fault when a wall clock says so. Each plan takes the place of
// the one before.
func (f *faultState) plan(clock *fakeclock.Fake, due time.Time) {
	f.plans++
	plan := f.plans
	if at, ok := clock.NextWall(due); ok {
		f.w.at(at, func() {
			if plan == f.plans {
				f.lift()
			}
		})
	}
}

// inVain says that the fault found nothing to act on.
func (f *faultState) inVain(why string) {
	f.vain = true
	if f.Idle == "" {
		f.Idle = why
	}
}

// keptBack says whether a fault that is going to end keeps a request to the
// storage back, which may then still take effect though every client is done.
func (w *World) keptBack() bool {
	ends := func(f *faultState) bool { return f.ending && !f.lifted }
	if !slices.ContainsFunc(w.faults, ends) {
		return false
	}
	inTheStorage := func(f *faultState) bool { _, request := f.kept.(*serving); return ends(f) && request }
	if slices.ContainsFunc(w.faults, inTheStorage) {
		return true
	}
	onTheWay := func(p *process) bool { return p.role == trace.RoleStorage || p.role == trace.RoleService }
	return slices.ContainsFunc(w.processes, func(p *process) bool { return onTheWay(p) && len(p.backlog) > 0 }) ||
		slices.ContainsFunc(w.conns, func(c *conn) bool {
			return onTheWay(c.serverProcess) && slices.ContainsFunc(c.up.queue, func(m *message) bool { return m.signal == data })
		})
}

// lift ends the fault, once, if it has begun and has an end.
func (f *faultState) lift() {
	if !f.struck || f.lifted || f.kind.Instant {
		return
	}
	f.lifted = true
	if f.vain {
		return
	}
	f.changes(trace.Event{Kind: trace.KindLift, Fault: f.number, Text: f.fault.Text})
	f.fault.Action.(lifter).lift(f.w, f)
}

// finish says, at the end of the run, whether the fault acted.
func (f *faultState) finish() {
	switch {
	case f.Idle != "":
	case f.struck && !f.lifted && !f.fault.Until.IsZero():
		f.Idle = fmt.Sprintf("its end never came: %s", f.fault.Until)
	case f.struck:
	case f.armed:
		f.Idle = "what it waits for never happened"
	default:
		f.Idle = fmt.Sprintf("its moment never came: %s", f.fault.Strikes)
	}
}

// Course says when the fault is to strike and to end: "before client-1 write, until
// client-2 released".
func (f Fault) Course() string {
	words := f.Strikes.String()
	switch {
	case !f.Until.IsZero():
		words += ", until " + f.Until.String()
	case f.For > 0:
		words += ", for " + f.For.String()
		if f.ByClockOf != "" {
			words += " by the clock of " + f.ByClockOf
		}
	}
	return words
}

// checkFault refuses a fault that cannot run.
func checkFault(f Fault, t Topology) error {
	if _, ok := KindOf(f.Action); !ok {
		return fmt.Errorf("%T is of no registered kind", f.Action)
	}
	if f.For < 0 || f.Strikes.At < 0 {
		return errors.New("times must not be negative")
	}
	if f.ByClockOf != "" {
		if f.For == 0 {
			return errors.New("by-clock-of: there is no time to measure")
		}
		if err := t.process("by-clock-of", f.ByClockOf); err != nil {
			return err
		}
	}
	return f.check(t)
}

// Check refuses parameters that make no sense in a world.
func (f Fault) Check(t Topology) error { return f.check(t) }

// positive refuses a duration that is not, or that is absurd.
func positive(field string, d time.Duration) error {
	switch {
	case d <= 0:
		return fmt.Errorf("%s: must be a positive duration such as 5s", field)
	case d > 365*24*time.Hour:
		return fmt.Errorf("%s: %v is more than a year", field, d)
	}
	return nil
}
