package checks

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// cutOff returns why a run ended too early to say that nothing went wrong; it returns the zero
// Reason if the run did not. A fault that lasts longer than the run, or work that does, is a
// mistake in every scenario. Clients that still wait for a lock, or for its answer, can be what a
// scenario is about. So they cast doubt only on an unscripted run: a change can make it last longer
// than the scenario's author had allowed for.
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
	// All faults that have an end have ended, so a client that is paused is paused for good.
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

// isDue reports whether the delay of a point was running when the run was cut off at end:
// its event had happened, as the start of the run always has.
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
	// last is the call that ended last, and refused the acquire that failed last; nil if
	// there is none.
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

// onlyWaits reports whether a client did nothing but wait: for the lock, for its next
// attempt, or for an answer of the storage although a fault without an end struck the
// client or its links. A client that waits for its next period will do its job then.
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

// haveWaited reports whether a client that waits has done so in vain for long enough. Its
// open calls have lasted that long since the last change, or its last attempt failed that
// long after it.
func (c *clientCalls) haveWaited(enough, change, end time.Duration) bool {
	if c.refused != nil && c.refused.Ended.At-change >= enough {
		return true
	}
	return len(c.open) > 0 && !slices.ContainsFunc(c.open, func(call *history.Call) bool {
		return end-max(change, call.Began.At) < enough
	})
}

// lastChange returns when something last changed for a client that waits for a lock: a
// fault acted, or a client was granted the lock or took another step of its section. An
// acquire that failed changes nothing, nor does an extension that the lock made by itself.
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

// hopeTime returns for how long a client that waits for a lock may still be granted it,
// although nothing happens: the grant of a crashed holder may last, and some servers end a
// session only after twice its TTL and a delay.
func (h *judgedRun) hopeTime() time.Duration {
	hope := maxCallTime
	for _, lock := range h.Trace.Locks {
		hope = max(hope, 3*lock.TTL)
	}
	return hope
}

// judgeCutOff applies the reason of cutOff, if there is one. What was violated before stays
// violated, but a client that was still at work does not show that the lock is stuck.
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
