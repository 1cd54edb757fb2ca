package sim

import "github.com/locksim/locksim/trace"

// A rule selects the message or request that a fault holds back until the fault is lifted: the
// first for which matches returns true, or the nth such message or request if nth is more than 1.
type rule struct {
	// kind is [trace.KindSend] for messages that are sent, or [trace.KindStall] for
	// requests that the storage serves.
	kind    trace.Kind
	nth     int
	matches func(*trace.Event) bool
}

// An interceptor is an action with a rule. From the fault's trigger on it waits for the
// message or request that the rule selects, and then strikes.
type interceptor interface {
	Action
	rule() rule
}

// An interceptable is something that a fault can hold back: a message in flight, or a
// request that is being served.
type interceptable interface {
	// describe returns an event of a kind about the message or request.
	describe(trace.Kind) trace.Event
	// halt holds the message or request back. It returns false if a fault already holds it
	// back. proceed lets it continue.
	halt() bool
	proceed()
}

// intercept checks the message or request p against the rules of all faults that wait for this
// kind of event. It reports whether a fault has begun to hold p back.
func (w *World) intercept(kind trace.Kind, p interceptable) bool {
	halted := false
	for _, f := range w.faults {
		action, ok := f.fault.Action.(interceptor)
		if !ok || !f.armed || f.struck {
			continue
		}
		r := action.rule()
		if r.kind != kind {
			continue
		}
		if ev := p.describe(kind); !r.matches(&ev) {
			continue
		}
		// If another fault already holds p back, p counts as a match, but cannot be held
		// back twice.
		if f.matched++; f.matched >= max(r.nth, 1) && p.halt() {
			f.heldBack, halted = p, true
			f.strike()
		}
	}
	return halted
}

// releaseHeldBack releases the message or request that the fault holds back.
func (f *faultState) releaseHeldBack() {
	kept := f.heldBack
	f.heldBack = nil
	kept.proceed()
}
