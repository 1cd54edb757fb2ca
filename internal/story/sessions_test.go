package story

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/trace"
)

// The subject of a clause about a cluster's own event is the cluster. If a session ends,
// the subject is its client.
func TestClausesOfSessions(t *testing.T) {
	s := simtest.NewScript("none", 0)
	s.Processes = append(s.Processes,
		trace.ProcessInfo{Name: "etcd", Role: trace.RoleCluster},
		trace.ProcessInfo{Name: "etcd-1", Role: trace.RoleNode}, trace.ProcessInfo{Name: "etcd-2", Role: trace.RoleNode})
	s.Locks[0].Slots, s.Locks[0].Quorum = []trace.SlotInfo{{Node: "etcd", Key: "x"}}, 1
	s.Locks[0].Members = []string{"etcd-1", "etcd-2"}
	s.Then(trace.Event{Kind: trace.KindLead, Process: "etcd-2"},
		trace.Event{Kind: trace.KindOpen, Process: "etcd", Peer: "client-1", Session: "session-1", TTL: 10 * time.Second})
	s.Acquires("client-1", 1, 1, "etcd")
	s.At(20*time.Second, trace.Event{Kind: trace.KindExpireSession, Process: "etcd", Peer: "client-1", Session: "session-1"})
	s.Then(trace.Event{Kind: trace.KindExpire, Process: "etcd", Key: "x", Owner: &trace.Actor{Client: "client-1", Section: 1}})
	s.Then(trace.Event{Kind: trace.KindNotify, Process: "client-2", Peer: "etcd-1", Key: "x"})
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	var clauses []string
	for _, c := range Clauses(history.New(&s.Trace), false) {
		clauses = append(clauses, strings.TrimSpace(string(c.Subject+" "+c.Predicate)))
	}
	for _, want := range []string{
		"etcd-2 becomes leader",
		"client-1 gets the lock in etcd: token 1, lease until 30.003s",
		"etcd ends the session of client-1: it has received no sign of life from client-1 for too long",
		"client-1's key expired in etcd",
		"client-2 is notified of a change to a watched key",
	} {
		if !slices.Contains(clauses, want) {
			t.Errorf("no clause is %q, got\n%q", want, clauses)
		}
	}
}
