package explore

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// castings finds who has a part in what broke: whoever shows it, and whoever a fault
// stops or whose message it holds.
func (t *tale) castings() {
	for _, f := range t.broken() {
		for _, seq := range f.Events {
			ev := t.at(seq)
			for _, a := range []*trace.Actor{ev.By, ev.Owner, ev.Prior} {
				if a != nil {
					t.cast[history.AcquisitionOf(a)] = true
				}
			}
			if ev.By == nil && ev.Section > 0 {
				t.cast[history.Acquisition{Client: ev.Process, Section: ev.Section}] = true
			}
		}
		t.last = max(t.last, f.At)
	}
	for _, a := range t.history.Acts() {
		t.last = max(t.last, a.Struck.Seq)
		if c := t.latestCall(t.client(a.Fault), a.Struck.Seq); c != nil && c.Section > 0 {
			t.cast[c.Acquisition] = true
		}
	}
	for _, c := range t.history.KeyChanges() {
		if c.Is == nil && c.Was != nil && c.Was.How == history.Forgotten && c.Was.Owner.Client != "" {
			t.last = max(t.last, c.Event.Seq)
		}
	}
	if t.verdict.Finding(checks.Progress).Outcome == checks.Violated {
		for _, s := range t.history.Sections() {
			t.cast[s.Acquisition] = true
		}
	}
}

// latestCall is the last step that a client had begun before an event; nil if it had not
// begun any.
func (t *tale) latestCall(client string, seq int) *history.Call {
	var last *history.Call
	for _, c := range t.history.Calls() {
		if c.Client == client && c.Began != nil && c.Began.Seq < seq {
			last = c
		}
	}
	return last
}

// client is the client that a fault, by its number, is about, or "".
func (t *tale) client(fault int) string {
	if fault > len(t.faults) {
		return ""
	}
	f := t.faults[fault-1]
	if m, ok := f.Message(); ok {
		return m.Client
	}
	if t.isClient(f.Target()) {
		return f.Target()
	}
	return ""
}

func (t *tale) isClient(name string) bool { return t.history.IsClient(name) }

// broken are the violations, the worst first.
func (t *tale) broken() []checks.Finding { return violations(t.verdict) }

// violations are those of a verdict, the worst first.
func violations(v *checks.Verdict) []checks.Finding {
	all := slices.DeleteFunc(slices.Clone(v.Findings), func(f checks.Finding) bool { return f.Outcome != checks.Violated })
	slices.SortStableFunc(all, func(a, b checks.Finding) int { return a.Property.Card().Gravity - b.Property.Card().Gravity })
	return all
}

// gravest is the worst property that is violated, or "".
func gravest(v *checks.Verdict) checks.Property {
	if all := violations(v); len(all) > 0 {
		return all[0].Property
	}
	return ""
}
