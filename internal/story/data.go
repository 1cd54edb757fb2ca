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
func VerdictAndData(h *history.History, v *checks.Verdict) Raw {
	return Raw(strings.TrimSpace(v.Verdict + ". " + string(DataSummary(h, v))))
}

// withoutGrants adapts a sentence to a run without any grant: it replaces the words about a newer
// grant. For any other run it returns the sentence unchanged. A run has no grant if it has no lock,
// or if no server granted its lock although the clients were in their critical sections.
func withoutGrants(h *history.History, sentence string) string {
	hasLock := slices.ContainsFunc(h.Trace.Locks, func(l trace.LockInfo) bool { return !l.GrantsEveryone })
	isGranted := func(s *history.Section) bool { return !s.Granted.Ungranted || len(h.Slots(s.Lock)) == 0 }
	if hasLock && slices.ContainsFunc(h.Sections(), isGranted) {
		return sentence
	}
	return strings.ReplaceAll(sentence, "which held a newer grant", "whose section had begun later")
}

// DataSummary says in a few sentences what happened to the data in a run, and why. It says
// what broke, why the result is unknown, or what kept the data intact.
func DataSummary(h *history.History, v *checks.Verdict) Raw {
	var sentences []string
	refused := describeRefusals(h)
	for _, p := range checks.PropertiesOf(checks.SubjectData) {
		f := v.Finding(p)
		if f.Outcome != checks.Violated {
			continue
		}
		sentences = append(sentences, fullStop(withoutGrants(h, ForTimeline.renderCapitalized(f.Reason))))
		if p == checks.SerialSections && len(f.Cycle) > 0 {
			sentences = append(sentences, "The evidence: "+fullStop(RenderReasons(f.Cycle...).String()))
		}
		break
	}
	switch {
	case len(sentences) > 0:
		sentences = append(sentences, refused...)
	case len(v.Reasons) > 0:
		sentences = []string{fullStop(ForTimeline.renderDoubt(v.Reasons[0]))}
	case len(refused) > 0:
		sentences = refused
	case v.Verdict == checks.Safe:
		sentences = explainIntact(h, v)
	default:
		sentences = explainUnknown(v)
	}
	return Raw(strings.Join(sentences, " "))
}

// explainUnknown says why it is unknown what happened to the data.
func explainUnknown(v *checks.Verdict) []string {
	for _, p := range checks.PropertiesOf(checks.SubjectData) {
		if f := v.Finding(p); f.Outcome != checks.Holds && !f.Reason.IsZero() {
			return []string{fmt.Sprintf("It is unknown whether %s holds: %s", p, fullStop(ForTimeline.Reason(f.Reason)))}
		}
	}
	return nil
}

// explainIntact says that the data is intact. If sections overlapped, it also says why they
// did no damage.
func explainIntact(h *history.History, v *checks.Verdict) []string {
	switch {
	case v.Finding(checks.SectionExclusion).Outcome == checks.Violated:
		return explainUndamaged(h)
	case len(h.Versions()) == 0:
		return []string{"The data is unchanged: nothing was written."}
	}
	return []string{"The data is intact: all writes took effect in the right order."}
}

// describeRefusals says which requests the storage refused.
func describeRefusals(h *history.History) []string {
	refused := slices.DeleteFunc(slices.Clone(h.ServedRequests()), func(ev *trace.Event) bool { return ev.OK })
	if len(refused) == 0 {
		return nil
	}
	first := refused[0]
	sentences := []string{fmt.Sprintf("The storage refused %s %s at %s: %s",
		Possessive(first.Client()), first.Step, Moment(first.At, 3), fullStop(Quoted(first.Text)))}
	if n := len(refused); n > 1 {
		sentences = append(sentences, fmt.Sprintf("It refused %s.", Count(n-1, "more request")))
	}
	return sentences
}
