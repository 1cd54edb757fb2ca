package checks

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// Progress is violated when, after the last strike or the end of any fault and
// within the scenario's bound, no client that wants the lock completes a section
// with its writes acknowledged. A client wants the lock if it calls acquire from
// then on and within the bound, or is then waiting for a pending acquire or for
// its next attempt. It completes a section by calling release after at least one
// write, all of which it knows to be applied, or, if it is a client that never
// writes, after nothing that failed.
//
// It does not apply to a run that was over before every fault was that has an
// end.
//
// It is violated too when nobody wanted the lock because a client that had it, or
// waited for something else, never came to its end and the run was cut off.
const Progress Property = "progress"

var progress = property{
	name:  Progress,
	title: "once the faults are over, somebody gets its work done",
	judge: judgeProgress,
}

func judgeProgress(h *history) Finding {
	if len(h.trace.Locks) == 0 {
		return notApplicable(noLock)
	}
	c := newCalm(h)
	verdict := notApplicable("nobody wanted the lock after the last fault")
	for _, lock := range c.locks() {
		switch f := c.judge(lock); {
		case f.Outcome == Violated:
			return f
		case f.Outcome == Unknown, f.Outcome == Holds && verdict.Outcome == NotApplicable:
			verdict = f
		}
	}
	return verdict
}

// calm is the time after the last fault, in which the lock has to work.
type calm struct {
	*history
	from moment
	// fault is the last strike or lift; nil if there was none.
	fault *trace.Event
	// until is when the scenario's bound is over; forever is at the end of the
	// run.
	until moment
	// horizon is when the run was cut off; nil if it came to its end.
	horizon *trace.Event
	// unfinished are the faults that were to end and had not when the run was
	// over.
	unfinished []int
}

func newCalm(h *history) *calm {
	c := &calm{history: h, from: start(0), until: forever}
	for i := range h.trace.Events {
		ev := &h.trace.Events[i]
		switch ev.Kind {
		case trace.KindStrike, trace.KindLift:
			c.from, c.fault = momentOf(ev), ev
			c.unfinished = slices.DeleteFunc(c.unfinished, func(fault int) bool { return fault == ev.Fault })
			if ev.Lifts {
				c.unfinished = append(c.unfinished, ev.Fault)
			}
		case trace.KindHorizon:
			c.horizon = ev
		}
	}
	// A bound as long as the whole run can be cut off only by the run's end.
	if within := h.trace.ProgressWithin; within > 0 && (c.horizon == nil || within < c.horizon.At) {
		c.until = moment{c.from.at + within, forever.seq}
	}
	return c
}

// locks lists the locks that anybody called for, in the order of the first
// calls.
func (c *calm) locks() []string {
	var names []string
	for i := range c.trace.Events {
		ev := &c.trace.Events[i]
		if ev.Kind == trace.KindBegin && ev.Step == trace.Acquire && !slices.Contains(names, ev.Lock) {
			names = append(names, ev.Lock)
		}
	}
	return names
}

func (c *calm) judge(lock string) Finding {
	if len(c.unfinished) > 0 && c.horizon == nil {
		return notApplicable(fmt.Sprintf("the run was over before fault %d was", c.unfinished[0]))
	}
	calls := c.wanting(lock)
	if len(calls) == 0 {
		if client, step := c.stuck(); client != "" {
			f := Finding{
				Outcome: Violated, At: c.horizon.Seq, Events: []int{c.horizon.Seq},
				Reason: fmt.Sprintf("the run had to be cut off at %v: %s had not come to its end and nobody else wanted the lock", c.horizon.At, client),
			}
			if server := c.silent(client); server != "" {
				f.Reason += "; " + unheard(client, server)
				return f
			}
			if (step == trace.Extend || step == trace.Release) && !c.faultActive([]string{client}) {
				f.Reason += fmt.Sprintf("; the lock had not answered its %s", step)
				f.Fault, f.Reason = c.unlessRanOn(FaultLock, f.Reason, f.At, client)
			}
			return f
		}
		return notApplicable("nobody wanted the lock after the last fault")
	}
	var clients []string
	for _, call := range calls {
		clients = append(clients, call.Process)
	}
	for _, s := range c.sections {
		if s.lock == lock && slices.Contains(clients, s.client) && c.from.before(s.from) &&
			s.completed() && !c.until.before(later(momentOf(s.released), s.settled)) {
			return holds()
		}
	}
	if c.horizon != nil && c.until != forever && c.horizon.At < c.until.at {
		return unknown(fmt.Sprintf("the run was cut off at %v, before the bound for progress at %v", c.horizon.At, c.until))
	}
	var end *trace.Event
	for i := range c.trace.Events {
		if ev := &c.trace.Events[i]; !c.until.before(momentOf(ev)) {
			end = ev
		}
	}
	f := Finding{Outcome: Violated, At: end.Seq, Events: []int{calls[0].Seq, end.Seq}}
	since := "the start of the run"
	if c.fault != nil {
		since = fmt.Sprintf("the last fault at %v", c.from)
		f.Events = append(f.Events, c.fault.Seq)
		slices.Sort(f.Events)
		f.Events = slices.Compact(f.Events)
	}
	f.Reason = fmt.Sprintf("from %s until %v no client completed a section, though %s wanted the lock", since, end.At, clients[0])
	switch turnedAway := c.turnedAway(lock); {
	case turnedAway != nil:
		how := "failed"
		if turnedAway.Refused {
			how = "refused"
		}
		f.Reason += fmt.Sprintf("; %s was granted it, but the storage %s its %s at %v",
			turnedAway.Process, how, turnedAway.Step, turnedAway.At)
	case c.misguided(lock) != nil:
		s := c.misguided(lock)
		f.Fault = FaultAssumption + strings.Join(c.uncounted(s), ", ")
		f.Reason += fmt.Sprintf("; %s was granted it at %v, but its clock had not counted the time since it asked", s.client, s.from)
	case c.overdue(lock) != nil:
		s := c.overdue(lock)
		f.Reason += fmt.Sprintf("; %s was granted it at %v, but its lease was over at %v, before it was done", s.client, s.from, s.lease.end())
	case c.silent(clients[0]) != "":
		f.Reason += "; " + unheard(clients[0], c.silent(clients[0]))
	case len(c.robbed(lock, end.Seq)) > 0:
		f.Fault = FaultAssumption + strings.Join(c.robbed(lock, end.Seq), ", ")
	case c.info[lock].Open:
		f.Reason += "; " + everybodyIn
	case c.inEachOthersWay(lock):
		f.Reason += "; every attempt met only keys of others who were asking, too, held the lock or had just crashed"
	case !c.faultActive(clients):
		f.Fault, f.Reason = c.unlessRanOn(FaultLock, f.Reason, f.At, clients...)
	}
	return f
}

// turnedAway finds where a client that had been granted the lock was refused by
// the storage, or got no answer from it, the first time; nil if none was. The lock
// cannot help that.
func (c *calm) turnedAway(lock string) *trace.Event {
	for i := range c.trace.Events {
		ev := &c.trace.Events[i]
		failed := ev.Refused || ev.Step.AtStorage() && !ev.OK
		if ev.Kind != trace.KindEnd || !failed || c.until.before(momentOf(ev)) {
			continue
		}
		granted := func(s *section) bool {
			return s.lock == lock && s.acquisition == acquisition{ev.Process, ev.Section} && c.from.before(s.from)
		}
		if slices.ContainsFunc(c.sections, granted) {
			return ev
		}
	}
	return nil
}

// overdue finds a section, granted after the last fault, that was given up when its
// lease was over, because nobody had asked in time for it to be prolonged or because
// much of it had passed before the fault was over; nil if there is none. The lock had
// said when it would be.
func (c *calm) overdue(lock string) *section {
	for _, s := range c.sections {
		if s.lock != lock || !c.from.before(s.from) || s.lease.empty() || s.completed() {
			continue
		}
		if momentOf(s.called()).before(c.from) && s.lease.end().before(s.to) {
			return s
		}
		for i := range c.trace.Events {
			ev := &c.trace.Events[i]
			if ev.Kind == trace.KindBegin && ev.Step == trace.Extend && ev.Process == s.client && ev.Section == s.section &&
				!momentOf(ev).before(s.lease.end()) {
				return s
			}
		}
	}
	return nil
}

// robbed names the assumptions that nodes broke, up to the event at, by losing keys of
// a section that was granted after the last fault: its client could not complete it.
func (c *calm) robbed(lock string, at int) []string {
	broken := c.brokenFor(lock, at)
	for _, s := range c.sections {
		if s.lock == lock && c.from.before(s.from) && !s.completed() && len(broken[s.acquisition]) > 0 {
			return broken[s.acquisition]
		}
	}
	return nil
}

// misguided finds a section, granted after the last fault, whose client was stopped or
// had its clock set while it asked, so that it could not know that the grant was stale;
// nil if there is none.
func (c *calm) misguided(lock string) *section {
	for _, s := range c.sections {
		if s.lock == lock && c.from.before(s.from) && !s.completed() && len(c.uncounted(s)) > 0 {
			return s
		}
	}
	return nil
}

// uncounted names the assumptions about a client's clock that broke while it asked for
// a section's grant.
func (c *calm) uncounted(s *section) []string {
	kind := fakeclock.Monotonic
	if s.granted.Ends != nil {
		kind = s.granted.Ends.Clock
	}
	broken := behind(stretches(c.clocksOf(s), kind), momentOf(s.called()), s.from)
	slices.Sort(broken)
	return slices.Compact(broken)
}

// silent is a server whose answer a client still waits for at the end, and that lost its
// power meanwhile; "" if there is none. Nobody tells the client: only a deadline would
// end the wait, and to set one is up to the caller.
func (c *calm) silent(client string) string {
	type wire struct {
		server string
		conn   int
	}
	waits, dark := map[wire]bool{}, map[wire]bool{}
	for i := range c.trace.Events {
		ev := &c.trace.Events[i]
		w := wire{ev.Peer, ev.Conn}
		switch {
		case ev.Kind == trace.KindCrash && (ev.Text == string(trace.PowerLoss) || ev.Text == string(trace.FailOver)):
			for w := range waits {
				if w.server == ev.Process {
					dark[w] = true
				}
			}
		case ev.Kind == trace.KindSend && ev.Reply && ev.Peer == client:
			waits[wire{ev.Process, ev.Conn}] = false // it is on its way
		case ev.Process != client:
		case ev.Kind == trace.KindConnect:
			waits[w] = false
		case ev.Kind == trace.KindSend && !ev.Reply:
			waits[w] = true
		case ev.Kind == trace.KindClose, ev.Kind == trace.KindReset, ev.Kind == trace.KindTimeout:
			delete(waits, w)
			delete(dark, w)
		}
	}
	found := ""
	for w := range dark {
		if waits[w] && (found == "" || w.server < found) {
			found = w.server
		}
	}
	return found
}

// unheard says of whom a client still waits to hear.
func unheard(client, server string) string {
	return fmt.Sprintf("%s waits without a deadline for %s, which had lost its power without a word", client, server)
}

// stuck is a client that kept the world from coming to its end, and the step that
// it was in, if it was in one; "" if the run was not cut off.
func (c *calm) stuck() (client string, step trace.Step) {
	if c.horizon == nil {
		return "", ""
	}
	began, ended := map[string]bool{}, map[string]bool{}
	last := map[string]*trace.Event{} // each client's last beginning or end of a step
	for i := range c.trace.Events {
		switch ev := &c.trace.Events[i]; ev.Kind {
		case trace.KindBegin:
			began[ev.Process] = true
			last[ev.Process] = ev
		case trace.KindEnd:
			last[ev.Process] = ev
		case trace.KindDone, trace.KindCrash:
			ended[ev.Process] = true
		}
	}
	for _, p := range c.trace.Processes {
		if p.Role != trace.RoleClient || !began[p.Name] || ended[p.Name] {
			continue
		}
		if ev := last[p.Name]; ev.Kind == trace.KindBegin {
			step = ev.Step
		}
		return p.Name, step
	}
	return "", ""
}

// wanting finds who wants the lock: the first call of acquire of each client
// that shows it, in order.
func (c *calm) wanting(lock string) []*trace.Event {
	var calls []*trace.Event
	// last has each client's last call before the calm, unless it led to a
	// section.
	last := map[string]*trace.Event{}
	for i := range c.trace.Events {
		ev := &c.trace.Events[i]
		call := ev.Kind == trace.KindBegin && ev.Step == trace.Acquire && ev.Lock == lock
		switch {
		case !momentOf(ev).before(c.from):
			if call && !c.until.before(momentOf(ev)) && !c.withdrawn(ev) {
				calls = append(calls, ev)
			}
		case call:
			last[ev.Process] = ev
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK && last[ev.Process] != nil && last[ev.Process].Section == ev.Section,
			ev.Kind == trace.KindDone, ev.Kind == trace.KindCrash:
			delete(last, ev.Process)
		}
	}
	for _, call := range last {
		if !c.withdrawn(call) {
			calls = append(calls, call)
		}
	}
	slices.SortFunc(calls, func(a, b *trace.Event) int { return a.Seq - b.Seq })
	seen := map[string]bool{}
	return slices.DeleteFunc(calls, func(call *trace.Event) bool {
		dup := seen[call.Process]
		seen[call.Process] = true
		return dup
	})
}

// withdrawn reports whether the client of a call of acquire crashed before it
// called again, or was done after a failed one.
func (c *calm) withdrawn(call *trace.Event) bool {
	failed := false
	// The answer is near the call as a rule, and there can be as many calls as
	// events: so the search begins there.
	first := sort.Search(len(c.trace.Events), func(i int) bool { return c.trace.Events[i].Seq > call.Seq })
	for i := first; i < len(c.trace.Events); i++ {
		ev := &c.trace.Events[i]
		if ev.Process != call.Process {
			continue
		}
		switch {
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire:
			return false
		case ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.Section == call.Section:
			failed = !ev.OK && momentOf(ev).before(c.from)
		case ev.Kind == trace.KindCrash:
			return true
		case ev.Kind == trace.KindDone:
			return failed
		}
	}
	return false
}
