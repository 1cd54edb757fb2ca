package sim

import "github.com/locksim/locksim/trace"

// A rule says which message or request a fault keeps until the fault is lifted: the first
// that matches, or the nth.
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

// An interceptable is what a rule can keep: a message on its way, or a request in the
// middle of being served.
type interceptable interface {
	// describe returns an event of some kind about it.
	describe(trace.Kind) trace.Event
	// halt keeps it, and reports false if a fault keeps it already. proceed lets it
	// continue.
	halt() bool
	proceed()
}

// intercept lets the faults' rules for a kind of event keep p, and reports whether one did.
func (w *World) intercept(at trace.Kind, p interceptable) bool {
	halted := false
	for _, f := range w.faults {
		action, ok := f.fault.Action.(interceptor)
		if !ok || !f.armed || f.struck {
			continue
		}
		r := action.rule()
		if r.kind != at {
			continue
		}
		if ev := p.describe(at); !r.matches(&ev) {
			continue
		}
		// Something that another fault already keeps is counted, but cannot be kept twice.
		if f.matched++; f.matched >= max(r.nth, 1) && p.halt() {
			f.kept, halted = p, true
			f.strike()
		}
	}
	return halted
}

// releaseKept lets what the fault has kept continue.
func (f *faultState) releaseKept() {
	kept := f.kept
	f.kept = nil
	kept.proceed()
}
