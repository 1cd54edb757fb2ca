package quiz

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// caseOf returns a case with two traces that were written by hand.
func caseOf(off, on *trace.Trace) *Case {
	v := &scenarios.Variant{Scenario: "by-hand", Lock: "redlock"}
	s := &scenarios.Scenario{Name: "by-hand", File: "by-hand.yaml", Variants: []*scenarios.Variant{v}}
	run := func(t *trace.Trace, fencing string) scenarios.RunResult {
		h := history.New(t)
		return scenarios.RunResult{Variant: v, Lock: "redlock", Fencing: fencing, History: h, Verdict: checks.Check(h, nil), Measures: checks.Measures(h)}
	}
	return &Case{s, run(off, scenarios.Off), run(on, scenarios.On)}
}

// pausedHolder is the case of a holder that is paused past the end of its lease.
func pausedHolder() *Case {
	return caseOf(simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes"))
}

// peaceful is the case of two clients, one after the other, with nothing that breaks.
func peaceful() *Case {
	make := func(fencing string) *trace.Trace {
		s := simtest.NewScript(fencing, 1)
		s.Acquires("client-1", 1, 1, s.Nodes()...)
		s.Reads("client-1", 1, 0)
		s.Writes("client-1", 1, 1, 1)
		s.At(5*time.Second, simtest.Begin("client-2", 1, trace.Acquire, 0))
		s.Then(trace.Event{Kind: trace.KindEnd, Process: "client-2", Section: 1, Step: trace.Acquire})
		s.At(20*time.Second, simtest.Begin("client-1", 1, trace.Release, 0))
		s.Then(trace.Event{Kind: trace.KindDelete, Process: "redis-1", Key: "x", By: &trace.Actor{Client: "client-1", Section: 1}, Owner: &trace.Actor{Client: "client-1", Section: 1}})
		s.Then(trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Release, OK: true})
		s.Acquires("client-2", 2, 2, s.Nodes()...)
		s.Reads("client-2", 2, 1)
		s.Writes("client-2", 2, 2, 2)
		s.Releases("client-2", 2, s.Nodes()...)
		return &s.Trace
	}
	return caseOf(make("none"), make("writes"))
}

// ask asks a question that must apply.
func ask(t *testing.T, f Form, c *Case) *Question {
	t.Helper()
	q := f.Ask(c)
	if q == nil {
		t.Fatalf("the form %s does not apply", f.Name)
	}
	return q
}

// choose returns the forecast of the choice whose text begins with some words.
func choose(t *testing.T, q *Question, words string) Forecast {
	t.Helper()
	for i, c := range q.Choices {
		if strings.HasPrefix(c.Text, words) {
			return Forecast{choices: []int{i}, Confidence: Certain}
		}
	}
	t.Fatalf("no choice begins with %q: %+v", words, q.Choices)
	return Forecast{}
}

// Every forecast for hand-written runs gets the grade that it deserves. A forecast of which only a
// part is right is graded as close.
func TestGradesOfForecasts(t *testing.T) {
	for _, c := range []struct {
		form     Form
		of       *Case
		forecast string
		want     Grade
	}{
		{verdictForm, pausedHolder(), "unsafe without tokens, safe", Right},
		{verdictForm, pausedHolder(), "unsafe without tokens and", Close},
		{verdictForm, pausedHolder(), "safe without tokens and", Close},
		{verdictForm, pausedHolder(), "safe without tokens, unsafe", Wrong},
		{verdictForm, peaceful(), "safe without tokens and", Right},
		{verdictForm, peaceful(), "unsafe without tokens and", Wrong},

		// The lease is not what breaks, although two clients are at work at the same time.
		{breakForm, pausedHolder(), "section-exclusion", Right},
		{breakForm, pausedHolder(), "lease-exclusion", Wrong},
		{breakForm, pausedHolder(), "the data", Close},
		{breakForm, pausedHolder(), "nothing breaks", Wrong},
		{breakForm, peaceful(), "nothing breaks", Right},
		{breakForm, peaceful(), "the data", Wrong},

		{refusalForm, pausedHolder(), "client-1's write of x, because the storage", Right},
		{refusalForm, pausedHolder(), "client-1's write of x, because it carries no token", Close},
		{refusalForm, pausedHolder(), "client-2's write of x, because the storage", Wrong},
		{refusalForm, pausedHolder(), "none", Wrong},

		{holderForm, peaceful(), "by its servers: client-1; by their own belief: client-1", Right},
		{holderForm, peaceful(), "by its servers: nobody; by their own belief: client-1", Close},
		{holderForm, peaceful(), "by its servers: client-2; by their own belief: client-2", Wrong},
	} {
		q := ask(t, c.form, c.of)
		if got := q.Grade(choose(t, q, c.forecast)); got != c.want {
			t.Errorf("%s: the forecast %q is %s, want %s", c.form.Name, c.forecast, gradeTexts[got], gradeTexts[c.want])
		}
		if got := q.Grade(Forecast{isMissing: true}); got != NoForecast {
			t.Errorf("%s: no forecast is %s", c.form.Name, gradeTexts[got])
		}
	}
}

// Two clients hold a lease at the same time, and therefore are in their sections at the same
// time. The lease is what breaks.
func TestTwoLeasesBreakBeforeTwoSections(t *testing.T) {
	make := func(fencing string) *trace.Trace {
		s := simtest.NewScript(fencing, 3)
		s.Acquires("client-1", 1, 1, s.Nodes()...)
		s.Reads("client-1", 1, 0)
		s.Acquires("client-2", 1, 2, s.Nodes()[:2]...)
		s.Reads("client-2", 1, 0)
		s.Releases("client-2", 1)
		s.Releases("client-1", 1)
		return &s.Trace
	}
	q := ask(t, breakForm, caseOf(make("none"), make("writes")))
	for words, want := range map[string]Grade{"lease-exclusion": Right, "section-exclusion": Close, "nothing": Wrong} {
		if got := q.Grade(choose(t, q, words)); got != want {
			t.Errorf("the forecast %s is %s, want %s", words, gradeTexts[got], gradeTexts[want])
		}
	}
}

func TestWhenTheNextClientIsGrantedTheLock(t *testing.T) {
	q := ask(t, nextForm, peaceful())
	for line, want := range map[string]Grade{"20": Right, "21.9s": Right, "22.2s": Wrong, "18100ms": Right, "never": Wrong, "5s": Wrong, "1m": Wrong} {
		f, err := q.parseForecast(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if got := q.Grade(f); got != want {
			t.Errorf("the forecast %q of %s is %s, want %s", line, q.Estimate, gradeTexts[got], gradeTexts[want])
		}
	}
	alone := simtest.NewScript("none", 1)
	alone.Acquires("client-1", 1, 1, alone.Nodes()...)
	alone.Releases("client-1", 1, alone.Nodes()...)
	if q := nextForm.Ask(caseOf(&alone.Trace, &alone.Trace)); q != nil {
		t.Errorf("no other client wants the lock, and the form asks %q", q.Text)
	}
	waits := simtest.NewScript("none", 1)
	waits.Acquires("client-1", 1, 1, waits.Nodes()...)
	waits.Then(simtest.Begin("client-2", 1, trace.Acquire, 0))
	if q := ask(t, nextForm, caseOf(&waits.Trace, &waits.Trace)); !q.Estimate.IsNever {
		t.Errorf("client-2 never gets the lock, and the answer is %s", q.Answer())
	}
}

// A paused client believes what it believed when its pause began, although its lease has ended
// by every clock.
func TestWhatAPausedClientBelieves(t *testing.T) {
	make := func(fencing string) *trace.Trace {
		s := simtest.NewScript(fencing, 1)
		s.Acquires("client-1", 1, 1, s.Nodes()...)
		s.Then(trace.Event{Kind: trace.KindStrike, Fault: 1, Text: "pause client-1"}, trace.Event{Kind: trace.KindPause, Process: "client-1", Text: "stop"})
		s.Faults = []trace.FaultInfo{{Text: "pause client-1", Assumption: "process"}}
		s.At(30*time.Second, trace.Event{Kind: trace.KindExpire, Process: "redis-1", Key: "x", Owner: &trace.Actor{Client: "client-1", Section: 1}})
		s.At(60*time.Second, trace.Event{Kind: trace.KindLift, Fault: 1, Text: "pause client-1"})
		s.Then(trace.Event{Kind: trace.KindResume, Process: "client-1"})
		s.At(80*time.Second, simtest.Begin("client-1", 1, trace.Release, 0))
		s.Then(trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Release})
		return &s.Trace
	}
	c := caseOf(make("none"), make("writes"))
	q := ask(t, beliefForm, c)
	if want := "What does client-1 believe about the lock at 50s? "; !strings.HasPrefix(q.Text, want) {
		t.Errorf("the question is %q, want %q", q.Text, want)
	}
	for words, want := range map[string]Grade{
		"it believes that it holds":     Right,
		"it could see on its own clock": Wrong,
		"it has been notified":          Wrong,
		"it is in no section":           Wrong,
	} {
		if got := q.Grade(choose(t, q, words)); got != want {
			t.Errorf("the forecast %q is %s, want %s", words, gradeTexts[got], gradeTexts[want])
		}
	}
	// The pause has ended, and the client's own clock is past the end of its lease.
	h := c.Off.History
	k, ok := knows(h, newCamera(h), "client-1", momentAt(h, 70*time.Second))
	if got := beliefTexts[k.belief]; !ok || k.isPaused || got != "could see on its own clock that its lease has ended, and has not been notified of a loss" {
		t.Errorf("at 70s, client-1 %s (paused: %v)", got, k.isPaused)
	}
}

// No moment is chosen while a message of the lock is on its way, or right before or after
// something happens.
func TestCalmMomentsAreCalm(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Acquires("client-1", 1, 1, s.Nodes()...)
	s.At(10*time.Second, trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Conn: 1, Msg: 1})
	s.At(20*time.Second, trace.Event{Kind: trace.KindDeliver, Process: "redis-1", Peer: "client-1", Conn: 1, Msg: 1})
	s.At(20*time.Second+50*time.Millisecond, trace.Event{Kind: trace.KindHorizon})
	var got []string
	for _, c := range findCalm(history.New(&s.Trace)) {
		got = append(got, clockTime(c.moment.At))
	}
	if want := []string{"5s"}; !slices.Equal(got, want) {
		t.Errorf("the moments are %v, want %v", got, want)
	}
}

func TestRoundMoment(t *testing.T) {
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{2 * time.Second, 58 * time.Second, "30s"},
		{3 * time.Second, 8 * time.Second, "6s"},
		{3100 * time.Millisecond, 3900 * time.Millisecond, "3.5s"},
		{3110 * time.Millisecond, 3190 * time.Millisecond, "3.15s"},
	} {
		if got, ok := roundMoment(c.from, c.to); !ok || clockTime(got) != c.want {
			t.Errorf("between %v and %v: %v, want %s", c.from, c.to, got, c.want)
		}
	}
	if got, ok := roundMoment(3111*time.Microsecond, 3112*time.Microsecond); ok {
		t.Errorf("a moment needs more than two decimals, and %v is offered", got)
	}
}

// Nothing is asked of a run that is inconclusive.
func TestNothingIsAskedOfAnInconclusiveRun(t *testing.T) {
	off, on := simtest.PausedHolderTrace("none"), simtest.PausedHolderTrace("writes")
	on.Doubts = []string{"somebody has doubts"}
	for _, f := range forms {
		if q := f.Ask(caseOf(off, on)); q != nil {
			t.Errorf("the form %s asks %q", f.Name, q.Text)
		}
	}
}

func TestWhichAndCompareAndMeasure(t *testing.T) {
	cases := []*Case{pausedHolder(), peaceful(), pausedHolder()}
	labels := []string{"one", "two", "three"}
	q := askWhich(criterion{Fencing: "off", Verdict: "unsafe"}, labels, cases)
	for line, want := range map[string]Grade{"a c": Right, "ca": Right, "a": Close, "abc": Close, "none": Wrong, "b": Wrong} {
		f, err := q.parseForecast(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if got := q.Grade(f); got != want {
			t.Errorf("the forecast %q is %s, want %s", line, gradeTexts[got], gradeTexts[want])
		}
	}
	if q := askWhich(criterion{Fencing: "on", Violates: checks.SectionExclusion}, labels, cases); !slices.Equal(q.rightChoices(), []int{0, 2}) {
		t.Errorf("the right answers are %v", q.rightChoices())
	}
	calls := figureName{Measure: "attempts", Figure: "failed", Text: "Where do the most attempts fail?", Most: true}
	if q := askCompare(calls, labels[:2], cases[:2]); !slices.Equal(q.rightChoices(), []int{1}) {
		t.Errorf("the right answers are %v: %s", q.rightChoices(), q.Reason)
	}
	if q := askCompare(calls, labels[1:], []*Case{cases[1], cases[1]}); !slices.Equal(q.rightChoices(), []int{0, 1}) {
		t.Errorf("equal figures: the right answers are %v", q.rightChoices())
	}
	if q := askCompare(calls, labels, []*Case{cases[1], cases[1], cases[0]}); !slices.Equal(q.rightChoices(), []int{0, 1}) {
		t.Errorf("two of three figures are the best, and the right answers are %v: %s", q.rightChoices(), q.Reason)
	}
	if q := askMeasure(calls, cases[1]); q.Answer() != "1" {
		t.Errorf("the measure is %s, want 1", q.Answer())
	}
	if q := askMeasure(figureName{Measure: "attempts", Figure: "none"}, cases[1]); q != nil {
		t.Error("a figure that does not exist is asked for")
	}
}
