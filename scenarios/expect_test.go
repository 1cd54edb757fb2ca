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
		want     []string
	}{
		{"as expected", unsafe, verdictOf(checks.Unsafe, outcomes{"grant-order": checks.Violated, "write-order": checks.Violated}), nil},
		{"all holds", safe, verdictOf(checks.Safe, nil), nil},
		{"what does not apply is no violation", safe, verdictOf(checks.Safe, outcomes{"token-order": checks.NotApplicable}), nil},
		{"one less", unsafe, verdictOf(checks.Unsafe, outcomes{"write-order": checks.Violated}),
			[]string{"grant-order holds, expected it to be violated"}},
		{"one more", safe, verdictOf(checks.Safe, outcomes{"grant-order": checks.Violated}),
			[]string{"grant-order is violated, expected to hold"}},
		{"listed, but does not apply", unsafe, verdictOf(checks.Unsafe, outcomes{"grant-order": checks.NotApplicable, "write-order": checks.Violated}),
			[]string{"grant-order is n/a, expected it to be violated"}},
		{"unknown is no pass", safe, verdictOf(checks.Undecided, outcomes{"progress": checks.Unknown}),
			[]string{"the verdict is unknown, expected safe", "progress is unknown, expected to hold"}},
		{"unknown is no violation", unsafe, verdictOf(checks.Unsafe, outcomes{"grant-order": checks.Unknown, "write-order": checks.Violated}),
			[]string{"grant-order is unknown, expected it to be violated"}},
		{"only the verdict differs", safe, verdictOf(checks.Unsafe, nil),
			[]string{"the verdict is unsafe, expected safe"}},
	} {
		ok, got := c.expected.compare(c.verdict)
		if !slices.Equal(story.ForPrograms.Reasons(got), c.want) || ok != (len(c.want) == 0) {
			t.Errorf("%s: %v %q, want %q", c.name, ok, got, c.want)
		}
	}
}

// A difference contains the reason of the finding.
func TestCompareTellsTheReason(t *testing.T) {
	v := verdictOf(checks.Safe, nil)
	v.Findings[0].Outcome, v.Findings[0].Reason = checks.Violated, checks.InDoubt.Reason("two leases overlap")
	_, got := Expectation{Verdict: checks.Safe}.compare(v)
	if want := []string{"lease-exclusion is violated, expected to hold: two leases overlap"}; !slices.Equal(story.ForPrograms.Reasons(got), want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A property that the verdict does not contain, such as misconduct that did not happen, is
// not violated.
func TestCompareWithWhatIsNotJudged(t *testing.T) {
	v := verdictOf(checks.Safe, nil)
	v.Findings = slices.DeleteFunc(v.Findings, func(f checks.Finding) bool { return f.Property == checks.KeyLeftBehind })
	ok, got := Expectation{Verdict: checks.Safe, Violated: []checks.Property{checks.KeyLeftBehind}}.compare(v)
	if want := []string{"key left behind is n/a, expected it to be violated: nothing of the kind was seen"}; ok || !slices.Equal(story.ForPrograms.Reasons(got), want) {
		t.Errorf("%v %q, want %q", ok, got, want)
	}
}

func TestExpectationOfAnotherLock(t *testing.T) {
	v := mustParse(t, simtest.GoodScenario+"expect-with:\n  redsync:\n    off: {verdict: safe, violated: [grant-order]}\n").Variants[0]
	for _, c := range []struct {
		lock, fencing string
		known         bool
		verdict       string
	}{
		{"", Off, true, checks.Unsafe},
		{"redlock", On, true, checks.Safe},
		{"redsync", Off, true, checks.Safe},
		{"redsync", On, false, ""},
		{"single", Off, false, ""},
	} {
		e, ok := v.Expectation(c.lock, c.fencing)
		if ok != c.known || e.Verdict != c.verdict {
			t.Errorf("lock %q, fencing %s: %+v, %v", c.lock, c.fencing, e, ok)
		}
	}
}
