package sim

import "github.com/locksim/locksim/trace"

// A rule selects the message or request that a fault holds back until the fault is lifted:
// the first that matches, or the nth.
type rule struct {
	// kind is what the rule applies to: messages being sent, or requests that stop in the
	// storage.
	kind    trace.Kind
	nth     int
	matches func(*trace.Event) bool
}

// An interceptor is an action with a rule. From the fault's moment on it waits for a match
// of the rule, and strikes then.
type interceptor interface {
	Action
	rule() rule
}

// An interceptable is something that a fault can hold back: a message in flight, or a
// request that is being served.
type interceptable interface {
	// describe returns an event of some kind about it.
	describe(trace.Kind) trace.Event
	// halt holds it back, and returns false if a fault already holds it back. proceed lets
	// it continue.
	halt() bool
	proceed()
}

// intercept checks p against the rules of all faults for this kind of event. It reports
// whether a fault holds p back now.
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
		// Something that another fault already holds back is counted, but cannot be held
		// back twice.
		if f.matched++; f.matched >= max(r.nth, 1) && p.halt() {
			f.kept, halted = p, true
			f.strike()
		}
	}
	return halted
}

// releaseKept lets the message or request that the fault holds back continue.
func (f *faultState) releaseKept() {
	kept := f.kept
	f.kept = nil
	kept.proceed()
}
