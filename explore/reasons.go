package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/story"
	"github.com/locksim/locksim/trace"
)

// effects are what broke, in the few words that a title has room for, the fullest
// first.
func (t *tale) effects(on *checks.Verdict) []string {
	broken := t.broken()
	if conduct := t.conduct(); conduct != "" {
		return []string{conduct}
	}
	if len(broken) == 0 {
		return []string{"nothing breaks"}
	}
	worst := t.shortly(broken[0])
	if broken[0].Property.Data() && on.Verdict == checks.Unsafe {
		worst += " despite fencing"
	}
	if t.verdict.Finding(checks.LeaseExclusion).Outcome == checks.Violated && broken[0].Property.Data() {
		twice := "the lock is granted twice"
		if on.Verdict == checks.Unsafe {
			return []string{twice + " and " + worst, worst}
		}
		return []string{twice + " and " + worst, twice}
	}
	return []string{worst}
}

// shortly is one violation in a few words.
func (t *tale) shortly(f checks.Finding) string {
	switch {
	case f.Property == checks.NoLostUpdate && t.stale(f) == nil:
		return "an acknowledged write is gone"
	case f.Property == checks.ReleaseOwnership:
		c := t.change(f.At)
		return t.command(c).String() + " " + meddling(c)
	}
	return f.Property.Card().Broken
}

// at is the event of a Seq.
func (t *tale) at(seq int) *trace.Event { return t.history.Event(seq) }

// change is what the event of a Seq did to a key.
func (t *tale) change(seq int) history.Change {
	all := t.history.KeyChanges()
	return all[slices.IndexFunc(all, func(c history.Change) bool { return c.Event.Seq == seq })]
}

// stale is the write that took the place of an update unseen, or nil if the finding
// is about another loss.
func (t *tale) stale(f checks.Finding) *trace.Event {
	if ev := t.at(f.At); ev.Kind == trace.KindServe && ev.Step == trace.Write && slices.Contains(f.Events, f.At) && len(f.Events) < 3 {
		return ev
	}
	return nil
}

// conduct is what the lock did that no lock may do, or "".
func (t *tale) conduct() string {
	switch t.misconduct {
	case sim.ConductPanic:
		return "the lock panics"
	case sim.ConductLeak:
		return "the lock leaves a goroutine behind"
	}
	return ""
}

// end is the sentence in which a story says what broke, or "" if what has been told
// says it.
func (t *tale) end() string {
	broken := t.broken()
	if conduct := t.conduct(); conduct != "" {
		return conduct
	}
	if len(broken) == 0 {
		return "nothing breaks"
	}
	f := broken[0]
	client := func(i int) string { return t.at(f.Events[i]).Process }
	if t.harm(t.at(f.At)) != "" || t.despite(t.at(f.At)) != "" {
		return ""
	}
	switch f.Property {
	case checks.NoLostUpdate:
		return fmt.Sprintf("%s's write is gone, although the storage had acknowledged it", t.at(f.Events[0]).Client())
	case checks.SerialSections:
		return "no order of the sections, one after the other, would have left such data"
	case checks.LeaseExclusion:
		return fmt.Sprintf("%s and %s hold the lock at the same time", client(0), client(1))
	case checks.TokenOrder:
		return "the token of the newer grant is not greater than that of the older one"
	case checks.ReleaseOwnership:
		return "" // the command itself is told
	case checks.Progress:
		return t.stuck(f)
	}
	return t.shortly(f)
}

// stuck says who waits in vain once the faults are over.
func (t *tale) stuck(f checks.Finding) string {
	since := 0
	if last := t.history.LastFaultUntil(f.At); last != nil {
		since = last.Seq
	}
	var clients []string
	failed := map[string]int{}      // by client: how many of its attempts, after the last fault
	open := map[string]trace.Step{} // by client: the step in which it is
	for _, c := range t.history.Calls() {
		ended := c.Ended != nil && c.Ended.Seq <= f.At
		if c.Began == nil || c.Began.Seq > f.At {
			continue
		}
		if !slices.Contains(clients, c.Client) {
			clients = append(clients, c.Client)
		}
		switch {
		case t.crashed(c.Client, f.At):
		case !ended:
			open[c.Client] = c.Step
		case c.Step == trace.Acquire && !c.Ended.OK && c.Ended.Seq > since:
			failed[c.Client]++
		}
	}
	until := story.About(t.at(f.At).At)
	nobody := "nobody gets any work done"
	if since > 0 {
		nobody = "after that " + nobody
	}
	var says []string
	for _, client := range clients {
		switch step, in := open[client]; {
		case failed[client] == 1:
			says = append(says, client+" asks for the lock once, in vain")
		case failed[client] > 1:
			says = append(says, fmt.Sprintf("%s asks for the lock %d times, always in vain", client, failed[client]))
		case in && step == trace.Acquire:
			says = append(says, client+" waits for an answer to its acquire")
		case in:
			says = append(says, fmt.Sprintf("%s does not get to the end of its %s", client, step))
		}
	}
	if len(says) == 0 {
		return nobody
	}
	return fmt.Sprintf("%s until %s: %s", nobody, until, story.List(says))
}

// crashed says that a client had crashed with an event or before it.
func (t *tale) crashed(client string, seq int) bool {
	return slices.ContainsFunc(t.history.Spells(), func(s *history.Spell) bool {
		return s.Process == client && s.State == history.Down && s.Began.Seq <= seq
	})
}

// why says in one line how it could come to what broke.
func (t *tale) why(fenced bool) string {
	finding := func(p checks.Property) *checks.Finding {
		if f := t.verdict.Finding(p); f.Outcome == checks.Violated {
			return &f
		}
		return nil
	}
	unchecked := ""
	if fenced {
		unchecked = ", and nobody checks the write"
	}
	lease, section := finding(checks.LeaseExclusion), finding(checks.SectionExclusion)
	worst := gravest(t.verdict)
	switch {
	case t.conduct() != "" || worst == "":
		return ""
	case worst == checks.ReleaseOwnership:
		c := t.change(finding(worst).At)
		return fmt.Sprintf("%s %s, as if it were its own", t.command(c), meddling(c))
	case lease != nil && len(lease.Events) == 2:
		a, b := t.at(lease.Events[0]), t.at(lease.Events[1])
		return t.gap(a, b) + ", so the lock was granted twice"
	case lease != nil:
		ev := t.at(lease.At)
		return fmt.Sprintf("%s's lease was prolonged although it had ended and somebody else had the lock", ev.Process)
	case section != nil && section.Fault == checks.FaultLock:
		return "a lease that had ended was taken for one that lasts" + unchecked
	case section != nil:
		return t.lateness(t.at(section.Events[0]), t.at(section.Events[1])) + unchecked
	case finding(checks.GrantOrder) != nil:
		f := finding(checks.GrantOrder)
		return fmt.Sprintf("%s's write was still on its way when %s got the lock%s", t.at(f.At).Client(), t.at(f.Events[0]).Process, unchecked)
	case finding(checks.TokenOrder) != nil:
		return "a token was issued again that had been issued before, or an older one"
	case finding(checks.NoLostUpdate) != nil:
		if w := t.stale(*finding(checks.NoLostUpdate)); w != nil {
			return fmt.Sprintf("an old copy of %s's write came last, and nobody checks which is newer", w.Client())
		}
		return "the storage itself lost what it had acknowledged"
	case finding(checks.Progress) != nil:
		return t.block()
	}
	return ""
}

// lateness says what made the first of two sections last longer than its lease, so
// that the second was granted.
func (t *tale) lateness(first, second *trace.Event) string {
	lease := first.Process + "'s lease"
	for _, f := range t.faults {
		switch a := f.Action.(type) {
		case *sim.Pause:
			switch a.Process {
			case first.Process:
				return "the pause outlasts " + lease
			case trace.StorageName:
				return "the storage's pause outlasts " + lease
			}
		case *sim.Stall:
			if a.Client == first.Process {
				return "the stall outlasts " + lease
			}
		}
	}
	holder := history.Acquisition{Client: first.Process, Section: first.Section}
	asked := slices.ContainsFunc(t.history.Calls(), func(c *history.Call) bool {
		return c.Acquisition == holder && c.Step == trace.Write && c.Began != nil && c.Began.Seq < second.Seq
	})
	came := slices.ContainsFunc(t.history.Served(), func(ev *trace.Event) bool {
		return ev.Seq > second.Seq && ev.Step == trace.Write && ev.Client() == holder.Client && ev.Section == holder.Section
	})
	if asked && came {
		return "the write arrives after " + lease + " has ended"
	}
	return fmt.Sprintf("%s's section outlasts its lease", first.Process)
}

// gap says why the second of two grants could be made although the first lease had
// not ended: what had become of its keys.
func (t *tale) gap(first, second *trace.Event) string {
	holder := history.Acquisition{Client: first.Process, Section: first.Section}
	var forgot, tooEarly, expired []string
	remover := ""
	for _, c := range t.history.KeyChanges() {
		if c.Was == nil || c.Was.Owner != holder || c.Is == c.Was || second.At < c.At || second.Seq < c.Event.Seq {
			continue
		}
		switch c.Was.How {
		case history.Overwritten:
			if c.Is.Owner != holder {
				remover = c.Is.Owner.Client
			}
		case history.Removed:
			if by := c.Event.By; by != nil && history.AcquisitionOf(by) != holder {
				remover = t.command(c).String()
			}
		case history.Forgotten:
			forgot = append(forgot, c.Node)
		case history.Expired:
			if early(c) {
				tooEarly = append(tooEarly, c.Node)
			} else {
				expired = append(expired, c.Node)
			}
		}
	}
	key := holder.Client + "'s key"
	switch {
	case remover != "":
		return fmt.Sprintf("%s took %s away", remover, key)
	case len(forgot) > 0:
		return fmt.Sprintf("%s forgot %s", story.List(t.ordered(forgot)), key)
	case len(tooEarly) > 0:
		return fmt.Sprintf("%s let %s expire before its time", story.List(t.ordered(tooEarly)), key)
	case len(expired) > 0:
		return fmt.Sprintf("%s counted on its lease when its keys had expired", holder.Client)
	}
	return fmt.Sprintf("too few nodes knew of %s's grant", holder.Client)
}

// block says what stands in everybody's way.
func (t *tale) block() string {
	if owners := t.endless(); len(owners) > 0 {
		return fmt.Sprintf("the key of %s stands without an expiry, in everybody's way", story.List(owners))
	}
	return "the lock does not come back into use once the fault is over"
}

// endless are the clients of which a key stands at the end that never expires.
func (t *tale) endless() []string {
	var owners []string
	for _, h := range t.history.Holdings() {
		if h.How == history.Standing && h.Due == history.Forever && h.Owner.Client != "" && slices.Contains(t.nodes, h.Node) {
			owners = append(owners, h.Owner.Client)
		}
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}

// assumption is what the faults of a run break, as a scenario says it; "" if that
// cannot be told.
func (t *tale) assumption() string {
	var all []trace.Assumption
	for _, f := range t.history.Trace.Faults {
		if !slices.Contains(all, f.Assumption) {
			all = append(all, f.Assumption)
		}
	}
	if len(all) == 1 {
		return string(all[0])
	}
	for _, f := range t.broken() {
		for _, one := range f.Fault.Broken() {
			if slices.Contains(all, one) {
				return string(one)
			}
		}
	}
	return ""
}

// lesson is what can be learned from a run and its twin with fencing tokens, as far as
// the two show it.
func (t *tale) lesson(off, on *checks.Verdict, fenced *history.History) string {
	var says []string
	lease, section := t.verdict.Finding(checks.LeaseExclusion), t.verdict.Finding(checks.SectionExclusion)
	own := t.verdict.Finding(checks.ReleaseOwnership)
	switch assumed := lease.Fault.Broken(); {
	case lease.Outcome == checks.Violated && lease.Fault == checks.FaultLock:
		says = append(says, "Nothing that the lock relies on had failed: that it was granted twice is its own fault.")
	case lease.Outcome == checks.Violated && len(assumed) > 0:
		for _, one := range assumed {
			says = append(says, relies[one])
		}
	case section.Outcome == checks.Violated && section.Fault == checks.FaultLock:
		says = append(says, "Everything that the lock relies on had held: it took a lease for good that was over.")
	case section.Outcome == checks.Violated && section.Fault == checks.FaultInherent && own.Outcome != checks.Violated:
		says = append(says, "The leases never overlapped: no lock whose grants end by time can prevent this.")
	}
	if own.Outcome == checks.Violated && t.change(own.At).Is == nil {
		says = append(says, "Only whoever set a key may remove it: its value has to be compared and the key removed in one step.")
	}
	if t.verdict.Finding(checks.Progress).Outcome == checks.Violated && len(t.endless()) > 0 {
		says = append(says, "A key without an expiry outlives whoever set it.")
	}
	switch {
	case off.Verdict == checks.Unsafe && on.Verdict == checks.Safe:
		says = append(says, "A storage that checks fencing tokens keeps the data whole.")
	case on.Verdict == checks.Unsafe && on.Finding(checks.TokenOrder).Outcome == checks.Violated:
		says = append(says, "Fencing tokens did not help, as they did not grow from grant to grant.")
	case on.Verdict == checks.Unsafe && unseen(on, fenced):
		says = append(says, "Fencing did not help: the storage looks at the tokens of writes alone, and had not seen the newer one when the late write came.")
	case on.Verdict == checks.Unsafe:
		says = append(says, "The storage checked fencing tokens, and the data was harmed all the same.")
	case off.Verdict == checks.Safe && on.Verdict == checks.Safe && section.Outcome == checks.Violated:
		says = append(says, "The data was not harmed this time.")
	}
	return strings.Join(says, " ")
}

// unseen says whether a storage that checks the tokens of writes, and never forgot
// one, let a write of an older grant through because none of a newer had come before.
func unseen(v *checks.Verdict, h *history.History) bool {
	return h.Trace.Fencing == string(storage.Writes) && v.Finding(checks.GrantOrder).Outcome == checks.Violated &&
		len(h.ForgottenTokens()) == 0
}

// relies is what a lock relies on that was granted twice, by the assumption that
// broke.
var relies = map[trace.Assumption]string{
	trace.AssumeClock:      "The lock relies on clocks that count time at nearly the same speed, and one of them did not.",
	trace.AssumeLockMemory: "The lock relies on nodes that remember what they granted, and one of them forgot.",
	trace.AssumeProcess:    "The lock relies on a clock that does not stand still while its process is stopped.",
}
