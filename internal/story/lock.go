package story

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/checks"
)

// OfLock says, one by one, how the lock's own properties broke in a run and whose fault
// that is: whether it was granted twice or only outlived, then everything else.
func OfLock(v *checks.Verdict) []Raw {
	var said []Raw
	violated := func(p checks.Property) bool {
		f := v.Finding(p)
		if f.Outcome == checks.Violated {
			said = append(said, Raw(strings.TrimSpace(fullStop(AsTimeline.begun(f.Reason))+" "+blame(f.Fault))))
		}
		return f.Outcome == checks.Violated
	}
	for _, p := range checks.PropertiesOf(checks.OfExclusion) {
		if violated(p) {
			break // where leases overlap, sections do: that need not be said as well
		}
	}
	for _, p := range checks.PropertiesOf(checks.OfConduct) {
		if p == checks.GrantOrder && v.Verdict == checks.Unsafe {
			continue // the data's own trouble says it
		}
		violated(p)
	}
	for _, p := range checks.PropertiesOf(checks.OfMisconduct) {
		violated(p)
	}
	return said
}

// Torn says that only a part of a section took effect.
func Torn(t checks.TornSection) Raw {
	return Raw(fmt.Sprintf("the section of %s is torn, and somebody has to clean up after it: %s", t.Client, fullStop(AsTimeline.Reason(t.Reason))))
}

// Missed says that nobody has done what was due in a period.
func Missed(m checks.MissedPeriod) Raw { return Raw(fullStop(AsTimeline.Reason(m.Reason))) }

// Repeated says that work was done in vain.
func Repeated(r checks.RepeatedPeriod) Raw { return Raw(fullStop(AsTimeline.Reason(r.Reason))) }

// blame says whose fault a violation is, where that can be told.
func blame(b checks.Blame) string {
	switch b.Whose {
	case checks.ByAssumption:
		return fmt.Sprintf("An assumption of the lock had broken: %s.", joined(b.Broken()))
	case checks.ByLock:
		return "That is the lock's own fault."
	case checks.ByNature:
		return "Their leases never overlapped: no lock whose grants end by time can prevent that."
	}
	return ""
}

// joined are words with commas between them.
func joined[S ~string](all []S) string {
	words := make([]string, len(all))
	for i, word := range all {
		words[i] = string(word)
	}
	return strings.Join(words, ", ")
}
