package consul_test

import (
	"testing"
	"time"

	_ "github.com/locksim/locksim/libraries/consul"
	"github.com/locksim/locksim/sim"
	. "github.com/locksim/locksim/sim/simtest"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// gcPause is the story in which the first client is paused just before it writes, until the
// second one has released the lock.
func gcPause(t testing.TB, kind string, fencing storage.Policy) sim.Config {
	cfg := Sections(Lock(t, kind), sim.Client{Name: "client-1"}, sim.Client{Name: "client-2", Starts: Point("client-1 acquired")})
	cfg.Lock.TTL = 15 * time.Second
	cfg.Network = sim.Network{Min: 200 * time.Microsecond, Max: time.Millisecond}
	cfg.Storage.Fencing = fencing
	return With(cfg, Until("client-2 finished", Before("client-1 write", Stopped("client-1"))))
}

// The holder's session ends in the pause; it writes all the same when it goes on.
func TestGCPause(t *testing.T) {
	for fencing, broken := range map[storage.Policy]string{
		storage.None:   "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections",
		storage.Writes: "section-exclusion inherent: needs fencing",
	} {
		tr := Play(t, gcPause(t, "consul", fencing))
		Struck(t, tr)
		Same(t, string(fencing), Broken(tr), broken)
		None(t, tr, trace.KindRanOn, "client-1")
		t.Log(Tell(tr))
	}
}
