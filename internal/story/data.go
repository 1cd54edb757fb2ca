package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// VerdictAndData returns the verdict on a run and what happened to the data.
func CameTo(h *history.History, v *checks.Verdict) Raw {
	return Raw(strings.TrimSpace(v.Verdict + ". " + string(OfData(h, v))))
}

// DataSummary says in a few sentences what happened to the data in a run, and why: what
// broke, why the result is unknown, or what kept the data intact.
func OfData(h *history.History, v *checks.Verdict) Raw {
	var said []string
	refused := refusals(h)
	for _, p := range checks.PropertiesOf(checks.OfData) {
		f := v.Finding(p)
		if f.Outcome != checks.Violated {
			continue
		}
		said = append(said, fullStop(AsTimeline.begun(f.Reason)))
		if p == checks.SerialSections && len(f.Cycle) > 0 {
			said = append(said, "The cycle: "+fullStop(Told(f.Cycle...).String()))
		}
		break
	}
	switch {
	case len(said) > 0:
		said = append(said, refused...)
	case len(v.Reasons) > 0:
		said = []string{"The run is inconclusive: " + fullStop(AsTimeline.Reason(v.Reasons[0]))}
	case len(refused) > 0:
		said = refused
	case v.Verdict == checks.Safe:
		said = intact(h, v)
	default:
		said = untold(v)
	}
	return Raw(strings.Join(said, " "))
}

// explainUnknown says why it is unknown what happened to the data.
func untold(v *checks.Verdict) []string {
	for _, p := range checks.PropertiesOf(checks.OfData) {
		if f := v.Finding(p); f.Outcome != checks.Holds && !f.Reason.IsZero() {
			return []string{fmt.Sprintf("It is unknown whether %s holds: %s", p, fullStop(AsTimeline.Reason(f.Reason)))}
		}
	}
	return nil
}

// explainIntact says that the data is intact, and if sections overlapped, why.
func intact(h *history.History, v *checks.Verdict) []string {
	switch {
	case v.Finding(checks.SectionExclusion).Outcome == checks.Violated:
		return spared(h)
	case len(h.Versions()) == 0:
		return []string{"The data is unchanged: nothing was written."}
	}
	return []string{"The data is intact: every write took effect in order."}
}

// describeRefusals says which requests the storage refused.
func refusals(h *history.History) []string {
	refused := slices.DeleteFunc(slices.Clone(h.Served()), func(ev *trace.Event) bool { return ev.OK })
	if len(refused) == 0 {
		return nil
	}
	first := refused[0]
	said := []string{fmt.Sprintf("The storage refused %s %s at %s: %s",
		Possessive(first.Client()), first.Step, Moment(first.At, 3), fullStop(Quoted(first.Text)))}
	if n := len(refused); n > 1 {
		said = append(said, fmt.Sprintf("It refused %s.", Count(n-1, "more request")))
	}
	return said
}
