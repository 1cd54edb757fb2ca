package story

import (
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// The clause about a release says what the call returned, and where its key remains.
func TestClausesOfReleases(t *testing.T) {
	expires := trace.Event{Kind: trace.KindExpire, Process: "redis-1", Key: "x", Owner: &trace.Actor{Client: "client-1", Section: 1}}
	crashes := trace.Event{Kind: trace.KindCrash, Process: "redis-1", Text: string(trace.Kill)}
	removed := trace.Event{Kind: trace.KindDelete, Process: "redis-1", Key: "x", By: expires.Owner, Owner: expires.Owner}
	const refused = "dial tcp redis-1: connection refused"
	for _, c := range []struct {
		name string
		// before are events before the call of release, and during are events while it
		// runs.
		before, during []trace.Event
		// err is what the release returned; "" is success.
		err, want string
	}{
		{"success", nil, []trace.Event{removed}, "", "releases the lock on redis-1"},
		{"success, and the key had expired", []trace.Event{expires}, nil, "", "believes that it has released the lock, but none of its keys was still valid"},
		{"success, and the client had removed the key before", []trace.Event{removed}, nil, "", "releases nothing: none of its keys was still valid"},
		{"not held, and the key had expired", []trace.Event{expires}, nil, locks.ErrLost.Error(), "releases nothing: none of its keys was still valid"},
		{"the node had crashed", []trace.Event{crashes}, nil, refused, "fails to release the lock: " + refused + "; redis-1, which had its key, is down"},
		{"the node crashes during release", nil, []trace.Event{crashes}, refused, "fails to release the lock: " + refused + "; redis-1, which had its key, is down"},
		{"success, and the key was not removed", nil, nil, "", "believes that it has released the lock, but its key remains on redis-1"},
		{"not held, although the key was not removed", nil, nil, locks.ErrLost.Error(), "releases nothing: " + locks.ErrLost.Error() + "; its key remains on redis-1"},
		{"not held, and the key expires during release", nil, []trace.Event{expires}, locks.ErrLost.Error(), "releases nothing: " + locks.ErrLost.Error() + "; none of its keys is still valid"},
		{"no answer", nil, nil, "context deadline exceeded", "fails to release the lock: context deadline exceeded; its key remains on redis-1"},
		{"no answer, and the key had expired", []trace.Event{expires}, nil, "context deadline exceeded", "fails to release the lock: context deadline exceeded; none of its keys is still valid"},
		{"an error, and the key was removed", nil, []trace.Event{removed}, "context deadline exceeded", "releases the lock on redis-1, with an error: context deadline exceeded"},
	} {
		s := simtest.NewScript("none", 1)
		s.Acquires("client-1", 1, 1, "redis-1")
		s.At(5*time.Second, trace.Event{Kind: trace.KindBegin, Process: "client-1", Section: 1, Step: trace.Work})
		s.Then(c.before...)
		s.Then(simtest.Begin("client-1", 1, trace.Release, 0))
		s.Then(c.during...)
		s.Then(trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Release, OK: c.err == "", Text: c.err})
		clauses := Clauses(history.New(&s.Trace), false)
		if last := clauses[len(clauses)-1]; string(last.Subject) != "client-1" || string(last.Predicate) != c.want {
			t.Errorf("%s: the last clause is %s %s, want client-1 %s", c.name, last.Subject, last.Predicate, c.want)
		}
	}
}

// A later acquisition of the same client that overwrites the key does not make the release
// before it effective.
func TestReleaseBeforeTheClientOverwritesItsKey(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Acquires("client-1", 1, 1, "redis-1")
	s.Releases("client-1", 1) // without removing the key
	s.Then(simtest.Begin("client-1", 2, trace.Acquire, 0))
	first, second := &trace.Actor{Client: "client-1", Section: 1}, &trace.Actor{Client: "client-1", Section: 2}
	s.Then(trace.Event{Kind: trace.KindSet, Process: "redis-1", Key: "x", By: second, Owner: second, Prior: first, TTL: time.Second, Expires: 2 * time.Second})
	wantClauses(t, Clauses(history.New(&s.Trace), false), `
0.003s  client-1  gets the lock on redis-1: token 1, lease until 30.001s
0.005s  client-1  believes that it has released the lock, but its key remains on redis-1 until 0.007s
0.006s  client-1  asks for the lock
0.007s  client-1  overwrites its own earlier key on redis-1
`)
}

// A late command of an acquisition changes the key of the same client's next one.
func TestLateCommandOnTheNextKey(t *testing.T) {
	s := simtest.NewScript("none", 1)
	s.Acquires("client-1", 1, 1, "redis-1")
	s.Releases("client-1", 1, "redis-1")
	s.Acquires("client-1", 2, 2, "redis-1")
	first, second := &trace.Actor{Client: "client-1", Section: 1}, &trace.Actor{Client: "client-1", Section: 2}
	s.Then(trace.Event{Kind: trace.KindTouch, Process: "redis-1", Key: "x", By: first, Owner: second, TTL: time.Second, Expires: 2 * time.Second})
	clauses := Clauses(history.New(&s.Trace), false)
	if last := clauses[len(clauses)-1]; string(last.Predicate) != "changes the expiry of its own later key on redis-1" {
		t.Errorf("the last clause is %s %s", last.Subject, last.Predicate)
	}
}

// If an attempt failed although a node has set its key, the clause names the node on which
// the key remains.
func TestFailedAttemptThatLeavesItsKey(t *testing.T) {
	for _, c := range []struct {
		removesKey bool
		want       string
	}{
		{false, "fails to get the lock: timed out; its key remains on redis-1"},
		{true, "fails to get the lock: timed out"},
	} {
		s := simtest.NewScript("none", 1)
		own := &trace.Actor{Client: "client-1", Section: 1}
		s.Then(
			simtest.Begin("client-1", 1, trace.Acquire, 0),
			trace.Event{Kind: trace.KindSet, Process: "redis-1", Key: "x", By: own, Owner: own, TTL: time.Second, Expires: 2 * time.Second},
		)
		if c.removesKey {
			s.Then(trace.Event{Kind: trace.KindDelete, Process: "redis-1", Key: "x", By: own, Owner: own})
		}
		s.Then(trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Acquire, Text: locks.ErrNotAcquired.Error() + ": timed out"})
		clauses := Clauses(history.New(&s.Trace), false)
		if last := clauses[len(clauses)-1]; string(last.Predicate) != c.want {
			t.Errorf("the client removes its key: %v: the last clause is %s, want %s", c.removesKey, last.Predicate, c.want)
		}
	}
}
