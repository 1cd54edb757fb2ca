package zookeeper_test

import (
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	. "github.com/locksim/locksim/sim/simtest"
	"github.com/locksim/locksim/trace"
)

// leaderCrash: the leader of three crashes while client-1 holds the lock and client-2 waits.
func leaderCrash(t testing.TB, kind string, how trace.Crash) sim.Config {
	cfg := world(t, kind, 3,
		sim.Client{Name: "client-1", Works: 20 * time.Second},
		sim.Client{Name: "client-2", Starts: Point("client-1 acquired")})
	return With(cfg, Lasting(10*time.Second, At(5*time.Second, Crashed("zookeeper-3", how))))
}

// The session lives on with the next leader, which counts its time anew: nobody else gets the
// lock meanwhile.
func TestLeaderCrash(t *testing.T) {
	for _, how := range []trace.Crash{trace.Kill, trace.PowerLoss} {
		tr := Play(t, leaderCrash(t, "zookeeper", how))
		Struck(t, tr)
		Same(t, "broken", Broken(tr), "")
		First(t, tr, trace.KindLead, "zookeeper-3")
		Only(t, tr, trace.KindLead, "zookeeper-2")
		None(t, tr, trace.KindExpireSession, "zookeeper")
		Same(t, "client-1", Steps(tr, "client-1"), "acquire, read x, work, write x, release")
		Same(t, "client-2", Steps(tr, "client-2"), "acquire, read x, write x, release")
	}
}
