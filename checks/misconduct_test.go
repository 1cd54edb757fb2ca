package checks

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The way in which a client's code ended a run, and the complaints of clients' programs, are
// findings against the lock, in addition to what the events show. A lock that panics has no
// other finding of misconduct.
func TestComplaintsAndEndings(t *testing.T) {
	complaintAbout := func(rule string) []trace.Complaint {
		return []trace.Complaint{{Client: "client-1", Rule: rule, Why: "so it is"}}
	}
	for _, c := range []struct {
		name       string
		words      string
		ending     string
		complaints []trace.Complaint
		want       string
	}{
		{"nothing", "asks set gets leaves removed left", "", nil, ""},
		{"a panic", "asks set gets", trace.ConductPanic, nil, "panic"},
		{"a leak", "asks set gets", trace.ConductLeak, nil, "goroutine leak"},
		{"a leak, and a key left behind", "asks set gets leaves left - expires", trace.ConductLeak, nil, "goroutine leak, key left behind"},
		{"a panic, and a key left behind", "asks set gets leaves left - expires", trace.ConductPanic, nil, "panic"},
		{"no lock", "-", "", complaintAbout(trace.CannotMake), "cannot be made"},
		{"a claim", "asks set gets", "", complaintAbout("claim: extends"), "claim: extends"},
		{"a property of conduct", "asks set gets", "", complaintAbout("progress"), "progress"},
		{"a rule of the program's own", "asks set gets", "", complaintAbout("manners"), "conformance"},
	} {
		tr := traceFromWords(c.words)
		tr.Complaints = c.complaints
		if c.ending != "" {
			tr.Ending = &trace.Ending{Rule: c.ending, Why: "so it is"}
		}
		var found []string
		for _, f := range Check(history.New(tr), nil).Findings {
			if f.Blame == BlameLock && (f.Property.Card().Subject == SubjectMisconduct || string(f.Property) == c.want) {
				found = append(found, string(f.Property))
				if f.At == 0 || f.Reason.IsZero() {
					t.Errorf("%s: %s broke at event %d, because %q", c.name, f.Property, f.At, f.Reason)
				}
			}
		}
		if got := strings.Join(found, ", "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Each word takes a second, and the TTL is two and a half seconds.
func TestMisconduct(t *testing.T) {
	for _, c := range []struct {
		name, words string
		want        Property
	}{
		{"an acquire that sends nothing and waits", "asks - - - horizon", Hang},
		{"it has asked", "asks get - - horizon", ""},
		{"not for a TTL", "asks - horizon", ""},
		{"a fault acts", "strike asks - - - horizon", ""},
		{"a fault has ended, less than a TTL ago", "asks - - strike lift - - horizon", ""},
		{"an extend that has not returned after a minute", "asks set gets prolongs get ... horizon", Hang},
		{"the minute is that of a fault", "asks set gets prolongs get strike ... lift horizon", ""},

		{"an acquire that fails and leaves its key", "asks sends sets refused - expires", KeyLeftBehind},
		{"it sends something else", "asks sends sets refused get - expires", ""},
		{"it only asks once more", "asks sends sets sends refused - expires", KeyLeftBehind},
		{"the node cannot be reached", "asks sends sets strike refused - expires", ""},
		{"its context had ended before", "late-asks sends sets refused - expires", ""},

		{"a release that fails", "asks set gets leaves removed fails", ReleaseFails},
		{"its key was gone", "asks set gets removed leaves fails", ""},
		{"a fault has acted since it was asked for", "asks strike lift set gets leaves removed fails", ""},
	} {
		tr := traceFromWords(c.words)
		tr.Locks[0].Claims = trace.Claims{}
		if got := misconductIn(tr); got != c.want {
			t.Errorf("%s (%s): got %q, want %q", c.name, c.words, got, c.want)
		}
	}
	// A lock must notify of a loss, and its grants must have tokens, only if the lock
	// claims so.
	for _, c := range []struct {
		claims trace.Claims
		tells  bool
		want   Property
	}{
		{trace.Claims{Notifies: true, Tokens: true}, true, ClaimTokens},
		{trace.Claims{Notifies: true}, false, ClaimNotifies},
		{trace.Claims{Notifies: true}, true, ""},
		{trace.Claims{}, false, ""},
	} {
		tr := traceFromWords("asks set gets leaves removed left")
		tr.Locks[0].Claims = c.claims
		for i := range tr.Events {
			tr.Events[i].Notifies = c.tells
		}
		if got := misconductIn(tr); got != c.want {
			t.Errorf("%+v, and the lease tells %v: got %q, want %q", c.claims, c.tells, got, c.want)
		}
	}
	// An acquire that waits for a grant that nobody uses is not a hang. It violates
	// progress.
	for words, want := range map[string]bool{
		"asks set gets leaves left again ... horizon":         true,
		"asks set gets leaves left again - horizon":           false, // less than a minute
		"asks set gets again ... horizon":                     false, // a client is in its section
		"asks set gets leaves removed left again ... horizon": false, // the grant no longer exists
	} {
		tr := traceFromWords(words)
		v := Check(history.New(tr), nil)
		if f := v.Finding(Progress); f.IsConclusive != want || want && f.Blame != BlameLock || want && misconductIn(tr) != "" {
			t.Errorf("%s: progress is %+v, and what is broken besides %q", words, f, misconductIn(tr))
		}
	}
	// A verdict on a run without misconduct has no finding on it.
	v := Check(historyOf("asks set gets leaves removed left"), nil)
	if all := JudgedProperties(v); slices.ContainsFunc(PropertiesOf(SubjectMisconduct), func(p Property) bool { return slices.Contains(all, p) }) {
		t.Errorf("a run without misconduct is judged by %v", all)
	}
}
