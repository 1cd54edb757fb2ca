package scenarios

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/testkit/simtest"
)

// verdictOf returns a verdict in which all properties hold, except those with another
// outcome.
func verdictOf(verdict string, except map[checks.Property]checks.Outcome) *checks.Verdict {
	v := &checks.Verdict{Verdict: verdict}
	for _, p := range checks.Properties() {
		f := checks.Finding{Property: p, Outcome: checks.Holds}
		if o, ok := except[p]; ok {
			f.Outcome = o
		}
		v.Findings = append(v.Findings, f)
	}
	return v
}

func TestCompare(t *testing.T) {
	type outcomes = map[checks.Property]checks.Outcome
	unsafe := Expectation{Verdict: checks.Unsafe, Violated: []checks.Property{"grant-order", "write-order"}}
	safe := Expectation{Verdict: checks.Safe}
	for _, c := range []struct {
		name     string
		expected Expectation
		verdict  *checks.Verdict
		want     []string // the differences
	}{
		{"the expected properties are violated", unsafe, verdictOf(checks.Unsafe, outcomes{"grant-order": checks.Violated, "write-order": checks.Violated}), nil},
		{"all properties hold, as expected", safe, verdictOf(checks.Safe, nil), nil},
		{"a property that should hold does not apply", safe, verdictOf(checks.Safe, outcomes{"token-order": checks.NotApplicable}), nil},
		{"a property that should be violated holds", unsafe, verdictOf(checks.Unsafe, outcomes{"write-order": checks.Violated}),
			[]string{"grant-order holds, expected it to be violated"}},
		{"a property that should hold is violated", safe, verdictOf(checks.Safe, outcomes{"grant-order": checks.Violated}),
			[]string{"grant-order is violated, expected to hold"}},
		{"a property that should be violated does not apply", unsafe, verdictOf(checks.Unsafe, outcomes{"grant-order": checks.NotApplicable, "write-order": checks.Violated}),
			[]string{"grant-order is n/a, expected it to be violated"}},
		{"a property that should hold is unknown", safe, verdictOf(checks.Undecided, outcomes{"progress": checks.Unknown}),
			[]string{"the verdict is unknown, expected safe", "progress is unknown, expected to hold"}},
		{"a property that should be violated is unknown", unsafe, verdictOf(checks.Unsafe, outcomes{"grant-order": checks.Unknown, "write-order": checks.Violated}),
			[]string{"grant-order is unknown, expected it to be violated"}},
		{"only the verdict differs", safe, verdictOf(checks.Unsafe, nil),
			[]string{"the verdict is unsafe, expected safe"}},
	} {
		ok, got := c.expected.compare(c.verdict)
		if !slices.Equal(story.ForPrograms.Reasons(got), c.want) || ok != (len(c.want) == 0) {
			t.Errorf("%s: as expected: %v, with the differences %q, want %q", c.name, ok, got, c.want)
		}
	}
}

// A difference contains the reason of the finding.
func TestDifferenceHasTheReason(t *testing.T) {
	v := verdictOf(checks.Safe, nil)
	v.Findings[0].Outcome, v.Findings[0].Reason = checks.Violated, checks.InDoubt.Reason("two leases overlap")
	_, got := Expectation{Verdict: checks.Safe}.compare(v)
	if want := []string{"lease-exclusion is violated, expected to hold: two leases overlap"}; !slices.Equal(story.ForPrograms.Reasons(got), want) {
		t.Errorf("the differences are %q, want %q", got, want)
	}
}

// A property that the verdict does not contain, such as misconduct that did not happen, is
// not violated.
func TestCompareWithPropertyThatIsNotJudged(t *testing.T) {
	v := verdictOf(checks.Safe, nil)
	v.Findings = slices.DeleteFunc(v.Findings, func(f checks.Finding) bool { return f.Property == checks.KeyLeftBehind })
	ok, got := Expectation{Verdict: checks.Safe, Violated: []checks.Property{checks.KeyLeftBehind}}.compare(v)
	if want := []string{"key left behind is n/a, expected it to be violated: no such behaviour was seen"}; ok || !slices.Equal(story.ForPrograms.Reasons(got), want) {
		t.Errorf("as expected: %v, with the differences %q, want %q", ok, got, want)
	}
}

func TestExpectationOfAnotherLock(t *testing.T) {
	v := mustParse(t, simtest.GoodScenario+"expect-with:\n  redsync:\n    off: {verdict: safe, violated: [grant-order]}\n").Variants[0]
	for _, c := range []struct {
		lock, fencing string
		known         bool   // whether the scenario expects something of this run
		verdict       string // that it expects
	}{
		{"", Off, true, checks.Unsafe},
		{"redlock", On, true, checks.Safe},
		{"redsync", Off, true, checks.Safe},
		{"redsync", On, false, ""},
		{"single", Off, false, ""},
	} {
		e, ok := v.Expectation(c.lock, c.fencing)
		if ok != c.known || e.Verdict != c.verdict {
			t.Errorf("lock %q, fencing %s: the expectation is %+v, found: %v; want the verdict %q, found: %v", c.lock, c.fencing, e, ok, c.verdict, c.known)
		}
	}
}
