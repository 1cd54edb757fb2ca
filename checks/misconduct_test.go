package checks

import (
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// If a client's code ends a run, or a client's program complains, the verdict has a finding
// against the lock for it, in addition to those from the events. A lock that panics has no
// other finding of misconduct. words is the trace; see [wordEvents].
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
		{"no ending and no complaint", "asks set gets leaves removed left", "", nil, ""},
		{"a panic", "asks set gets", trace.ConductPanic, nil, "panic"},
		{"a leak", "asks set gets", trace.ConductLeak, nil, "goroutine leak"},
		{"a leak, and a key left behind", "asks set gets leaves left - expires", trace.ConductLeak, nil, "goroutine leak, key left behind"},
		{"a panic, and a key left behind", "asks set gets leaves left - expires", trace.ConductPanic, nil, "panic"},
		{"a complaint that no lock can be made", "-", "", complaintAbout(trace.CannotMake), "cannot be made"},
		{"a complaint that no lock can be made while a fault acts", "strike", "", complaintAbout(trace.CannotMake), ""},
		{"a complaint about a claim", "asks set gets", "", complaintAbout("claim: extends"), "claim: extends"},
		{"a complaint about a property of conduct", "asks set gets", "", complaintAbout("progress"), "progress"},
		{"a complaint about the program's own rule", "asks set gets", "", complaintAbout("manners"), "conformance"},
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
					t.Errorf("%s: %s broke at event %d with the reason %q, want an event and a reason", c.name, f.Property, f.At, f.Reason)
				}
			}
		}
		if got := strings.Join(found, ", "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Each word is an event, see [wordEvents]. Each takes a second, and the TTL is two and a half
// seconds.
func TestMisconduct(t *testing.T) {
	for _, c := range []struct {
		name, words string
		want        Property
	}{
		{"an acquire that sends nothing and waits", "asks - - - horizon", Hang},
		{"an acquire that has sent a command", "asks get - - horizon", ""},
		{"an acquire that has sent nothing for less than a TTL", "asks - horizon", ""},
		{"an acquire that sends nothing while a fault acts", "strike asks - - - horizon", ""},
		{"an acquire that has sent nothing for less than a TTL since a fault was lifted", "asks - - strike lift - - horizon", ""},
		{"an extend that has not returned after a minute", "asks set gets prolongs get ... horizon", Hang},
		{"an extend that has not returned after a minute in which a fault acted", "asks set gets prolongs get strike ... lift horizon", ""},

		{"an acquire that fails and leaves its key", "asks sends sets refused - expires", KeyLeftBehind},
		{"an acquire that fails, leaves its key and sends another command", "asks sends sets refused get - expires", ""},
		{"an acquire that fails, leaves its key and sends the same command again", "asks sends sets sends refused - expires", KeyLeftBehind},
		{"an acquire that fails, leaves its key and cancels the command", "asks sends sets cancelled refused - expires", KeyLeftBehind},
		{"an acquire that fails and leaves its key while a fault acts", "asks sends sets strike refused - expires", ""},
		{"an acquire with an ended context that leaves its key", "late-asks sends sets refused - expires", ""},

		{"a release that fails", "asks set gets leaves removed fails", ReleaseFails},
		{"a release that fails after the key was removed", "asks set gets removed leaves fails", ""},
		{"a release that fails after the lock itself removed the key", "asks set gets dropped leaves fails", ReleaseFails},
		{"a release that fails because another acquisition removed the key meanwhile", "asks set gets leaves stolen fails", ""},
		{"a release that fails after a fault has acted since acquire was called", "asks strike lift set gets leaves removed fails", ""},
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
		claims   trace.Claims
		notifies bool // whether the grants notify
		want     Property
	}{
		{trace.Claims{Notifies: true, Tokens: true}, true, ClaimTokens},
		{trace.Claims{Notifies: true}, false, ClaimNotifies},
		{trace.Claims{Notifies: true}, true, ""},
		{trace.Claims{}, false, ""},
	} {
		tr := traceFromWords("asks set gets leaves removed left")
		tr.Locks[0].Claims = c.claims
		for i := range tr.Events {
			tr.Events[i].Notifies = c.notifies
		}
		if got := misconductIn(tr); got != c.want {
			t.Errorf("claims %+v, the grants notify: %v: got %q, want %q", c.claims, c.notifies, got, c.want)
		}
	}
	// An acquire that waits a minute for a grant that no client uses is not a hang. It
	// violates progress.
	for words, want := range map[string]bool{
		"asks set gets leaves left again ... horizon":         true,
		"asks set gets leaves left again - horizon":           false, // less than a minute
		"asks set gets again ... horizon":                     false, // a client is in its section
		"asks set gets leaves removed left again ... horizon": false, // the grant no longer exists
	} {
		tr := traceFromWords(words)
		v := Check(history.New(tr), nil)
		if f := v.Finding(Progress); f.IsConclusive != want || want && f.Blame != BlameLock || want && misconductIn(tr) != "" {
			t.Errorf("%s: progress is %+v, want a conclusive violation: %v; the misconduct is %q, want none", words, f, want, misconductIn(tr))
		}
	}
	// If a run has no misconduct, its verdict has no finding about misconduct.
	v := Check(historyOf("asks set gets leaves removed left"), nil)
	if all := JudgedProperties(v); slices.ContainsFunc(PropertiesOf(SubjectMisconduct), func(p Property) bool { return slices.Contains(all, p) }) {
		t.Errorf("a run without misconduct is judged by %v, want no property of misconduct", all)
	}
}

// A run with too many events is the lock's fault only if one call, or what a client sends
// between its calls, has a large share of the requests. Otherwise the clients' programs have
// called the lock too often.
func TestEndlessByProgram(t *testing.T) {
	shortCalls := strings.Repeat("asks sends refused ", manyCalls)
	for _, c := range []struct {
		name, words string
		byLock      bool
	}{
		{"a thousand short calls", shortCalls, false},
		{"fewer short calls", "asks sends refused asks sends refused", true},
		{"a thousand short calls, and one that does not end", shortCalls + "asks " + strings.Repeat("sends ", manyCalls), true},
		{"a thousand short calls, and endless requests outside of them", shortCalls + strings.Repeat("ping ", manyCalls), true},
	} {
		tr := traceFromWords(c.words)
		tr.Locks[0].Claims = trace.Claims{}
		tr.Ending = &trace.Ending{Rule: trace.ConductEndless, Why: "too much happens"}
		v := Check(history.New(tr), nil)
		if byLock := v.Finding(EndlessRetry).Outcome == Violated; byLock != c.byLock {
			t.Errorf("%s: the lock is to blame: %v, want %v", c.name, byLock, c.byLock)
		}
		if isEnding := slices.ContainsFunc(v.Reasons, Reason.IsEnding); isEnding != c.byLock || len(v.Reasons) == 0 {
			t.Errorf("%s: the reasons for doubt are %v; want one, and that the lock ended the run: %v", c.name, v.Reasons, c.byLock)
		}
	}
}
