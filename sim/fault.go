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

// An Action is what a fault does to the world. It is a pointer to a struct with the fault's
// parameters, which a scenario sets by their yaml tags. File parameters.go describes the
// roles of the parameters. [FaultKind] describes a kind of fault to other packages.
//
// Actions are in this package because they change private parts of the world. To add a kind
// of fault, write one file with its action, which registers its card.
type Action interface {
	// check returns an error if the parameters make no sense in a world, such as the name
	// of a process that does not exist.
	check(Topology) error
	// strike begins the fault's effect.
	strike(*World, *faultState)
}

// A lifter is an action whose effect has an end: lift ends it.
type lifter interface {
	Action
	lift(*World, *faultState)
}

// Topology is what the check of a fault's parameters needs to know about the world.
type Topology struct {
	Clients  map[string]bool
	Nodes    map[string]Node
	Services map[string]bool
	Lock     locks.Kind
	// InCluster reports that there is no storage process: see [Storage].
	InCluster bool
}

// checkProcess returns an error if name is not the name of a process. field is the parameter in
// which the name is written.
func (t Topology) checkProcess(field, name string) error {
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

// names returns the names of all processes, in alphabetical order.
func (t Topology) names() []string {
	names := slices.Concat(slices.Collect(maps.Keys(t.Clients)), slices.Collect(maps.Keys(t.Nodes)), slices.Collect(maps.Keys(t.Services)))
	if !t.InCluster {
		names = append(names, trace.StorageName)
	}
	slices.Sort(names)
	return names
}

// checkClient returns an error if name is not the name of a client. The error ends with
// "name the client whose" and aspect, which says what the fault acts on.
func (t Topology) checkClient(field, name, aspect string) error {
	err := t.checkProcess(field, name)
	if err == nil && !t.Clients[name] {
		err = fmt.Errorf("%s: %s is not a client; name the client whose %s", field, name, aspect)
	}
	return err
}

// lookupNode returns a node and its system, or an error like that of checkClient.
func (t Topology) lookupNode(field, name, aspect string) (Node, System, error) {
	node, is := t.Nodes[name]
	err := t.checkProcess(field, name)
	if err == nil && !is {
		err = fmt.Errorf("%s: %s is not a node; name the node whose %s", field, name, aspect)
	}
	system, _ := LookupSystem(node.System)
	return node, system, err
}

// UnknownProcess is the error of a fault that names a process which does not exist.
type UnknownProcess struct {
	Field, Name string
	Known       []string
}

func (e *UnknownProcess) Error() string {
	return fmt.Sprintf("%s: there is no process %q; there are %s", e.Field, e.Name, strings.Join(e.Known, ", "))
}

// faultState is the state of one fault in the course of a run.
type faultState struct {
	trace.FaultInfo
	w      *World
	fault  Fault
	kind   FaultKind
	number int
	armed  bool // a patient fault has reached its trigger and waits
	struck bool
	lifted bool
	isVain bool // the fault struck and found nothing to act on
	// endPlanned reports that the time of the fault's end is known, perhaps before the
	// fault has struck. willEnd reports that the fault has struck and that the time of its
	// end is known.
	endPlanned, willEnd bool
	planCount           int // number of calls of plan, of which only the latest has an effect
	// matched counts the messages or requests that the fault's [rule] has matched. heldBack is the
	// message or request that the fault holds back, or nil.
	matched  int
	heldBack interceptable
}

// armFault prepares a fault: when the points at which it strikes and ends are reached, the world
// calls trigger and lift. number counts the faults from 1.
func (w *World) armFault(number int, fault Fault) {
	f := &faultState{w: w, fault: fault, number: number}
	f.kind, _ = KindOf(fault.Action)
	f.FaultInfo = w.trace.Faults[number-1]
	f.IdleReason = w.idleReason(fault)
	f.NotApplicable = f.IdleReason != ""
	w.faults = append(w.faults, f)
	if !fault.Strikes.When.IsZero() {
		w.onPoint(fault.Strikes.When, f.trigger)
	}
	w.onPoint(fault.Until, f.lift, func() { f.endPlanned, f.willEnd = true, f.struck })
}

// Info describes the fault for a trace. It leaves out the assumption that the fault breaks
// and whether the fault acted, because these depend on the world.
func (f Fault) Info() trace.FaultInfo {
	info := trace.FaultInfo{
		Text: f.Text, Timing: f.Course(), Kind: f.Kind(), Effect: f.Effect(), Targets: f.Targets(),
		Trigger: f.Strikes, Duration: f.For, Phrases: f.Manner().Phrases,
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

// Topology returns what the check of a fault needs to know about the world.
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

// brokenAssumption returns the assumption that the fault breaks. For a crash it depends on
// the role of the process: a crash of the storage breaks storage memory, a crash of a node
// or service breaks lock memory.
func (f Fault) brokenAssumption(t Topology) trace.Assumption {
	switch isCrash := f.Effect() == trace.KillsProcess; {
	case isCrash && f.Target() == trace.StorageName:
		return trace.AssumeStorageMemory
	case isCrash && !t.Clients[f.Target()]:
		return trace.AssumeLockMemory
	}
	return f.Effect().Breaks()
}

// idleReason returns why a fault cannot have an effect on the lock of this world, or "" if
// it can.
func (w *World) idleReason(fault Fault) string {
	if len(w.trace.Locks) == 0 {
		return ""
	}
	for _, group := range fault.Targets() {
		if len(group) > 0 && !slices.ContainsFunc(group, w.takesPart) && !w.hasActingTwin(fault) {
			return fmt.Sprintf("it cannot act on the lock, which keeps nothing on %s", strings.Join(group, " or "))
		}
	}
	if e := fault.Effect(); e == trace.SetsClock || e == trace.DriftsClock {
		if p := w.byName[fault.Target()]; p.role == trace.RoleClient && !w.cfg.Lock.Kind.OwnClock && !w.cfg.Lock.Kind.ReadsClock && !w.cfg.Tokens.Source.OwnClock && w.cfg.schedule() == nil {
			return fmt.Sprintf("it cannot act on the lock, which reads true time and not %s's clock", p.name)
		}
	}
	return ""
}

// hasActingTwin reports whether another fault of the same kind strikes, at the same moment, a
// node that takes part. For example, a power loss may strike all servers, of which only one
// keeps the lock. The faults of the other servers belong to that power loss, so they are not
// reported as idle.
func (w *World) hasActingTwin(fault Fault) bool {
	return slices.ContainsFunc(w.cfg.Faults, func(o Fault) bool {
		return o.Kind() == fault.Kind() && o.Strikes.Equal(fault.Strikes) && w.byName[o.Target()].host() != nil && w.takesPart(o.Target())
	})
}

// takesPart reports whether a fault at a process can affect the lock or the data. A node
// takes part if it keeps a lock, is a replica of such a node, counts tokens, or keeps the
// data. Every process that is no node takes part.
func (w *World) takesPart(name string) bool {
	p := w.byName[name]
	if p == nil || p.role != trace.RoleNode {
		return true
	}
	cfg := p.host().cfg
	if w.cfg.countsTokens(cfg) || w.cfg.Storage.InCluster && p.host().system.Name == w.cfg.Lock.Kind.System {
		return true
	}
	return slices.ContainsFunc(w.trace.Locks, func(l trace.LockInfo) bool {
		return slices.Contains(l.Members, name) || slices.ContainsFunc(l.Slots, func(s trace.SlotInfo) bool { return s.Node == name || s.Node == cfg.ReplicaOf })
	})
}

// strikeInitial triggers the faults that strike at the start, and schedules the faults that
// strike at a given time.
func (w *World) strikeInitial() {
	for _, f := range w.faults {
		s := f.fault.Strikes
		switch {
		case !s.When.IsZero() || !s.Before.IsZero():
		case s.At == 0:
			f.trigger()
		default:
			w.schedule(s.At, f.trigger)
		}
	}
}

// strikeBefore triggers the faults that strike before a client's step. nth says how many
// times the client has reached that step.
func (w *World) strikeBefore(client string, step trace.Step, nth int) {
	for _, f := range w.faults {
		b := f.fault.Strikes.Before
		if b.Client == client && b.Step == step && max(b.Nth, 1) == nth {
			f.trigger()
		}
	}
}

// trigger is called when the fault's time or point is reached. A patient fault, which strikes at a
// certain message or request, then begins to wait for it; any other fault strikes.
func (f *faultState) trigger() {
	if f.armed || f.struck {
		return
	}
	if f.kind.IsPatient() {
		f.armed = true
		return
	}
	f.strike()
}

// recordChange records that the fault strikes or ends. If each group of its [Fault.Targets]
// contains a node, recordChange also notifies the [Attentive] servers, because nodes may have
// become reachable or unreachable for each other.
func (f *faultState) recordChange(ev trace.Event) {
	f.w.emit(ev)
	if !slices.ContainsFunc(f.Targets, func(group []string) bool {
		return !slices.ContainsFunc(group, func(name string) bool { return f.w.byName[name].host() != nil })
	}) {
		f.w.notifyAttentive()
	}
}

// strike begins the fault, once.
func (f *faultState) strike() {
	if f.struck {
		return
	}
	f.struck = true
	f.willEnd = f.endPlanned
	f.recordChange(trace.Event{
		Kind: trace.KindStrike, Fault: f.number, Text: f.fault.Text, Instant: f.kind.Instant,
		HasEnd: !f.kind.Instant && (f.fault.For > 0 || !f.fault.Until.IsZero()),
	})
	f.fault.strike(f.w, f)
	if f.fault.For == 0 {
		return
	}
	f.willEnd = true
	if f.fault.ByClockOf == "" {
		f.w.schedule(f.w.now()+f.fault.For, f.lift)
		return
	}
	clock := f.w.byName[f.fault.ByClockOf].clock
	due := clock.Now().Add(f.fault.For)
	clock.OnChange(func(string) { f.plan(clock, due) })
	f.plan(clock, due)
}

// plan makes the fault end when a wall clock reads due. plan is called again when the clock has
// changed, and each call replaces the previous plan.
func (f *faultState) plan(clock *fakeclock.Fake, due time.Time) {
	f.planCount++
	number := f.planCount
	if at, ok := clock.NextWall(due); ok {
		f.w.schedule(at, func() {
			if number == f.planCount {
				f.lift()
			}
		})
	}
}

// markIneffective records that the fault struck in vain, because it found nothing to act on.
func (f *faultState) markIneffective(why string) {
	f.isVain = true
	if f.IdleReason == "" {
		f.IdleReason = why
	}
}

// holdsBackRequest reports whether a request to the storage is held back, and a fault that will end
// may release it. Even if every client is done, the run must not end before that, because the
// request may still take effect.
func (w *World) holdsBackRequest() bool {
	ends := func(f *faultState) bool { return f.willEnd && !f.lifted }
	if !slices.ContainsFunc(w.faults, ends) {
		return false
	}
	stallsRequest := func(f *faultState) bool { _, request := f.heldBack.(*servedRequest); return ends(f) && request }
	if slices.ContainsFunc(w.faults, stallsRequest) {
		return true
	}
	leadsToStorage := func(p *process) bool { return p.role == trace.RoleStorage || p.role == trace.RoleService }
	return slices.ContainsFunc(w.processes, func(p *process) bool { return leadsToStorage(p) && len(p.backlog) > 0 }) ||
		slices.ContainsFunc(w.conns, func(c *conn) bool {
			return leadsToStorage(c.serverProcess) && slices.ContainsFunc(c.toServer.queue, func(m *message) bool { return m.signal == dataSignal })
		})
}

// lift ends the fault, once. It does nothing if the fault has not struck, or is instant.
func (f *faultState) lift() {
	if !f.struck || f.lifted || f.kind.Instant {
		return
	}
	f.lifted = true
	if f.isVain {
		return
	}
	f.recordChange(trace.Event{Kind: trace.KindLift, Fault: f.number, Text: f.fault.Text})
	f.fault.Action.(lifter).lift(f.w, f)
}

// finish records, at the end of the run, why a fault did not act as the scenario says, if it did
// not.
func (f *faultState) finish() {
	switch {
	case f.IdleReason != "":
	case f.struck && !f.lifted && !f.fault.Until.IsZero():
		f.IdleReason = fmt.Sprintf("it did not end, because this moment never came: %s", f.fault.Until)
	case f.struck:
	case f.armed:
		f.IdleReason = "what it waits for never happened"
	default:
		f.IdleReason = fmt.Sprintf("it did not begin, because this moment never came: %s", f.fault.Strikes)
	}
}

// Course describes when the fault strikes and when it ends, such as "before client-1 write,
// until client-2 released".
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

// checkFault returns an error if the fault's kind, times or parameters are invalid.
func checkFault(f Fault, t Topology) error {
	if _, ok := KindOf(f.Action); !ok {
		return fmt.Errorf("%T is of no registered kind", f.Action)
	}
	if f.For < 0 || f.Strikes.At < 0 {
		return errors.New("times must not be negative")
	}
	if f.ByClockOf != "" {
		if f.For == 0 {
			return errors.New("by-clock-of: the fault has no duration to measure; write for, too")
		}
		if err := t.checkProcess("by-clock-of", f.ByClockOf); err != nil {
			return err
		}
	}
	return f.check(t)
}

// Check returns an error if the parameters of the fault's action make no sense in a world.
func (f Fault) Check(t Topology) error { return f.check(t) }

// checkPositive returns an error if a duration is not positive, or is longer than a year.
func checkPositive(field string, d time.Duration) error {
	switch {
	case d <= 0:
		return fmt.Errorf("%s: must be a positive duration such as 5s", field)
	case d > 365*24*time.Hour:
		return fmt.Errorf("%s: %v is more than a year", field, d)
	}
	return nil
}
