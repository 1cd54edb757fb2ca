package libraries_test

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/trace"
)

// An operator can delete the data of a grant by hand. On each kind of server, this ends the
// grant immediately, and the events of the server show it. If the operator ends the session
// instead, the trace also shows the end of the session. Then the next client acquires the
// lock while the first one still works.
func TestRevokeEndsTheGrant(t *testing.T) {
	for _, c := range []struct {
		lock, how string // how is the manner of the fault revoke
		// session means that the trace must show the end of a session.
		session bool
	}{
		{lock: "single"}, {lock: "redlock"}, {lock: "redsync"}, {lock: "redislock"}, {lock: "rueidislock"},
		{lock: "etcd"}, {lock: "etcd-election"}, {lock: "etcd", how: "session", session: true},
		{lock: "zookeeper"}, {lock: "zookeeper-naive"}, {lock: "zookeeper", how: "session", session: true},
		{lock: "consul"}, {lock: "consul", how: "session", session: true},
		{lock: "kubernetes"},
		{lock: "postgres-lease"}, {lock: "postgres-advisory"}, {lock: "postgres-row"}, {lock: "goose-table"}, {lock: "goose-session"},
		{lock: "postgres-advisory", how: "session"}, {lock: "goose-session", how: "session"},
	} {
		t.Run(c.lock+c.how, func(t *testing.T) {
			fault := "revoke: client-1"
			if c.how != "" {
				fault += ", how: " + c.how
			}
			tr, err := runWithFault(c.lock, fault)
			if err != nil {
				t.Fatal(err)
			}
			if idle := tr.Faults[0].IdleReason; idle != "" {
				t.Fatal(idle)
			}
			first := func(what string, matches func(*trace.Event) bool) *trace.Event {
				i := slices.IndexFunc(tr.Events, func(ev trace.Event) bool { return matches(&ev) })
				if i < 0 {
					t.Fatalf("the trace has no event of this: %s", what)
				}
				return &tr.Events[i]
			}
			gone := first("an operator's delete", func(ev *trace.Event) bool { return ev.Kind == trace.KindDelete && ev.By.IsOperator() })
			if gone.Owner == nil || gone.Owner.Client != "client-1" {
				t.Errorf("the operator deletes the data of %v, want client-1's", gone.Owner)
			}
			worked := first("client-1 has worked", func(ev *trace.Event) bool {
				return ev.Process == "client-1" && ev.Kind == trace.KindEnd && ev.Step == trace.Work
			})
			granted := first("client-2's grant", func(ev *trace.Event) bool {
				return ev.Process == "client-2" && ev.Kind == trace.KindEnd && ev.Step == trace.Acquire && ev.OK
			})
			if c.lock != "consul" && worked.Seq < granted.Seq { // on Consul, the end of a session is followed by a lock-delay
				t.Errorf("client-2 gets the lock at %v, want before client-1's work ends at %v", granted.At, worked.At)
			}
			if c.session {
				closed := first("the end of a session", func(ev *trace.Event) bool { return ev.Kind == trace.KindCloseSession && ev.By.IsOperator() })
				if closed.Peer != "client-1" {
					t.Errorf("the operator ends the session of %s, want client-1's", closed.Peer)
				}
			}
			if err := tr.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}
