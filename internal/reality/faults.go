package reality

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A fault is one fault in the course of a run.
type fault struct {
	trace.FaultInfo
	r               *run
	fault           sim.Fault
	number          int
	armed           bool // the trigger was reached, and the fault now waits for a message or a request
	struck, lifted  bool
	willEnd         bool // the fault has struck, and the time of its end is known
	endPlanned      bool // the delay before the end of the fault has begun
	matched         int  // messages or requests that the fault's rule has matched
	heldBack        *message
	stalled         *request
	isVain, instant bool // isVain: it had no effect; instant: it has no duration
}

// newFault prepares a fault; i counts from 0.
func newFault(r *run, i int, f sim.Fault) *fault {
	kind, _ := sim.KindOf(f.Action)
	created := &fault{FaultInfo: r.trace.Faults[i], r: r, fault: f, number: i + 1, instant: kind.Instant}
	if !f.Strikes.When.IsZero() {
		r.onPoint(f.Strikes.When, created.trigger)
	}
	r.onPoint(f.Until, created.lift, func() { created.endPlanned, created.willEnd = true, created.struck })
	return created
}

// strikeBefore triggers the faults that strike before a client's step. nth says how many
// times the client has reached that step.
func (r *run) strikeBefore(client string, step trace.Step, nth int) {
	for _, f := range r.faults {
		b := f.fault.Strikes.Before
		if b.Client == client && b.Step == step && max(b.Nth, 1) == nth {
			f.trigger()
		}
	}
}

// trigger is called when the fault's time or point is reached. A patient fault then begins to wait
// for a message or a request; any other fault strikes.
func (f *fault) trigger() {
	switch {
	case f.armed || f.struck:
	case f.isPatient():
		f.armed = true
	default:
		f.strike()
	}
}

// isPatient reports whether the fault waits for a message or a request.
func (f *fault) isPatient() bool {
	kind, _ := sim.KindOf(f.fault.Action)
	return kind.IsPatient()
}

// strike begins the fault, once.
func (f *fault) strike() {
	if f.struck {
		return
	}
	f.struck, f.willEnd = true, f.endPlanned || f.fault.For > 0
	f.r.emit(trace.Event{
		Kind: trace.KindStrike, Fault: f.number, Text: f.fault.Text, Instant: f.instant,
		HasEnd: !f.instant && (f.fault.For > 0 || !f.fault.Until.IsZero()),
	})
	f.act()
	if f.fault.For > 0 {
		f.r.after(f.fault.For, f.lift)
	}
}

// act begins the fault's effect.
func (f *fault) act() {
	r := f.r
	switch a := f.fault.Action.(type) {
	case *sim.Pause:
		if !r.process(a.Process).pause(f) {
			f.markVain(a.Process + " was down when it was to be paused")
		}
	case *sim.CrashFault:
		r.process(a.Process).crash(cmp.Or(a.How, trace.Kill))
	case *sim.Partition:
		r.eachLink(a.Direction, a.Process, a.From, func(l *link) { l.cuts++ })
	case *sim.Delay:
		r.eachLink(a.Direction, a.Process, []string{a.To}, func(l *link) { l.delay += a.By })
	case *sim.Hold:
		ev := f.heldBack.event
		ev.Kind = trace.KindHold
		r.emit(ev)
	case *sim.Stall:
		ev := f.stalled.describe(trace.KindStall)
		ev.Fault = f.number
		r.emit(ev)
	case *sim.Reset:
		r.resetBetween(a.Process, a.From)
	case *sim.Jump:
		r.process(a.Process).(clockSetter).jump(a.By)
	}
}

// lift ends the fault, once. It does nothing if the fault has not struck, or is instant.
func (f *fault) lift() {
	if !f.struck || f.lifted || f.instant {
		return
	}
	f.lifted = true
	if f.isVain {
		return
	}
	r := f.r
	r.emit(trace.Event{Kind: trace.KindLift, Fault: f.number, Text: f.fault.Text})
	switch a := f.fault.Action.(type) {
	case *sim.Pause:
		r.process(a.Process).resume(f)
	case *sim.CrashFault:
		r.process(a.Process).restart()
	case *sim.Partition:
		r.eachLink(a.Direction, a.Process, a.From, func(l *link) { l.cuts-- })
	case *sim.Delay:
		r.eachLink(a.Direction, a.Process, []string{a.To}, func(l *link) { l.delay -= a.By })
	case *sim.Hold:
		f.heldBack.isHeld = false
	case *sim.Stall:
		f.stalled.isStalled = false
	}
}

// markVain records that the fault struck in vain.
func (f *fault) markVain(why string) {
	f.isVain = true
	if f.IdleReason == "" {
		f.IdleReason = why
	}
}

// finish records, at the end of the run, why a fault had no effect, if it had none.
func (f *fault) finish() {
	switch {
	case f.IdleReason != "":
	case f.struck && !f.lifted && !f.instant && !f.fault.Until.IsZero():
		f.IdleReason = fmt.Sprintf("it did not end, because this moment never came: %s", f.fault.Until)
	case f.struck:
	case f.armed:
		f.IdleReason = "what it waits for never happened"
	default:
		f.IdleReason = fmt.Sprintf("it did not begin, because this moment never came: %s", f.fault.Strikes)
	}
}

// intercept shows a message or a request, which ev describes, to the faults that wait for one. The
// first fault that selects it holds it back.
func (r *run) intercept(kind trace.Kind, ev trace.Event, held any) {
	for _, f := range r.faults {
		if !f.armed || f.struck || f.lifted {
			continue
		}
		switch a := f.fault.Action.(type) {
		case *sim.Hold:
			m, isMessage := held.(*message)
			if kind != trace.KindSend || !isMessage || !a.Message.Selects(&ev) {
				continue
			}
			if f.matched++; f.matched >= max(a.Message.Nth, 1) && !m.isHeld {
				f.heldBack, m.isHeld = m, true
				f.strike()
			}
		case *sim.Stall:
			q, isRequest := held.(*request)
			if kind != trace.KindStall || !isRequest || ev.Client() != a.Client || ev.Step != cmp.Or(a.Step, trace.Write) || q.isStalled {
				continue
			}
			f.stalled, q.isStalled = q, true
			f.strike()
		}
	}
}

// holdsBackRequest reports whether the end of the run must wait, because a request to the storage
// will still be served: no fault holds it back, or a fault that acts now will end.
func (r *run) holdsBackRequest() bool {
	ends := func(f *fault) bool { return f.willEnd && !f.lifted }
	return r.storage.hasRequests() && (slices.ContainsFunc(r.faults, ends) || !r.storage.isHeldUp())
}

// eachLink calls do for each link between process and one of others on which a fault with the
// direction d acts.
func (r *run) eachLink(d sim.Direction, process string, others []string, do func(*link)) {
	for _, other := range others {
		if d != sim.From {
			do(r.linkBetween(process, other))
		}
		if d != sim.To {
			do(r.linkBetween(other, process))
		}
	}
}

// A process is what a fault can stop and end.
type process interface {
	// pause stops the process until every fault that has stopped it has resumed it. It
	// returns false if the process is down.
	pause(*fault) bool
	resume(*fault)
	crash(trace.Crash)
	// restart starts a server again. A client stays down.
	restart()
}

// process returns a process by name. [Check] has made sure that it exists.
func (r *run) process(name string) process {
	for _, c := range r.clients {
		if c.cfg.Name == name {
			return c
		}
	}
	for _, n := range r.nodes {
		if n.cfg.Name == name {
			return n
		}
	}
	return r.storage
}
