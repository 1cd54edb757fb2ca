package story

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Why says in one line why the damage was possible; "" if nothing was damaged or the cause
// is not known. off and on are the verdicts on the runs without and with fencing tokens.
func (p *Paragraph) Why(off, on *checks.Verdict) Raw {
	unchecked := ""
	if off.Verdict == checks.Unsafe && on.Verdict == checks.Safe {
		unchecked = ", and the storage does not check the write"
	}
	return Raw(p.why(unchecked))
}

// why returns the text of [Paragraph.Why]. If a storage that checks tokens would have prevented the
// damage, it appends the text unchecked to the cause.
func (p *Paragraph) why(unchecked string) string {
	finding := func(property checks.Property) *checks.Finding {
		if f, isViolated := p.violation(property); isViolated {
			return &f
		}
		return nil
	}
	lease, section := finding(checks.LeaseExclusion), finding(checks.SectionExclusion)
	worst := p.verdict.Gravest()
	switch {
	case p.conduct() != "" || worst == "": // misconduct that ends the run is its own explanation
		return ""
	case worst == checks.ReleaseOwnership:
		c := p.keyChange(finding(worst).At)
		return fmt.Sprintf("%s %s, as if it were its own", p.command(c), describeMeddling(c))
	case lease != nil && len(lease.Events) == 2:
		a, b := p.event(lease.Events[0]), p.event(lease.Events[1])
		return p.doubleGrantCause(a, b) + ", so the lock was granted twice"
	case lease != nil:
		ev := p.event(lease.At)
		return Possessive(ev.Process) + " lease was extended although it had ended and another client held the lock"
	case section != nil && section.Blame == checks.BlameLock:
		return "the lock treated a lease that had ended as valid" + unchecked
	case section != nil:
		return p.overrunCause(p.event(section.Events[0]), p.event(section.Events[1])) + unchecked
	case finding(checks.GrantOrder) != nil:
		f := finding(checks.GrantOrder)
		return fmt.Sprintf("%s write was still on its way when %s got the lock%s", Possessive(p.event(f.At).Client()), p.event(f.Events[0]).Process, unchecked)
	case finding(checks.TokenOrder) != nil:
		return "a token was issued that was not greater than an earlier one"
	case finding(checks.NoLostUpdate) != nil:
		if w := p.staleWrite(*finding(checks.NoLostUpdate)); w != nil {
			return fmt.Sprintf("an old copy of %s write arrived last, and the storage does not check which is newer", Possessive(w.Client()))
		}
		return "the storage itself lost what it had acknowledged"
	case finding(checks.Progress) != nil:
		return p.blockCause()
	}
	return ""
}

// overrunCause says why the first of two critical sections lasted longer than its lease. Because of
// that, the second was granted while the first had not ended.
func (p *Paragraph) overrunCause(first, second *trace.Event) string {
	lease := Possessive(first.Process) + " lease"
	for _, f := range p.history.Trace.Faults {
		switch on := f.Target(); {
		case f.Effect == trace.StopsProcess && on == first.Process:
			return "the pause outlasts " + lease
		case f.Effect == trace.StopsProcess && on == trace.StorageName:
			return "the storage's pause outlasts " + lease
		case f.Effect == trace.StallsRequest && on == first.Process:
			return Possessive(on) + " request is held up in the storage until after its lease has ended"
		}
	}
	holder := history.Acquisition{Client: first.Process, Section: first.Section}
	asked := slices.ContainsFunc(p.history.Calls(), func(c *history.Call) bool {
		return c.Acquisition == holder && c.Step == trace.Write && c.Began != nil && c.Began.Seq < second.Seq
	})
	came := slices.ContainsFunc(p.history.ServedRequests(), func(ev *trace.Event) bool {
		return ev.Seq > second.Seq && ev.Step == trace.Write && ev.Client() == holder.Client && ev.Section == holder.Section
	})
	if asked && came {
		return "the write arrives after " + lease + " has ended"
	}
	return Possessive(first.Process) + " section outlasts its lease"
}

// doubleGrantCause says why the second of two grants was possible although the lease of the
// first had not ended: it says what had happened to the keys of the first.
func (p *Paragraph) doubleGrantCause(first, second *trace.Event) string {
	holder := history.Acquisition{Client: first.Process, Section: first.Section}
	var forgot, cut, tooEarly, expired []string
	remover, did := "", "removed"
	for _, c := range p.history.KeyChanges() {
		if c.Before == nil || c.Before.Owner != holder || c.After == c.Before || second.At < c.At || second.Seq < c.Event.Seq {
			continue
		}
		switch c.Before.How {
		case history.Overwritten:
			if c.After.Owner != holder {
				remover, did = c.After.Owner.Client, "overwrote"
			}
		case history.Removed:
			switch by := c.Event.By; {
			case by == nil:
				remover, did = c.Node, "removed"
			case history.AcquisitionOf(by) != holder:
				remover, did = p.command(c).String(), "removed"
			}
		case history.Forgotten:
			forgot = append(forgot, c.Node)
		case history.Dropped:
			cut = append(cut, c.Node)
		case history.Expired:
			if expiredEarly(c) {
				tooEarly = append(tooEarly, c.Node)
			} else {
				expired = append(expired, c.Node)
			}
		}
	}
	key := Possessive(holder.Client) + " key"
	switch {
	case remover != "":
		return fmt.Sprintf("%s %s %s", remover, did, key)
	case len(forgot) > 0:
		return fmt.Sprintf("%s forgot %s", List(p.history.InWorldOrder(forgot)), key)
	case len(cut) > 0:
		return fmt.Sprintf("%s removed %s when the connection that held it ended", List(p.history.InWorldOrder(cut)), key)
	case len(tooEarly) > 0:
		return fmt.Sprintf("%s let %s expire too early", List(p.history.InWorldOrder(tooEarly)), key)
	case len(expired) > 0:
		return fmt.Sprintf("%s relied on its lease although its keys had expired", holder.Client)
	}
	return fmt.Sprintf("too few nodes knew of %s grant", Possessive(holder.Client))
}

// blockCause says what keeps every client from getting the lock.
func (p *Paragraph) blockCause() string {
	if owners := p.endlessKeyOwners(); len(owners) > 0 {
		return fmt.Sprintf("the key of %s has no expiry and blocks every client", List(owners))
	}
	return "the lock does not become usable again after the fault has ended"
}

// endlessKeyOwners returns the clients whose keys still exist at the end and never expire.
func (p *Paragraph) endlessKeyOwners() []string {
	var owners []string
	for _, k := range p.history.Holdings() {
		if k.How == history.StillExists && k.Due == history.Forever && k.Owner.Client != "" && slices.Contains(p.nodes, k.Node) {
			owners = append(owners, k.Owner.Client)
		}
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}
