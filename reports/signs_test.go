package reports

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
)

// Every possible result has a badge: a sign of one character, a word and a colour.
func TestEveryResultHasABadge(t *testing.T) {
	var all []badge
	for _, o := range []checks.Outcome{checks.Holds, checks.Violated, checks.Unknown, checks.NotApplicable} {
		all = append(all, outcomeBadges[o], badge{outcomeBadges[o].Class, outcomeBadges[o].Sign, outcomeClauses[o]})
	}
	for _, v := range []string{checks.Safe, checks.Unsafe, checks.Undecided} {
		all = append(all, verdictBadges[v])
	}
	for s := AsExpected; s <= Undecided; s++ {
		all = append(all, standingBadges[s])
	}
	for i, b := range all {
		if !strings.Contains("good bad doubt soft", b.Class) || b.Class == "" || len([]rune(b.Sign)) != 1 || b.Word == "" {
			t.Errorf("badge number %d is %+v", i, b)
		}
	}
}

// A violated property is worse than an unknown one, and that is worse than one that holds.
func TestWorst(t *testing.T) {
	for _, c := range []struct {
		want checks.Outcome
		of   []checks.Outcome
	}{
		{checks.Unknown, []checks.Outcome{checks.Unknown, checks.Holds}},
		{checks.Unknown, []checks.Outcome{checks.Holds, checks.Unknown}},
		{checks.Violated, []checks.Outcome{checks.Violated, checks.Unknown}},
		{checks.Violated, []checks.Outcome{checks.Holds, checks.Violated}},
		{checks.Holds, []checks.Outcome{checks.Holds}},
	} {
		if got := worst(c.of); got != c.want {
			t.Errorf("the worst is %s of %s, want %s", got, c.of, c.want)
		}
	}
}

// The link to a variant shows the verdicts of the variant's runs by their signs.
func TestSignsOfVariants(t *testing.T) {
	r := results(t, "", "delayed-write")[0]
	r.Runs[1].Verdict.Verdict = checks.Undecided
	page := mainPart(t, scenarioPage(r, Options{}, nil).HTML())
	for _, want := range []string{`#v-waits">waits <span aria-hidden="true">✗?</span>`, `#v-gives-up">gives-up <span aria-hidden="true">✗✓</span>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
