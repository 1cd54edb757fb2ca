// Package zookeeper simulates ZooKeeper: a standalone server, and ensembles of several
// servers, which elect a leader, agree on each change and follow the leader.
//
// It implements the client protocol of version 3.8, on the world's loop. A member measures
// time only by its monotonic clock. The table of differences lists where its answers differ
// from those of a real server; the tests compare the two.
package zookeeper

import (
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func init() {
	sim.RegisterSystem(sim.System{
		Name:            locks.ZooKeeper,
		Title:           "ZooKeeper",
		Node:            "ZooKeeper server",
		Port:            2181,
		Cluster:         true,
		Key:             locks.ZooKeeperPath,
		UsesElapsedTime: true,
		Disks:           []sim.Disk{{Persistence: Always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}, StallAdvice: "the other members decide without it, which is not simulated: pause it, or cut it off from them"}},
		Reads:           []string{Plain, Synced},
		Failure:         throttled,
		Revokes:         true, RevokesSessions: true,
		Framer: func(names *sim.Names) sim.Framer { return &framer{names: names} },
		Boot:   boot,
	})
}

// Always means that each change is on the disk before it is acknowledged, as ZooKeeper does
// by default.
const Always sim.Persistence = "always"

// limits are the durations of an ensemble, as in the sample configuration that comes with
// ZooKeeper (and Debian's): tickTime=2000, initLimit=10, syncLimit=5. Sessions last from 2
// to 20 ticks.
type limits struct {
	tick time.Duration
	// begin is how long a leader and its followers may take until they agree on the state;
	// silence is how long they may hear nothing of each other after that.
	begin, silence time.Duration
	// settle is how long the winner of an election waits for a better vote. A vote that is
	// not answered is sent again after the same time, then after twice as long and so on,
	// up to maxPause.
	settle, maxPause time.Duration
	// retry is how long a member waits before it tries again to reach its leader, at most
	// tries times.
	retry time.Duration
	tries int
}

const tick = 2 * time.Second

var defaultLimits = limits{
	tick: tick, begin: 10 * tick, silence: 5 * tick,
	settle: 200 * time.Millisecond, maxPause: time.Minute,
	retry: 100 * time.Millisecond, tries: 5,
}

// timeout returns the session timeout that a client gets, in milliseconds, if it asks for
// this one.
func (l limits) timeout(requested int32) int32 {
	tick := int32(l.tick / time.Millisecond)
	return min(max(requested, 2*tick), 20*tick)
}
