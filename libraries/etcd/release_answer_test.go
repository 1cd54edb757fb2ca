package etcd_test

import (
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
)

// The Unlock of a Mutex returns nil even if the session has expired. The run reports that,
// without a blame.
func TestUnlockOfAnExpiredSession(t *testing.T) {
	paused := Until("client-2 finished", Before("client-1 write", PauseOf("client-1")))
	for _, c := range []struct {
		name   string
		kind   string
		faults []sim.Fault
		want   checks.Outcome
	}{
		{"the session expires", "etcd", []sim.Fault{paused}, checks.Violated},
		{"the session expires", "etcd-election", []sim.Fault{paused}, checks.Violated},
		{"the session lasts", "etcd", nil, checks.Holds},
		{"the session lasts", "etcd-election", nil, checks.Holds},
	} {
		cfg := gcPause(t, c.kind, 1)
		cfg.Faults = c.faults
		cfg.Storage.Fencing = storage.Writes
		v := checks.Check(history.New(RunWorld(t, cfg)), nil)
		f := v.Finding(checks.ReleaseAnswer)
		if f.Outcome != c.want || !f.Blame.IsZero() || f.Counts() || v.Verdict != checks.Safe {
			t.Errorf("%s: %s: release-answer is %s (%s), fault %q, in a run that is %s; want %s, no fault, safe",
				c.kind, c.name, f.Outcome, f.Reason, f.Blame, v.Verdict, c.want)
		}
		if c.want == checks.Violated && f.Reason.Code != "released-lost" {
			t.Errorf("%s: the reason is %q, want the code released-lost", c.kind, f.Reason)
		}
	}
}
