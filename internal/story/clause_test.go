package story

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// wantClauses fails the test unless the clauses are those of want. Each line of want is a
// clause: the time, the subject and the predicate. The number of blanks does not matter.
func wantClauses(t *testing.T, clauses []Clause, want string) {
	t.Helper()
	inOne := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	var got, wanted []string
	for _, c := range clauses {
		got = append(got, inOne(fmt.Sprintf("%s %s %s", Moment(c.At, 3), c.Subject, c.Predicate)))
	}
	for line := range strings.Lines(strings.TrimLeft(want, "\n")) {
		wanted = append(wanted, inOne(line))
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(wanted, "\n"))
	}
}

// If another event comes between the beginning and the end of a step, the step has two clauses.
func TestInterruptedStepHasTwoClauses(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Then(
		simtest.Begin("client-1", 1, trace.Acquire, 0),
		simtest.Begin("client-1", 1, trace.Read, 0),
		trace.Event{Kind: trace.KindPause, Process: "client-2"},
		trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Read, Text: "no answer within 5s"},
	)
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.001s  client-1  asks for the lock
0.002s  client-1  sends its read
0.003s  client-2  is paused
0.004s  client-1  stops waiting for the answer to its read: no answer within 5s
`)
}

// Equal events on several nodes, and equal failures in a row, are one clause.
func TestEqualEventsAreOneClause(t *testing.T) {
	s := simtest.NewScript("none", 5)
	owner := &trace.Actor{Client: "client-1", Section: 1}
	for _, n := range []string{"redis-3", "redis-4"} {
		s.Then(trace.Event{Kind: trace.KindForget, Process: n, Key: "x", Owner: owner})
	}
	for conn, node := range []string{"redis-3", "redis-3", "redis-4"} {
		ev := trace.Event{Process: "client-2", Peer: node, Conn: conn}
		sent, timeout := ev, ev
		sent.Kind, timeout.Kind = trace.KindSend, trace.KindTimeout
		s.Then(sent, timeout)
	}
	for range 3 {
		s.Then(
			simtest.Begin("client-2", 1, trace.Acquire, 0),
			trace.Event{Kind: trace.KindEnd, Process: "client-2", Section: 1, Step: trace.Acquire, Text: "too few nodes"},
		)
	}
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.001s            client-1's key was lost in the crash on redis-3 and redis-4 (2 of 5 nodes)
0.004s  client-2  gives up waiting for redis-3 (2 times) and redis-4
0.010s  client-2  fails to get the lock, from here on 3 times in a row: too few nodes
`)
}

// A clause about a client that changes another client's key names both. A change of a client's
// own expiry has no clause.
func TestChangesOfAnotherClientsKey(t *testing.T) {
	s := simtest.NewScript("none", 1)
	one, two := &trace.Actor{Client: "client-1", Section: 1}, &trace.Actor{Client: "client-2", Section: 1}
	s.Then(
		trace.Event{Kind: trace.KindSet, Process: "redis-1", Key: "x", By: two, Owner: two, Prior: one},
		trace.Event{Kind: trace.KindTouch, Process: "redis-1", Key: "x", By: one, Owner: two},
		trace.Event{Kind: trace.KindTouch, Process: "redis-1", Key: "x", By: two, Owner: two},
		trace.Event{Kind: trace.KindDelete, Process: "redis-1", Key: "x", By: one, Owner: two},
	)
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.001s  client-2  overwrites client-1's key on redis-1
0.002s  client-1  changes the expiry of client-2's key on redis-1
0.004s  client-1  removes client-2's key on redis-1
`)
}

// A clause says that a key was set or removed after the attempt or the release had ended.
func TestLateKeyChanges(t *testing.T) {
	s := simtest.NewScript("none", 2)
	s.Acquires("client-1", 1, 1, "redis-1").Releases("client-1", 1, "redis-1")
	s.Acquires("client-2", 1, 2, "redis-1")
	late := &trace.Actor{Client: "client-1", Section: 1}
	s.Then(
		trace.Event{Kind: trace.KindSet, Process: "redis-2", Key: "x", By: late, Owner: late, TTL: time.Second, Expires: 2 * time.Second},
		trace.Event{Kind: trace.KindDelete, Process: "redis-2", Key: "x", By: late, Owner: late},
	)
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.003s  client-1  gets the lock on redis-1 (1 of 2 nodes): token 1, lease until 30.001s
0.006s  client-1  releases the lock on redis-1 (1 of 2 nodes)
0.009s  client-2  gets the lock on redis-1 (1 of 2 nodes): token 2, lease until 30.007s
0.010s  client-1  its key is set on redis-2 (1 of 2 nodes) only now, after it had got the lock (expires at 2.000s)
0.011s  client-1  its key is removed on redis-2 (1 of 2 nodes) only now, after its release had ended
`)
}

// If a lock sends its release after the call has returned, the release can be lost. Then
// the key remains, and the clause says so.
func TestLostRelease(t *testing.T) {
	for _, test := range []struct {
		name string
		more func(*trace.Actor) []trace.Event // what happens after the call of release
		ok   bool
		want string
	}{
		{"the release is lost", nil, true, `
0.003s  client-1  gets the lock on redis-1: token 1, lease until 30.001s
0.005s  client-1  believes that it has released the lock, but its key remains on redis-1
`},
		{"the release is lost, and the key expires", func(by *trace.Actor) []trace.Event {
			return []trace.Event{{Kind: trace.KindExpire, Process: "redis-1", Key: "x", Owner: by}}
		}, true, `
0.003s  client-1  gets the lock on redis-1: token 1, lease until 30.001s
0.005s  client-1  believes that it has released the lock, but its key remains on redis-1 until 0.006s
0.006s            client-1's key expired on redis-1
`},
		{"the release arrives late", func(by *trace.Actor) []trace.Event {
			return []trace.Event{{Kind: trace.KindDelete, Process: "redis-1", Key: "x", By: by, Owner: by}}
		}, true, `
0.003s  client-1  gets the lock on redis-1: token 1, lease until 30.001s
0.005s  client-1  releases the lock, but on no node yet
0.006s  client-1  its key is removed on redis-1 only now, after its release had ended
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := simtest.NewScript("none", 1)
			s.Acquires("client-1", 1, 1, "redis-1")
			s.Then(
				simtest.Begin("client-1", 1, trace.Release, 0),
				trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Release, OK: test.ok},
			)
			if test.more != nil {
				s.Then(test.more(&trace.Actor{Client: "client-1", Section: 1})...)
			}
			wantClauses(t, Clauses(history.New(&s.Trace), false), test.want)
		})
	}
}

func TestClockChanges(t *testing.T) {
	s := simtest.NewScript("none", 1)
	clock := func(at time.Duration, why trace.ClockChange, wall time.Duration, ppb int64) {
		s.At(at, trace.Event{Kind: trace.KindClock, Process: "redis-1", Clocks: &trace.Clocks{Wall: int64(wall), RatePPB: ppb, Why: why}})
	}
	clock(10*time.Second, "jump", 41*time.Second, 0)
	clock(11*time.Second, "drift", 42*time.Second, 20_000_000)
	clock(12*time.Second, "jump", 33020*time.Millisecond, 20_000_000)
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
10.000s  redis-1  its wall clock jumps forward by 31s
11.000s  redis-1  its clocks now run 2% fast
12.000s  redis-1  its wall clock jumps back by 10s
`)
}

// If a key exists again, the clause says why.
func TestReasonForARestoredKey(t *testing.T) {
	holder := &trace.Actor{Client: "client-1", Section: 1}
	back := trace.Event{Kind: trace.KindRestore, Process: "redis-1", Key: "x", Owner: holder, TTL: time.Second, Expires: 21 * time.Second}
	clock := trace.Event{Kind: trace.KindClock, Process: "redis-1", Clocks: &trace.Clocks{Wall: int64(9 * time.Second), Why: trace.Jumped}}
	otherClock := clock
	otherClock.Process = "redis-2"
	for _, c := range []struct {
		name   string
		before []trace.Event
		want   string
	}{
		{"the node's clock was set back", []trace.Event{clock}, "client-1's key exists again on redis-1 (expires at 21.000s): the clock was set back"},
		{"the node's clock was set back, and another key exists again too", []trace.Event{clock, {Kind: trace.KindRestore, Process: "redis-1", Key: "y", Owner: holder}}, "client-1's key exists again on redis-1 (expires at 21.000s): the clock was set back"},
		{"another node's clock was set back", []trace.Event{otherClock}, "client-1's key is copied to redis-1 (expires at 21.000s)"},
		{"the node crashed and restored the key from disk", []trace.Event{{Kind: trace.KindCrash, Process: "redis-1"}, {Kind: trace.KindRestart, Process: "redis-1"}}, "client-1's key came back from disk on redis-1 (expires at 21.000s)"},
		{"the node crashed, its clock was set back, and it restored the key from disk", []trace.Event{{Kind: trace.KindCrash, Process: "redis-1"}, clock, {Kind: trace.KindRestart, Process: "redis-1"}}, "client-1's key came back from disk on redis-1 (expires at 21.000s)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := simtest.NewScript("none", 1)
			for _, ev := range append(c.before, back) {
				s.At(20*time.Second, ev)
			}
			clauses := Clauses(history.New(&s.Trace), false)
			if last := string(clauses[len(clauses)-1].Predicate); last != c.want {
				t.Errorf("the last clause is %q, want %q", last, c.want)
			}
		})
	}
}

// A message that is held back has a clause when it is held and one when it is delivered.
func TestHeldMessage(t *testing.T) {
	s := simtest.NewScript("none", 1)
	message := trace.Event{Conn: 1, Msg: 2, Section: 1, Step: trace.Write, Text: "PUT x", Process: "client-1", Peer: "storage"}
	other := message
	other.Peer, other.Msg = "redis-1", 3
	as := func(kind trace.Kind, ev trace.Event) trace.Event {
		ev.Kind = kind
		return ev
	}
	deliver := as(trace.KindDeliver, message)
	deliver.Process, deliver.Peer = "storage", "client-1"
	s.Then(as(trace.KindSend, message), as(trace.KindHold, message), as(trace.KindSend, other), as(trace.KindLose, other))
	s.At(40*time.Second, deliver)
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.002s  network  holds back client-1's write request to storage
0.004s  network  loses messages in flight from client-1 to redis-1
40.000s  network  delivers client-1's write request to storage after being held back for 40s
`)
}

// A timeout on a connection that awaits no reply has no clause.
func TestNoClauseForTimeoutOnAnIdleConnection(t *testing.T) {
	s := simtest.NewScript("none", 1)
	message := trace.Event{Process: "client-1", Peer: "redis-1", Conn: 1, Msg: 1}
	sent, answered, timeout := message, message, message
	sent.Kind, answered.Kind, timeout.Kind = trace.KindSend, trace.KindDeliver, trace.KindTimeout
	answered.Reply = true
	s.Then(sent, answered, timeout)
	wantClauses(t, Clauses(history.New(&s.Trace), false), "\n")
}

// The reason of a refusal is not repeated when the client stops because of it.
func TestReasonIsNotRepeated(t *testing.T) {
	s := simtest.NewScript("writes", 1)
	s.Then(simtest.Begin("client-1", 1, trace.Acquire, 0))
	s.Refused("client-1", 1, 1, "token 1 is too old")
	s.Then(
		trace.Event{Kind: trace.KindDone, Process: "client-1", Text: "token 1 is too old"},
		trace.Event{Kind: trace.KindDone, Process: "client-1", Text: "after 1 attempt: token 1 is too old"},
	)
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.001s  client-1  asks for the lock
0.003s  storage   refuses client-1's write of x: token 1 is too old
0.005s  client-1  stops, because its write was refused
0.006s  client-1  stops: after 1 attempt
`)
}

// A client that continues with another section after a failed one has not stopped because
// of the failure.
func TestClientThatContinuedHasNotStopped(t *testing.T) {
	s := simtest.NewScript("writes", 1)
	s.Then(simtest.Begin("client-1", 1, trace.Acquire, 0))
	s.Refused("client-1", 1, 1, "token 1 is too old")
	s.Then(
		simtest.Begin("client-1", 2, trace.Acquire, 0),
		trace.Event{Kind: trace.KindDone, Process: "client-1", Text: "token 1 is too old"},
	)
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.001s  client-1  asks for the lock
0.003s  storage   refuses client-1's write of x: token 1 is too old
0.005s  client-1  asks for the lock
0.006s  client-1  has finished, but a section failed, because its write was refused
`)
}

// Clauses that repeat several times in the same order are written once.
func TestRepeatedClausesAreWrittenOnce(t *testing.T) {
	s := simtest.NewScript("none", 1)
	for n := range 5 {
		s.Then(
			simtest.Begin("client-1", n+1, trace.Acquire, 0),
			trace.Event{Kind: trace.KindRefuse, Process: "client-1", Peer: "redis-1", Text: "connection refused"},
			trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: n + 1, Step: trace.Acquire, Text: "no node"},
		)
	}
	s.Then(trace.Event{Kind: trace.KindHorizon, Text: "the run was cut off at its horizon"})
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.001s  client-1  asks for the lock
0.002s  client-1  cannot connect to redis-1: connection refused
0.003s  client-1  fails to get the lock: no node
0.015s            the 3 rows from 0.001s to 0.003s happened 4 more times until here
0.016s            the run is cut off here, at its horizon (its time limit)
`)
}

// A replica is not one of the lock's nodes, even after it has taken over from one. So
// clauses name it, but do not count it.
func TestReplicasAreNamedAndNotCounted(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Processes = append(s.Processes, trace.ProcessInfo{Name: "replica-1", Role: trace.RoleNode})
	s.Acquires("client-1", 1, 1, "redis-1")
	s.Acquires("client-2", 1, 2, "replica-1")
	s.Releases("client-1", 1)
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.003s  client-1  gets the lock on redis-1: token 1, lease until 30.001s
0.006s  client-2  gets the lock on replica-1: token 2, lease until 30.004s
0.008s  client-1  believes that it has released the lock, but its key remains on redis-1
`)
}

// A clause says that a lease ends if its client has not released the lock by then. The end
// depends on the clock that the lock reads, and on the latest extension.
func TestLeasesThatEndBeforeRelease(t *testing.T) {
	at := func(d time.Duration) *fakeclock.Reading {
		return &fakeclock.Reading{Clock: fakeclock.Wall, Nanos: int64(d)}
	}
	acquire := trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Acquire, OK: true, LeaseEnd: at(10 * time.Second)}
	extend := trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Extend, OK: true, LeaseEnd: at(20 * time.Second)}
	release := simtest.Begin("client-1", 1, trace.Release, 0)
	late := trace.Event{Kind: trace.KindHorizon, Text: "late"}
	// saysThatLeaseEnds reports whether a clause says so in a run with these events after acquire.
	saysThatLeaseEnds := func(story func(s *simtest.Script)) bool {
		s := simtest.NewScript("none", 1)
		s.Then(acquire)
		story(s)
		s.At(time.Minute, late)
		return slices.ContainsFunc(Clauses(history.New(&s.Trace), false), func(c Clause) bool {
			return strings.HasPrefix(string(c.Predicate), "its lease ends, but")
		})
	}
	for name, test := range map[string]struct {
		story func(*simtest.Script)
		want  bool
	}{
		"the client does nothing":                                {func(*simtest.Script) {}, true},
		"the client releases before the end":                     {func(s *simtest.Script) { s.At(9*time.Second, release) }, false},
		"the client releases after the end":                      {func(s *simtest.Script) { s.At(11*time.Second, release) }, true},
		"the lease is extended, and released before its new end": {func(s *simtest.Script) { s.At(9*time.Second, extend).At(19*time.Second, release) }, false},
		"the lease is extended, and released after its new end":  {func(s *simtest.Script) { s.At(9*time.Second, extend).At(21*time.Second, release) }, true},
		"the client crashes before the end": {func(s *simtest.Script) {
			s.At(9*time.Second, trace.Event{Kind: trace.KindCrash, Process: "client-1"})
		}, false},
		"the lock notifies the client before the end": {func(s *simtest.Script) {
			s.At(9*time.Second, trace.Event{Kind: trace.KindLost, Process: "client-1", Section: 1})
		}, false},
	} {
		if got := saysThatLeaseEnds(test.story); got != test.want {
			t.Errorf("%s: a clause says that the lease ends: %v, want %v", name, got, test.want)
		}
	}
}

// If a lease ends and is extended later, it counts as one lease, and the clause says that
// it was extended late. The same is true for a lock that does not declare the end of its
// leases: they last for one TTL. There is no clause if the client learns of the loss at the
// moment at which the lease ends.
func TestLeasesThatAreExtendedLate(t *testing.T) {
	acquire := trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Acquire, Lock: "x", OK: true}
	extend, lost := acquire, acquire
	extend.Step, lost.Kind = trace.Extend, trace.KindLost
	s := simtest.NewScript("none", 1)
	s.Then(simtest.Begin("client-1", 1, trace.Acquire, 0), acquire)
	s.At(40*time.Second, simtest.Begin("client-1", 1, trace.Extend, 0)).At(41*time.Second, extend)
	s.At(80*time.Second, simtest.Begin("client-2", 1, trace.Acquire, 0))
	two := acquire
	two.Process, lost.Process = "client-2", "client-2"
	two.LeaseEnd = &fakeclock.Reading{Clock: fakeclock.Wall, Nanos: int64(110 * time.Second)}
	s.At(81*time.Second, two).At(110*time.Second, lost)
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.002s  client-1  gets the lock without having set a key on any node
30.001s  client-1  its lease ends, and is extended only at 41.000s
41.000s  client-1  has extended its lease
70.000s  client-1  its lease ends, but it has not released
81.000s  client-2  gets the lock without having set a key on any node, lease until 110.000s
110.000s  client-2  learns from the lock that its lease is lost
`)
}

func TestFailingNodesAndCancelledCalls(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Then(
		trace.Event{Kind: trace.KindStrike, Fault: 1, Text: "fail redis-1"},
		trace.Event{Kind: trace.KindFail, Process: "redis-1", Text: "LOADING Redis is loading the dataset in memory"},
		simtest.Begin("client-1", 1, trace.Acquire, 0),
		trace.Event{Kind: trace.KindCancel, Process: "client-1", Section: 1, Step: trace.Acquire},
		trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Acquire, Text: "lock not acquired: cancelled: context canceled"},
		trace.Event{Kind: trace.KindLift, Fault: 1, Text: "fail redis-1"},
		trace.Event{Kind: trace.KindRecover, Process: "redis-1"},
	)
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.002s  redis-1   answers every command with an error: LOADING Redis is loading the dataset in memory (fault 1)
0.003s  client-1  asks for the lock
0.004s  client-1  cancels its acquire
0.005s  client-1  fails to get the lock: cancelled: context canceled
0.007s  redis-1   executes commands again (fault 1)
`)
}

// Messages have clauses only if the caller asks for them. Handshakes have none.
func TestClausesOfMessages(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Then(
		trace.Event{Kind: trace.KindConnect, Process: "client-1", Peer: "redis-1", Conn: 1},
		trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Conn: 1, Msg: 1, Handshake: true, Text: "HELLO 3"},
		trace.Event{Kind: trace.KindSend, Process: "client-1", Peer: "redis-1", Conn: 1, Msg: 2, Text: "SET x value-1"},
		trace.Event{Kind: trace.KindDeliver, Process: "redis-1", Peer: "client-1", Conn: 1, Msg: 2, Text: "SET x value-1"},
	)
	wantClauses(t, Clauses(history.New(&s.Trace), true), `
0.001s  client-1  connects to redis-1
0.003s  client-1  → redis-1 SET x value-1
0.004s  redis-1   ← client-1 SET x value-1
`)
	wantClauses(t, Clauses(history.New(&s.Trace), false), "\n")
}
