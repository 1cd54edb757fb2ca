package story

import (
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// lost returns the event that client-1 is notified of the loss of a section's lease.
func lost(section int) trace.Event {
	return trace.Event{Kind: trace.KindLost, Process: "client-1", Section: section}
}

// If two sections of a client share a session, both learn of its loss at the same time. The
// clause of the earlier section names it, because the later clause is about the current one.
func TestLossOfTwoSectionsOfOneClient(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Acquires("client-1", 1, 1, "redis-1")
	s.Releases("client-1", 1, "redis-1")
	s.Acquires("client-1", 2, 2, "redis-1")
	s.Then(lost(1), lost(2))
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.003s  client-1  gets the lock on redis-1: token 1, lease until 30.001s
0.006s  client-1  releases the lock on redis-1
0.009s  client-1  gets the lock on redis-1: token 2, lease until 30.007s
0.010s  client-1  learns from the lock that the lease of its section 1 is lost, after the end of that section
0.011s  client-1  learns from the lock that its lease is lost
`)
}

// A delay of a notification is counted without the pauses of the client. The clause says so,
// because the times in the timeline show a longer delay.
func TestLateNotification(t *testing.T) {
	for _, test := range []struct {
		name   string
		paused bool
		want   string
	}{
		{"the client runs", false, "learns from the lock that its lease is lost, 4.99s after the lease ended"},
		{"the client is paused for a part of the time", true, "learns from the lock that its lease is lost, 4.99s after the lease ended (1.99s without its pause)"},
	} {
		s := simtest.NewScript("none", 1)
		s.Acquires("client-1", 1, 1, "redis-1")
		if test.paused {
			s.At(31*time.Second, trace.Event{Kind: trace.KindPause, Process: "client-1", Text: "stop"})
			s.At(34*time.Second, trace.Event{Kind: trace.KindResume, Process: "client-1"})
		}
		s.At(35*time.Second-10*time.Millisecond, lost(1))
		clauses := Clauses(history.New(&s.Trace), false)
		if last := clauses[len(clauses)-1]; string(last.Predicate) != test.want {
			t.Errorf("%s: the last clause is %q, want %q", test.name, last.Predicate, test.want)
		}
	}
}

// The step check only reads a clock, so it can succeed after the lock has reported the loss.
func TestCheckAfterTheLoss(t *testing.T) {
	check := []trace.Event{
		simtest.Begin("client-1", 1, trace.Check, 0),
		{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Check, OK: true},
	}
	for _, test := range []struct {
		name   string
		events []trace.Event
		want   string
	}{
		{"no loss", check, "checks its lease by its own clock: it has not ended"},
		{"a loss before", append([]trace.Event{lost(1)}, check...), "checks its lease by its own clock: it has not ended, although the lock has reported its loss"},
		{"a loss afterwards", append(check[:2:2], lost(1)), "checks its lease by its own clock: it has not ended"},
	} {
		s := simtest.NewScript("none", 1)
		s.Acquires("client-1", 1, 1, "redis-1")
		s.Then(test.events...)
		for _, c := range Clauses(history.New(&s.Trace), false) {
			if strings.HasPrefix(string(c.Predicate), "checks") && string(c.Predicate) != test.want {
				t.Errorf("%s: the clause is %q, want %q", test.name, c.Predicate, test.want)
			}
		}
	}
}
