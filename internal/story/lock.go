package story

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/trace"
)

// LockSummary says for each violated property of the lock how it broke and who is to blame.
// First comes mutual exclusion: either two leases overlap, or two critical sections overlap because
// one of them lasts longer than its lease. Then come the other properties.
func LockSummary(v *checks.Verdict) []Raw {
	var sentences []Raw
	addIfViolated := func(p checks.Property) bool {
		f := v.Finding(p)
		if f.Outcome == checks.Violated {
			sentences = append(sentences, Raw(strings.TrimSpace(fullStop(ForTimeline.renderCapitalized(f.Reason))+" "+blameSentence(f.Blame))))
		}
		return f.Outcome == checks.Violated
	}
	for _, p := range checks.PropertiesOf(checks.SubjectExclusion) {
		if addIfViolated(p) {
			break // overlapping leases imply overlapping sections: one sentence is enough
		}
	}
	for _, p := range checks.PropertiesOf(checks.SubjectConduct) {
		if p == checks.GrantOrder && v.Verdict == checks.Unsafe {
			continue // DataSummary describes it
		}
		addIfViolated(p)
	}
	for _, p := range checks.PropertiesOf(checks.SubjectMisconduct) {
		addIfViolated(p)
	}
	return sentences
}

// TornSentence says that only a part of a section's writes took effect.
func TornSentence(t checks.TornSection) Raw {
	return Raw(fmt.Sprintf("the section of %s is torn (only a part of it took effect) and has to be repaired: %s", t.Client, fullStop(ForTimeline.Reason(t.Reason))))
}

// MissedSentence says that no client ran the job for a period.
func MissedSentence(m checks.MissedPeriod) Raw { return Raw(fullStop(ForTimeline.Reason(m.Reason))) }

// RepeatedSentence says that the job for a period was run more than once.
func RepeatedSentence(r checks.RepeatedPeriod) Raw {
	return Raw(fullStop(ForTimeline.Reason(r.Reason)))
}

// blameSentence says who is to blame for a violation; "" if that is not known.
func blameSentence(b checks.Blame) string {
	switch b.Kind {
	case checks.KindAssumption:
		return fmt.Sprintf("Blame: this run broke an assumption of the lock (%s).", brokenAssumptions(b))
	case checks.KindLock:
		return "Blame: the lock itself, because no broken assumption explains this."
	case checks.KindInherent:
		return "Blame: not the lock. The two leases never overlapped, and no lock whose leases expire can prevent this."
	}
	return ""
}

// brokenAssumptions names the assumptions that broke and says what each one means.
func brokenAssumptions(b checks.Blame) string {
	var all []string
	for _, a := range b.Broken() {
		all = append(all, string(a)+": the lock assumes that "+assumptionMeanings[a])
	}
	return strings.Join(all, "; ")
}

// assumptionMeanings says what a lock assumes, for each assumption.
var assumptionMeanings = map[trace.Assumption]string{
	trace.AssumeProcess:       "a process's clock runs on while the process is stopped",
	trace.AssumeNetwork:       "messages arrive in time",
	trace.AssumeClock:         "clocks are not set and run at nearly the same rate",
	trace.AssumeLockMemory:    "nodes remember what they granted",
	trace.AssumeStorageMemory: "the storage remembers what it acknowledged",
}

// commaList joins words with commas.
func commaList[S ~string](all []S) string {
	words := make([]string, len(all))
	for i, word := range all {
		words[i] = string(word)
	}
	return strings.Join(words, ", ")
}
