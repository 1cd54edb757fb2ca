// Package zookeeper is simulated ZooKeeper: a server that works by itself, and ensembles of
// several, which elect a leader, agree on each change and follow it.
//
// It speaks the protocol of clients as version 3.8 does, on the world's loop. What a member
// does later it measures by its monotonic clock, and in no other way. Where it answers
// otherwise than the real one stands in the table of differences, which its tests compare
// with a real one.
package zookeeper

import (
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func init() {
	sim.RegisterSystem(sim.System{
		Name:    locks.ZooKeeper,
		Title:   "ZooKeeper",
		Node:    "ZooKeeper server",
		Port:    2181,
		Cluster: true,
		Key:     locks.ZooKeeperPath,
		Elapsed: true,
		Disks:   []sim.Disk{{Persistence: Always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}, Stalled: "the others decide without it, which is not simulated: pause it, or cut it off from them"}},
		Reads:   []string{Plain, Synced},
		Failure: throttled,
		Revokes: true, RevokesSessions: true,
		Framer: func(names *sim.Names) sim.Framer { return &framer{names: names} },
		Boot:   boot,
	})
}

// Always has each change written to the disk before it counts, as ZooKeeper does without any
// setting.
const Always sim.Persistence = "always"

// limits are the times of an ensemble, as the sample configuration has them that comes with
// ZooKeeper (and Debian's): tickTime=2000, initLimit=10, syncLimit=5. Sessions last from 2 to
// 20 ticks.
type limits struct {
	tick time.Duration
	// begin is how long a leader and who follows it may take until they agree on what there
	// is; silence how long they may hear nothing of each other after that.
	begin, silence time.Duration
	// settle is how long who has won an election waits for a better vote. A vote that
	// nobody has answered is cast again after as much, then after twice as much and so on.
	settle, patience time.Duration
	// again is how long who cannot reach its leader waits before it tries again, a few times.
	again time.Duration
	tries int
}

const tick = 2 * time.Second

var usual = limits{
	tick: tick, begin: 10 * tick, silence: 5 * tick,
	settle: 200 * time.Millisecond, patience: time.Minute,
	again: 100 * time.Millisecond, tries: 5,
}

// timeout is the session timeout that a client gets who asks for another, in milliseconds.
func (l limits) timeout(asked int32) int32 {
	tick := int32(l.tick / time.Millisecond)
	return min(max(asked, 2*tick), 20*tick)
}
