package explore

import (
	"slices"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/trace"
)

// castings finds who has a part in what broke: whoever shows it, and whoever a fault
// stops or whose message it holds.
func (t *tale) castings() {
	for _, f := range t.broken() {
		for _, seq := range f.Events {
			ev := &t.trace.Events[seq-1]
			for _, a := range []*trace.Actor{ev.By, ev.Owner, ev.Prior} {
				if a != nil {
					t.cast[actor{a.Client, a.Section}] = true
				}
			}
			if ev.By == nil && ev.Section > 0 {
				t.cast[actor{ev.Process, ev.Section}] = true
			}
		}
		t.last = max(t.last, f.At)
	}
	stuck := t.verdict.Finding(checks.Progress).Outcome == checks.Violated
	latest := map[string]int{}
	for i := range t.trace.Events {
		switch ev := &t.trace.Events[i]; ev.Kind {
		case trace.KindBegin:
			latest[ev.Process] = ev.Section
		case trace.KindStrike:
			t.last = max(t.last, ev.Seq)
			if client := t.client(ev.Fault); client != "" && latest[client] > 0 {
				t.cast[actor{client, latest[client]}] = true
			}
		case trace.KindForget:
			if ev.Owner != nil {
				t.last = max(t.last, ev.Seq)
			}
		case trace.KindEnd:
			if stuck && ev.Step == trace.Acquire && ev.OK {
				t.cast[actor{ev.Process, ev.Section}] = true
			}
		}
	}
}

// client is the client that a fault, by its number, is about, or "".
func (t *tale) client(fault int) string {
	if fault < 1 || fault > len(t.faults) {
		return ""
	}
	f := t.faults[fault-1]
	if m, _, ok := heldMessage(f); f.Kind == "hold" && ok {
		return m.Client
	}
	if t.isClient(f.Target) {
		return f.Target
	}
	return ""
}

func (t *tale) isClient(name string) bool {
	return slices.ContainsFunc(t.trace.Processes, func(p trace.ProcessInfo) bool { return p.Name == name && p.Role == trace.RoleClient })
}

// broken are the violations, the worst first.
func (t *tale) broken() []checks.Finding { return violations(t.verdict) }

// violations are those of a verdict, the worst first.
func violations(v *checks.Verdict) []checks.Finding {
	all := slices.DeleteFunc(slices.Clone(v.Findings), func(f checks.Finding) bool { return f.Outcome != checks.Violated })
	slices.SortStableFunc(all, func(a, b checks.Finding) int { return gravity(a.Property) - gravity(b.Property) })
	return all
}

// gravest is the worst property that is violated, or "".
func gravest(v *checks.Verdict) checks.Property {
	if all := violations(v); len(all) > 0 {
		return all[0].Property
	}
	return ""
}

// gravity is how bad it is that a property is violated; 0 is the worst.
func gravity(p checks.Property) int {
	order := []checks.Property{
		checks.NoLostUpdate, checks.WriteOrder, checks.SerialSections, checks.LeaseExclusion, checks.GrantOrder,
		checks.ReleaseOwnership, checks.SectionExclusion, checks.TokenOrder, checks.Progress,
	}
	if at := slices.Index(order, p); at >= 0 {
		return at
	}
	return len(order)
}
