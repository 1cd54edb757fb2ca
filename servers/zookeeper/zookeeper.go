// Package zookeeper simulates ZooKeeper: a standalone server, or an ensemble, which is
// several servers that elect a leader and agree on the order of all changes.
//
// It implements the client protocol of version 3.8, in the goroutine of the world's event loop. A
// server measures time only by its monotonic clock. The fidelity tests in libraries/zookeeper
// compare its answers with those of a real server, and list the answers that differ, with the
// reasons.
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
		Reads:           []string{plain, Synced},
		Failure:         throttled,
		Revokes:         true, RevokesSessions: true,
		Framer: func(names *sim.Names) sim.Framer { return &framer{names: names} },
		Boot:   boot,
	})
}

// Always means that each change is on the disk before it is acknowledged. That is
// ZooKeeper's default.
const Always sim.Persistence = "always"

// limits are the times that the servers of an ensemble wait for each other. They are those
// of the sample configuration that comes with ZooKeeper (and Debian's): tickTime=2000,
// initLimit=10, syncLimit=5. A session's timeout is from 2 to 20 ticks.
type limits struct {
	tick time.Duration
	// syncTimeout is how long a new leader and its followers may take until they agree on
	// the state. maxSilence is how long each may hear nothing from the other after that.
	syncTimeout, maxSilence time.Duration
	// voteWait is how long the winner of an election waits for a better vote. A member that
	// has no leader sends its vote again after the same time, then after twice as long and
	// so on; the pauses grow up to maxVotePause.
	voteWait, maxVotePause time.Duration
	// A follower tries to connect to its leader at most maxDials times, with dialPause in
	// between.
	dialPause time.Duration
	maxDials  int
}

// tick is tickTime, the unit of the other limits.
const tick = 2 * time.Second

// defaultLimits are the limits of every ensemble.
var defaultLimits = limits{
	tick: tick, syncTimeout: 10 * tick, maxSilence: 5 * tick,
	voteWait: 200 * time.Millisecond, maxVotePause: time.Minute,
	dialPause: 100 * time.Millisecond, maxDials: 5,
}

// timeout returns the session timeout that a client gets if it asks for the given one, both
// in milliseconds.
func (l limits) timeout(requested int32) int32 {
	tick := int32(l.tick / time.Millisecond)
	return min(max(requested, 2*tick), 20*tick)
}
