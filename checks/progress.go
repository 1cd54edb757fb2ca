package checks

import (
	"slices"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Progress is violated when, after the last fault, no client that wants the lock completes a
// critical section within the scenario's time limit. The time limit begins with the last event with
// which any fault strikes or ends. A client wants the lock if it calls acquire in that time, or if
// it was already waiting for a pending acquire or for its next attempt. A client completes a
// section by calling release after at least one write, if it knows that all its writes were
// applied. A client that never writes completes a section by calling release after at least one
// other step, if no step of the section failed.
//
// A run with a schedule has a job that is to be run once in each period, by whichever client gets
// the lock. In such a run, a client no longer wants the lock when another client has run the job
// for its period. The property does not apply to a run that ended before a temporary fault had
// ended.
//
// Progress is also violated in two cases in which the run was cut off:
//
//   - No client wanted the lock, because a client that held it, or that waited for something else,
//     never ended.
//   - For a minute, since the last fault and since it was called, an acquire has waited for the end
//     of a grant that no client used.
const Progress Property = "progress"

var progress = property{
	Card: Card{
		Property: Progress, Subject: SubjectConduct, Gravity: 10, Letter: "p",
		Title:  "after the last fault, some client gets its work done",
		Broken: "no client gets its work done",
		Label:  "no progress", Meaning: "no client gets its work done after the last fault",
	},
	judge: func(h *judgedRun) Finding {
		f := judgeProgress(h)
		if reason, events := h.findUnreturned(true); !reason.IsZero() { // true: for an unused grant
			if f.Blame != BlameLock {
				f = lockViolation(reason, events)
			}
			f.IsConclusive = true
		}
		return f
	},
}

func judgeProgress(h *judgedRun) Finding {
	if len(h.Trace.Locks) == 0 {
		return notApplicable(noLock.Reason())
	}
	c := newCalmTime(h)
	if len(c.unfinished) > 0 && c.horizon == nil {
		return notApplicable(overBeforeFault.Reason(c.unfinished[0]))
	}
	verdict := notApplicable(nobodyWanted.Reason())
	for _, lock := range c.locks() {
		switch f := c.judge(lock); {
		case f.Outcome == Violated:
			return f
		case f.Outcome == Unknown, (f.Outcome == Holds || f.Reason.Code == Code(allRun)) && verdict.Outcome == NotApplicable:
			verdict = f
		}
	}
	return verdict
}

// calmTime is the time after the last fault. In this time the lock has to work.
type calmTime struct {
	*judgedRun
	from history.Moment
	// fault is the last strike or lift; nil if there was none.
	fault *trace.Event
	// until is the end of the scenario's time limit; [history.Never] is the end of the run.
	until history.Moment
	// horizon is the event with which the run was cut off; nil if it was not.
	horizon *trace.Event
	// unfinished are the temporary faults that had not ended when the run ended.
	unfinished []int
	// acquires are the calls of acquire, in order. next maps each of them to the next acquire of
	// the same client.
	acquires []*history.Call
	next     map[*history.Call]*history.Call
}

// newCalmTime returns the calm time of a run; without faults it is the whole run.
func newCalmTime(h *judgedRun) *calmTime {
	c := &calmTime{
		judgedRun: h, from: history.StartOf(0), until: history.Never,
		fault: h.LastFault(), horizon: h.Horizon(), unfinished: h.Unfinished(), next: map[*history.Call]*history.Call{},
	}
	if c.fault != nil {
		c.from = history.MomentOf(c.fault)
	}
	last := map[string]*history.Call{}
	for _, call := range h.Calls() {
		if call.Step != trace.Acquire || call.Began == nil {
			continue
		}
		if before := last[call.Client]; before != nil {
			c.next[before] = call
		}
		last[call.Client] = call
		c.acquires = append(c.acquires, call)
	}
	// If the run was cut off, a time limit that is not shorter than the run has no effect,
	// because the run ended first.
	if within := h.Trace.ProgressWithin; within > 0 && (c.horizon == nil || within < c.horizon.At) {
		c.until = history.Moment{At: c.from.At + within, Seq: history.Never.Seq}
	}
	return c
}

// locks lists the locks that clients asked for, in the order of the first calls. Locks that a
// client wants now come first. If one of them gets nothing done, that is the reason to report, and
// not that its waiting client still holds another lock.
func (c *calmTime) locks() []string {
	var names []string
	for _, call := range c.acquires {
		if !slices.Contains(names, call.Lock) {
			names = append(names, call.Lock)
		}
	}
	wanted := func(lock string) int { return min(1, len(c.wantingCalls(lock))) }
	slices.SortStableFunc(names, func(a, b string) int { return wanted(b) - wanted(a) })
	return names
}

// judge judges the progress of the clients that want one lock.
func (c *calmTime) judge(lock string) Finding {
	wanting := c.wantingCalls(lock)
	calls := firstOfEach(wanting)
	if len(calls) == 0 {
		if client, step := c.StuckClient(); client != "" {
			f := Finding{
				Outcome: Violated, At: c.horizon.Seq, Events: []int{c.horizon.Seq},
				Reason: neverEnded.Reason(c.horizon.At, client),
			}
			switch canServe := c.CanServe(lock, client); {
			case !canServe:
				f.Reason = c.withSilentServer(client, f.Reason)
			case step == trace.Extend || step == trace.Release:
				f.Reason = c.withReachable(lock, client, f.Reason.And(lockDidNotAnswer.Reason(step)))
				f.Blame, f.Reason = c.blameUnlessRanWhilePaused(BlameLock, f.Reason, f.At, client)
			}
			return f
		}
		return notApplicable(nobodyWanted.Reason())
	}
	clients := clientsOf(calls)
	for _, s := range c.Sections() {
		if s.Lock == lock && slices.Contains(clients, s.Client) && c.from.Before(s.From) &&
			s.Completed() && !c.until.Before(history.Later(history.MomentOf(s.Released), s.LastApplied)) {
			return holds()
		}
	}
	if calls = firstOfEach(c.withoutPeriodsRun(wanting)); len(calls) == 0 {
		return notApplicable(allRun.Reason())
	}
	clients = clientsOf(calls)
	if c.horizon != nil && c.until != history.Never && c.horizon.At < c.until.At {
		return unknown(cutOffTooEarly.Reason(c.horizon.At, c.until))
	}
	end, denied := c.LastUntil(c.until), c.deniedClient(lock, calls)
	shown := calls[max(0, slices.Index(clients, denied))]
	f := Finding{Outcome: Violated, At: end.Seq, Events: []int{shown.Began.Seq, end.Seq}}
	bound := c.until.At // not the time of the last event within it
	if c.until == history.Never {
		bound = end.At
	}
	f.Reason = noProgress.Reason(bound, shown.Client)
	if c.fault != nil {
		f.Reason = noProgressSince.Reason(c.from, bound, shown.Client)
		f.Events = append(f.Events, c.fault.Seq)
		slices.Sort(f.Events)
		f.Events = slices.Compact(f.Events)
	}
	switch refusal, cycle := c.storageRefusal(lock), c.waitCycle(shown.Client, history.MomentOf(end)); {
	case len(cycle) > 0:
		for _, l := range cycle {
			f.Reason = f.Reason.And(waitsForOther.Reason(l.Client, l.Held, l.Wanted, l.Holder))
		}
	case refusal != nil:
		how := "failed"
		if refusal.Refused {
			how = "refused"
		}
		f.Reason = f.Reason.And(storageTurnedAway.Reason(refusal.Process, how, refusal.Step, refusal.At))
	case c.misguidedSection(lock) != nil:
		s := c.misguidedSection(lock)
		f.Blame = BlameAssumption(c.clockBrokenWhileAsking(s)...)
		f.Reason = f.Reason.And(clockHadNotCounted.Reason(s.Client, s.From))
	case c.overdueSection(lock) != nil:
		s := c.overdueSection(lock)
		f.Reason = f.Reason.And(leaseEndedBeforeDone.Reason(s.Client, s.From, s.Lease.End()))
	case denied == "" && len(c.SilentServers(clients[0])) > 0:
		f.Reason = c.withSilentServer(clients[0], f.Reason)
	case len(c.lostKeyAssumptions(lock, end.Seq)) > 0:
		f.Blame = BlameAssumption(c.lostKeyAssumptions(lock, end.Seq)...)
	case c.Lock(lock).GrantsEveryone:
		f.Reason = f.Reason.And(grantsEveryone.Reason())
	case c.blockEachOther(lock):
		f.Reason = f.Reason.And(onlyTurnsTaken.Reason())
	case denied != "" && c.areKeysOverdue(lock, denied):
		f.Blame = BlameAssumption(trace.AssumeClock)
	case denied != "":
		f.Reason = c.withOpenRelease(lock, c.withReachable(lock, denied, f.Reason))
		f.Blame, f.Reason = c.blameUnlessRanWhilePaused(BlameLock, f.Reason, f.At, clients...)
	}
	return f
}

// withoutPeriodsRun leaves out the calls for a period of the schedule for which some client
// has run the job. The clients of these calls wanted the lock only to run the job for this
// period.
func (c *calmTime) withoutPeriodsRun(calls []*history.Call) []*history.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(call *history.Call) bool {
		period := call.Began.Period
		return period > 0 && slices.ContainsFunc(c.PeriodRuns(call.Lock, period), func(s *history.Section) bool {
			return !c.until.Before(history.MomentOf(s.Effects()[0].Makes.Made))
		})
	})
}

// deniedClient returns the first client that wanted the lock, asked for it after the last fault,
// and could reach everything that the lock needs; "" if there is none. It prefers clients that were
// not granted the lock to those that were.
func (c *calmTime) deniedClient(lock string, wanting []*history.Call) string {
	grantedLast := slices.Clone(wanting)
	slices.SortStableFunc(grantedLast, func(a, b *history.Call) int {
		switch {
		case a.OK() == b.OK():
			return 0
		case a.OK():
			return 1
		}
		return -1
	})
	for _, call := range grantedLast {
		next := c.next[call] // after a failed call, the client waits for its next attempt
		asked := call.Ended == nil || !history.MomentOf(call.Ended).Before(c.from) || next != nil && !c.until.Before(history.MomentOf(next.Began))
		if asked && c.CanServe(lock, call.Client) {
			return call.Client
		}
	}
	return ""
}

// areKeysOverdue reports whether a client cannot get a quorum because of overdue keys: they should
// have expired by true time, but they are on nodes whose clocks a fault has changed.
func (c *calmTime) areKeysOverdue(lock, client string) bool {
	end := c.LastUntil(c.until)
	slots, _ := c.ReachableSlots(lock, client)
	free := len(slots)
	for _, k := range c.Holdings() {
		if slots.Contains(k.Place) && k.Blocking().Contains(history.MomentOf(end)) && k.Due <= end.At && c.Clocks().WasSet(k.Node, end.Seq) {
			free--
		}
	}
	_, quorum := c.Required(lock)
	return free < quorum && free < len(slots)
}

// withReachable adds to the reason how many nodes, or members, the client could reach and
// how many it needed. It adds nothing if the client could reach all of them.
func (c *calmTime) withReachable(lock, client string, reason Reason) Reason {
	total, quorum := c.Required(lock)
	slots, _ := c.ReachableSlots(lock, client)
	if len(slots) == total {
		return reason
	}
	if len(c.Lock(lock).Members) > 0 {
		return reason.And(membersInReach.Reason(client, len(slots), total, quorum))
	}
	return reason.And(quorumInReach.Reason(client, len(slots), total, quorum))
}

// withOpenRelease adds to the reason the first client whose release of the lock never returned.
// It adds nothing if there is none.
func (c *calmTime) withOpenRelease(lock string, reason Reason) Reason {
	for _, call := range c.Calls() {
		s := c.Section(call.Acquisition)
		if call.Step == trace.Release && call.Ended == nil && s != nil && s.Lock == lock {
			return reason.And(releaseOpen.Reason(call.Client, call.Began.At))
		}
	}
	return reason
}

// withSilentServer adds to the reason that the client waits for a server that has lost its
// power. It adds nothing if the client waits for none.
func (c *calmTime) withSilentServer(client string, reason Reason) Reason {
	if servers := c.SilentServers(client); len(servers) > 0 {
		return reason.And(serverSilent.Reason(client, servers[0]))
	}
	return reason
}

// storageRefusal returns the first event with which the storage refused a client that had
// been granted the lock since the last fault, or did not answer it; nil if there is none.
// The lock is not to blame for such an event.
func (c *calmTime) storageRefusal(lock string) *trace.Event {
	var first *trace.Event
	for _, call := range c.Calls() {
		ev := call.Ended
		if ev == nil || !ev.Refused && !(ev.Step.AtStorage() && !ev.OK) || c.until.Before(history.MomentOf(ev)) || first != nil && first.Seq < ev.Seq {
			continue
		}
		if s := c.Section(call.Acquisition); s != nil && s.Lock == lock && c.from.Before(s.From) {
			first = ev
		}
	}
	return first
}

// overdueSection returns a section, granted after the last fault, whose client gave up because the
// section's lease had ended; nil if there is none. Either the client did not ask in time for an
// extension. Or acquire was called before the last fault ended, and much of the lease, which counts
// from that call, had passed by then. The lock is not to blame, because it had declared when the
// lease ends.
func (c *calmTime) overdueSection(lock string) *history.Section {
	for _, s := range c.Sections() {
		if s.Lock != lock || !c.from.Before(s.From) || s.Lease.IsEmpty() || s.Completed() {
			continue
		}
		if history.MomentOf(s.AcquireCall()).Before(c.from) && s.Lease.End().Before(s.To) {
			return s
		}
		for _, call := range c.CallsOf(s.Acquisition) {
			if call.Began != nil && call.Step == trace.Extend && !history.MomentOf(call.Began).Before(s.Lease.End()) {
				return s
			}
		}
	}
	return nil
}

// lostKeyAssumptions looks for a section that was granted after the last fault and not
// completed. It returns the assumptions that nodes broke, up to the event with the number
// seq, by losing the section's keys.
func (c *calmTime) lostKeyAssumptions(lock string, seq int) []trace.Assumption {
	for _, s := range c.Sections() {
		if s.Lock != lock || !c.from.Before(s.From) || s.Completed() {
			continue
		}
		for _, l := range c.Losses(lock) {
			if l.Key.Owner != s.Acquisition || l.Event.Seq > seq {
				continue
			}
			if broken := c.brokenPromises(s, l.Event.Seq); len(broken) > 0 {
				return broken
			}
		}
	}
	return nil
}

// misguidedSection returns a section, granted after the last fault and not completed, whose client
// could not know that its grant was stale; nil if there is none. It could not know, because its
// clock was stopped or set back, or ran slowly, while it asked for the lock.
func (c *calmTime) misguidedSection(lock string) *history.Section {
	for _, s := range c.Sections() {
		if s.Lock == lock && c.from.Before(s.From) && !s.Completed() && len(c.clockBrokenWhileAsking(s)) > 0 {
			return s
		}
	}
	return nil
}

// clockBrokenWhileAsking returns the assumptions about a client's clock that broke while
// the client asked for a section's grant.
func (c *calmTime) clockBrokenWhileAsking(s *history.Section) []trace.Assumption {
	kind := fakeclock.Monotonic
	if s.Granted.LeaseEnd != nil {
		kind = s.Granted.LeaseEnd.Clock
	}
	return brokenClockAssumptions(c.ClockOf(s, kind), history.MomentOf(s.AcquireCall()), s.From)
}

// wantingCalls returns the calls of acquire that show which clients want the lock, in
// order.
func (c *calmTime) wantingCalls(lock string) []*history.Call {
	var calls []*history.Call
	// last has each client's last call before the calm time.
	last := map[string]*history.Call{}
	for _, call := range c.acquires {
		switch at := history.MomentOf(call.Began); {
		case call.Lock != lock:
		case !at.Before(c.from):
			if !c.until.Before(at) && !c.isWithdrawn(call) {
				calls = append(calls, call)
			}
		default:
			last[call.Client] = call
		}
	}
	for client, call := range last {
		end, _ := c.ProcessEnd(client)
		granted := call.OK() && history.MomentOf(call.Ended).Before(c.from)
		if granted || end != nil && history.MomentOf(end).Before(c.from) || c.isWithdrawn(call) {
			continue
		}
		calls = append(calls, call)
	}
	slices.SortFunc(calls, func(a, b *history.Call) int { return a.Began.Seq - b.Began.Seq })
	return calls
}

// firstOfEach returns the first call of each client.
func firstOfEach(calls []*history.Call) []*history.Call {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(calls), func(call *history.Call) bool {
		dup := seen[call.Client]
		seen[call.Client] = true
		return dup
	})
}

// clientsOf returns the clients that made the calls.
func clientsOf(calls []*history.Call) []string {
	var clients []string
	for _, call := range calls {
		clients = append(clients, call.Client)
	}
	return clients
}

// isWithdrawn reports whether a client no longer wants the lock for which it had called acquire.
// Either it crashed before it called again, or the call failed before the calm time and the client
// then ended its program.
func (c *calmTime) isWithdrawn(call *history.Call) bool {
	end, crashed := c.ProcessEnd(call.Client)
	if end == nil || end.Seq < call.Began.Seq {
		return false
	}
	if next := c.next[call]; next != nil && next.Began.Seq < end.Seq {
		return false
	}
	return crashed || call.Failed() && history.MomentOf(call.Ended).Before(c.from)
}
