package quiz

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
)

// breakForm asks which property breaks first in the run without fencing tokens.
var breakForm = Form{Name: "first-break", Title: "which property breaks first, without fencing tokens", ask: askBreak}

// noProgress says when progress is violated. The property's own short text is about clients in
// general, and a client that held the lock before the fault may finish its work.
const noProgress = "after the last fault, no client that wanted the lock finished a section"

// A breakage is a choice of the question: something that can break first. Its properties are often
// violated by the same event. The text names the first of them, because the others follow from it.
type breakage struct {
	properties []checks.Property
	text       string
}

// breakages lists what can break, causes before their consequences. A violation belongs to the
// entry that has its property.
var breakages = []breakage{
	{[]checks.Property{checks.LeaseExclusion}, "lease-exclusion: two clients hold a lease at the same time"},
	{[]checks.Property{checks.SectionExclusion}, "section-exclusion: two clients are in their critical sections, though no two leases overlap"},
	{[]checks.Property{checks.TokenOrder}, "token-order: a later grant has a token that is not higher"},
	{[]checks.Property{checks.GrantOrder, checks.WriteOrder, checks.NoLostUpdate, checks.SerialSections}, "the data: a late or stale write does harm, though no two sections have overlapped"},
	{[]checks.Property{checks.OncePerPeriod}, "once-per-period: a job runs twice for one period"},
	{[]checks.Property{checks.ReleaseOwnership}, "release-ownership: a client removes or changes a key of another grant"},
	{[]checks.Property{checks.Progress}, "progress: " + noProgress},
}

// usualBreakages are the properties whose entries every question offers. Another entry is offered
// if one of its properties applies to the run, even if it is a wrong answer.
var usualBreakages = []checks.Property{checks.LeaseExclusion, checks.SectionExclusion, checks.GrantOrder, checks.ReleaseOwnership, checks.Progress}

// isOffered reports whether a question about a case offers the entry with a property.
func isOffered(c *Case, p checks.Property) bool {
	return slices.Contains(usualBreakages, p) || c.Off.Verdict.Finding(p).Outcome != checks.NotApplicable
}

// breakageOf returns the index of the entry with a property; -1 if there is none.
func breakageOf(p checks.Property) int {
	return slices.IndexFunc(breakages, func(b breakage) bool { return slices.Contains(b.properties, p) })
}

func askBreak(c *Case) *Question {
	h, violations := c.Off.History, c.Off.Verdict.Violations()
	// rank orders violations by their events, and violations by the same event in the order
	// of breakages.
	rank := func(a, b checks.Finding) int {
		return cmp.Or(a.At-b.At, breakageOf(a.Property)-breakageOf(b.Property))
	}
	slices.SortStableFunc(violations, rank)
	first := -1
	if len(violations) > 0 {
		if first = breakageOf(violations[0].Property); first < 0 {
			return nil // misconduct of a lock has no entry
		}
	}
	q := &Question{
		Text:  "Which property breaks first, in the run without fencing tokens?",
		Terms: "A client is in its critical section from the grant until it releases the lock or dies. Its lease is the time for which the lock promises the grant.",
	}
	for i, b := range breakages {
		choice := Choice{Text: b.text, IsRight: i == first}
		breaksLater := slices.ContainsFunc(violations, func(f checks.Finding) bool { return breakageOf(f.Property) == i })
		if !choice.IsRight && breaksLater {
			// The remark leaves out the text after the colon, which need not be true of a property
			// that does not break first.
			name, _, _ := strings.Cut(b.text, ":")
			choice.IsClose, choice.Remark = true, name+" breaks too, but it is not the first to break"
		}
		if slices.ContainsFunc(b.properties, func(p checks.Property) bool { return isOffered(c, p) }) {
			q.Choices = append(q.Choices, choice)
		}
	}
	q.Choices = append(q.Choices, Choice{Text: "nothing breaks", IsRight: first < 0})
	q.Reason = reasonOfBreak(h, violations)
	return q
}

// reasonOfBreak says when the first property was violated, and by what.
func reasonOfBreak(h *history.History, violations []checks.Finding) string {
	if len(violations) == 0 {
		return "No property is violated in this run."
	}
	first := violations[0]
	at := ""
	if ev := h.Event(first.At); ev != nil {
		at = " at " + story.Time(ev.At)
	}
	return fmt.Sprintf("%s is violated%s: %s.", first.Property, at, strings.TrimRight(story.ForTimeline.Reason(first.Reason), "."))
}
