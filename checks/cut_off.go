package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// cutOff returns why a run ended too early to say that nothing went wrong; the zero Reason if the
// run was long enough. A fault or a client's work that had not ended is a reason in every run. A
// client that still waits for a lock, or for an answer of a lock, can be what a scenario is about.
// So it is a reason only in an unscripted run (see [trace.Trace]): a change of the scenario can
// make the run longer than the author had allowed for.
func (h *judgedRun) cutOff() Reason {
	end := h.Horizon()
	if end == nil {
		return Reason{}
	}
	if faults := h.Unfinished(); len(faults) > 0 {
		return cutOffInFault.Reason(end.At, faults[0])
	}
	if fault := h.pendingFault(end); fault > 0 {
		return cutOffBeforeFault.Reason(end.At, fault)
	}
	// All faults that are meant to end have ended, so a client that is still paused never resumes.
	waiting, clients, change := "", h.unendedCalls(), h.lastChange()
	for _, p := range h.Trace.Processes {
		ended, _ := h.ProcessEnd(p.Name)
		if p.Role != trace.RoleClient || ended != nil || h.isPaused(p.Name) || !p.Awaits.IsZero() && !h.isDue(p.Awaits, end) {
			continue
		}
		switch calls := clients[p.Name]; {
		case calls == nil:
			return cutOffBeforeStart.Reason(end.At, p.Name)
		case calls.areAtWork() || h.Trace.Unscripted && !h.onlyWaits(calls):
			return cutOffAtWork.Reason(end.At, p.Name)
		case waiting == "" && h.Trace.Unscripted && !calls.haveWaited(h.hopeTime(), change, end.At):
			waiting = p.Name
		}
	}
	if waiting != "" {
		return cutOffWaiting.Reason(end.At, waiting)
	}
	return Reason{}
}

// pendingFault returns the number of a fault that had not struck when the run was cut off
// at end, although the time of its strike was known; 0 if there is none.
func (h *judgedRun) pendingFault(end *trace.Event) int {
	for i, f := range h.Trace.Faults {
		isLater := f.Trigger.When.IsZero() && f.Trigger.Before.IsZero() && f.Trigger.At > end.At
		if h.Act(i+1) == nil && !f.NotApplicable && (isLater || h.isDue(f.Trigger.When, end)) {
			return i + 1
		}
	}
	return 0
}

// isDue reports whether the delay of a point was running when the run was cut off at end. With the
// point "5s after client-1 acquired", client-1 had then acquired less than 5s before. The start of
// the run counts as an event for such a point, too.
func (h *judgedRun) isDue(p trace.Point, end *trace.Event) bool {
	for _, c := range p.Alternatives() {
		for _, ev := range h.Occurrences(trace.AnyOf(c)) {
			if c.Delay > 0 && ev.At+c.Delay > end.At {
				return true
			}
		}
	}
	return false
}

// clientCalls are the calls of one client in a run that was cut off.
type clientCalls struct {
	// open are the calls that had not ended.
	open []*history.Call
	// last is the call that ended last, and refused is the failed acquire that ended last. Each is
	// nil if there is none.
	last, refused *history.Call
}

// unendedCalls returns the [clientCalls] of each client that made a call. An extension that the
// lock made by itself is no call of the client.
func (h *judgedRun) unendedCalls() map[string]*clientCalls {
	clients := map[string]*clientCalls{}
	for _, call := range h.Calls() {
		if call.Began == nil {
			continue
		}
		c := clients[call.Client]
		if c == nil {
			c = &clientCalls{}
			clients[call.Client] = c
		}
		if call.Ended == nil {
			c.open = append(c.open, call)
			continue
		}
		if c.last == nil || c.last.Ended.Seq < call.Ended.Seq {
			c.last = call
		}
		if call.Step == trace.Acquire && call.Failed() && (c.refused == nil || c.refused.Ended.Seq < call.Ended.Seq) {
			c.refused = call
		}
	}
	return clients
}

// areAtWork reports whether the client worked on in its critical section, and waited for no
// answer.
func (c *clientCalls) areAtWork() bool {
	return len(c.open) > 0 && !slices.ContainsFunc(c.open, func(call *history.Call) bool { return call.Step != trace.Work })
}

// onlyWaits reports whether a client did nothing but wait for the lock, for its next attempt, or
// for an answer of the storage. A wait for the storage counts only if a fault that still acts
// struck the client or its links. A client that waits for its next period does not count, because
// it will do its job then.
func (h *judgedRun) onlyWaits(c *clientCalls) bool {
	for _, call := range c.open {
		if call.Step != trace.Acquire && !(call.Step.AtStorage() && h.isHindered(call.Client)) {
			return false
		}
	}
	if len(c.open) > 0 {
		return true
	}
	isLastPeriod := h.Trace.Schedule == nil || c.last.Began.Period >= h.Trace.Schedule.Periods
	return c.last == c.refused && isLastPeriod
}

// isPaused reports whether a process was paused when the run ended.
func (h *judgedRun) isPaused(process string) bool {
	return slices.ContainsFunc(h.Spells(), func(s *history.Spell) bool {
		return s.Process == process && s.State == history.Paused && s.Ended == nil
	})
}

// isHindered reports whether a fault that acted at the end of the run had struck a client
// or one of its links.
func (h *judgedRun) isHindered(client string) bool {
	return slices.ContainsFunc(h.Acts(), func(a *history.Act) bool {
		return !a.Instant && a.Lifted == nil && slices.Contains(slices.Concat(h.Fault(a.Fault).Targets...), client)
	})
}

// haveWaited reports whether a waiting client has waited in vain for the time enough since the last
// change, which happened at the time change. Either all its open calls have lasted that long since
// the change, or its last failed attempt ended that long after the change.
func (c *clientCalls) haveWaited(enough, change, end time.Duration) bool {
	if c.refused != nil && c.refused.Ended.At-change >= enough {
		return true
	}
	return len(c.open) > 0 && !slices.ContainsFunc(c.open, func(call *history.Call) bool {
		return end-max(change, call.Began.At) < enough
	})
}

// lastChange returns when something last changed for a client that waits for a lock: a fault struck
// or ended, a client was granted the lock, or a client took another step of its section. An acquire
// that failed changes nothing, nor does an extension that the lock made by itself.
func (h *judgedRun) lastChange() (last time.Duration) {
	if fault := h.LastFault(); fault != nil {
		last = fault.At
	}
	for _, call := range h.Calls() {
		if call.Began == nil || call.Step == trace.Acquire && !call.OK() {
			continue
		}
		if last = max(last, call.Began.At); call.Ended != nil {
			last = max(last, call.Ended.At)
		}
	}
	return last
}

// hopeTime returns how long a client that waits for a lock may have to wait before it is granted,
// although nothing else happens. The grant of a crashed holder may still exist, and some servers
// end a session only after twice its TTL and a delay.
func (h *judgedRun) hopeTime() time.Duration {
	hope := maxCallTime
	for _, lock := range h.Trace.Locks {
		hope = max(hope, 3*lock.TTL)
	}
	return hope
}

// judgeCutOff applies the reason that cutOff returned; it does nothing if that is zero. A violation
// stays a violation, with one exception: if [Progress] is violated because a client never ended, it
// becomes unknown. The client was still at work, which does not show that the lock is stuck.
func (v *Verdict) judgeCutOff(why Reason) {
	if why.IsZero() {
		return
	}
	for i := range v.Findings {
		if f := &v.Findings[i]; f.Property == Progress && f.Outcome == Violated && f.Reason.Code == Code(neverEnded) {
			*f = unknown(why)
			f.Property = Progress
		}
	}
	if !slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Property.IsData() && f.Outcome == Violated }) {
		v.Reasons = append(v.Reasons, why)
	}
}
