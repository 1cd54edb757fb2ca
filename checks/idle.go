package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// DoubtIfIdle makes the verdict unknown if nothing was at stake in the run because no client
// acquired the lock. In an unscripted run, nothing was at stake either if no client wrote although
// some client was to write. Such a run violates no property of the data, whatever the lock does.
// Call it only if the scenario was changed or runs with another lock. The author of an unchanged
// scenario may intend that no client is granted the lock.
func (v *Verdict) DoubtIfIdle(runHistory *history.History) {
	h := &judgedRun{runHistory}
	if reason := h.idle(); len(v.Reasons) == 0 && !reason.IsZero() {
		v.Reasons = append(v.Reasons, reason)
		v.decide()
	}
}

// idle returns why nothing was at stake in a run; the zero Reason if something was.
func (h *judgedRun) idle() Reason {
	isToWrite := func(p trace.ProcessInfo) bool { return p.Writes > 0 }
	triesToWrite := func(c *history.Call) bool { return c.Step == trace.Write && c.Began != nil }
	switch {
	case slices.ContainsFunc(h.Calls(), triesToWrite): // perhaps without the lock: some clients go ahead when it is refused
		return Reason{}
	case len(h.Trace.Locks) > 0 && len(h.Sections()) == 0:
		return nobodyEntered.Reason()
	case h.Trace.Unscripted && slices.ContainsFunc(h.Trace.Processes, isToWrite):
		return nobodyWrote.Reason()
	}
	return Reason{}
}

// IsIdle reports whether the verdict is unknown because nothing was at stake; see
// [Verdict.DoubtIfIdle]. A violation in such a run, for example of [Progress], is certain.
func (v *Verdict) IsIdle() bool {
	return len(v.Reasons) > 0 && (v.Reasons[0].Code == Code(nobodyEntered) || v.Reasons[0].Code == Code(nobodyWrote))
}
