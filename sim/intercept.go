package sim

import "github.com/locksim/locksim/trace"

// A rule says what a fault keeps that passes by, until the fault is lifted: the first
// that it holds, or the nth.
type rule struct {
	// at is what passes: what is sent, or stops in the storage.
	at    trace.Kind
	nth   int
	holds func(*trace.Event) bool
}

// An interceptor is an action that brings a rule along. From the fault's moment on it
// waits for what the rule holds, and strikes then.
type interceptor interface {
	Action
	rule() rule
}

// A passer is what a rule can keep: a message on its way, or a request in the middle of
// being served.
type passer interface {
	// tells is an event of some kind about it.
	tells(trace.Kind) trace.Event
	// halt keeps it, if nothing keeps it yet, and goOn lets it go.
	halt() bool
	goOn()
}

// intercept has a rule keep what passes by, and reports whether one did. at is what the
// rules are about.
func (w *World) intercept(at trace.Kind, p passer) bool {
	halted := false
	for _, f := range w.faults {
		brings, ok := f.fault.Action.(interceptor)
		if !ok || !f.armed || f.struck {
			continue
		}
		r := brings.rule()
		if r.at != at {
			continue
		}
		if ev := p.tells(at); !r.holds(&ev) {
			continue
		}
		// What another fault keeps already counts, but cannot be kept twice.
		if f.passed++; f.passed >= max(r.nth, 1) && p.halt() {
			f.kept, halted = p, true
			f.strike()
		}
	}
	return halted
}

// letGo lets what the fault has kept go on.
func (f *faultState) letGo() {
	kept := f.kept
	f.kept = nil
	kept.goOn()
}
