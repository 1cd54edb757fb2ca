package locktest

import (
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/floor"
	"github.com/locksim/locksim/trace"
)

// A release that returns success although the lease had expired breaks the claim of a lock
// that tells at release, and fails no other.
func TestClaimToTellAtRelease(t *testing.T) {
	for _, c := range []struct {
		name    string
		claims  bool
		expires bool
		err     string
		want    string
	}{
		{"success, and the lease had expired", true, true, "", claimReleases},
		{"the same, and the lock claims nothing", false, true, "", ""},
		{"an error, and the lease had expired", true, true, "lock lost", ""},
		{"success, and the release removed the key", true, false, "", ""},
	} {
		tr := floor.NewScript("none", 1)
		tr.Acquires("client-1", 1, 1, "redis-1")
		tr.Events[len(tr.Events)-1].Lock = "x"
		own := &trace.Actor{Client: "client-1", Section: 1}
		if c.expires {
			tr.At(31*time.Second, trace.Event{Kind: trace.KindExpire, Process: "redis-1", Key: "x", Owner: own})
		}
		tr.Then(floor.Begin("client-1", 1, trace.Release, 0))
		if !c.expires {
			tr.Then(trace.Event{Kind: trace.KindDelete, Process: "redis-1", Key: "x", By: own, Owner: own})
		}
		tr.Then(trace.Event{Kind: trace.KindEnd, Process: "client-1", Section: 1, Step: trace.Release, OK: c.err == "", Text: c.err})
		s := &subject{config: Config{TellsAtRelease: c.claims}}
		if rule, why, _ := misanswered(s, world{}, history.Of(&tr.Trace)); rule != c.want {
			t.Errorf("%s: the rule that is broken is %q (%s), want %q", c.name, rule, why, c.want)
		}
	}
}
