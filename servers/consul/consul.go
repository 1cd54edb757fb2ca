// Package consul simulates a Consul server that works by itself. On the world's loop it
// serves the part of Consul's HTTP API that locks are made of: sessions, keys, and blocking
// queries, which wait for a change.
//
// It answers as version 1.21.0 does. A session expires when twice its TTL has passed since
// its last renewal, by the server's monotonic clock. A lock-delay ends by the same clock,
// so no jump of a wall clock affects them. All that the server has written is on its disk.
// After a restart every lock-delay that there ever was starts again, there is no leader for
// a while, and then each session gets its whole time again.
//
// It does not have the rest of the API, such as services, several datacenters or access
// control lists. A request for those is answered with an error, and the run then proves
// nothing.
package consul

import (
	"time"

	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func init() {
	sim.RegisterSystem(sim.System{
		Name:            locks.Consul,
		Title:           "Consul",
		Node:            "Consul server",
		Port:            8500,
		ShortestTTL:     shortestTTL,
		UsesElapsedTime: true,
		Grace:           func(ttl time.Duration) time.Duration { return ttl + defaultDelay },
		Disks:           []sim.Disk{{Persistence: Always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}}},
		Failure:         noLeader,
		Revokes:         true, RevokesSessions: true,
		Framer: func(names *sim.Names) sim.Framer {
			return &http1.Framer{LargestBody: 2 * largestValue, Describe: func(r *http1.Request, f *sim.Frame) { describe(names, r, f) }}
		},
		Boot: boot,
	})
}

// Always means that each change is on the disk before it is acknowledged, as in Consul
// except in its development mode.
const Always sim.Persistence = "always"

// These are Consul's defaults, as in
// https://developer.hashicorp.com/consul/docs/reference/agent/configuration-file and in its
// source, at https://github.com/hashicorp/consul/tree/v1.21.0.
const (
	// shortestTTL is session_ttl_min, and longestTTL SessionTTLMax in agent/structs.
	shortestTTL = 10 * time.Second
	longestTTL  = 24 * time.Hour
	// ttlMultiplier is how many times its TTL a session lasts: SessionTTLMultiplier there.
	ttlMultiplier = 2
	// defaultDelay is the lock-delay of a session that does not set one, and longestDelay
	// is MaxLockDelay there.
	defaultDelay = 15 * time.Second
	longestDelay = time.Minute
	// lockDelayThreshold: a smaller lock-delay is taken for a number of seconds:
	// lockDelayMinThreshold there.
	lockDelayThreshold = 1000 * time.Nanosecond
	// defaultWait and longestWait are how long a query waits, default_query_time and
	// max_query_time, plus up to a sixteenth more, JitterFraction there.
	defaultWait = 5 * time.Minute
	longestWait = 10 * time.Minute
	jitter      = 16
	// largestValue is kv_max_value_size, in bytes.
	largestValue = 512 << 10
	// leaderTimeout is how long a request waits for a leader: rpc_hold_timeout.
	leaderTimeout = 7 * time.Second
	// electionTime is the minimum time after which a restarted server leads; the maximum is
	// twice that. It is the heartbeat timeout of its Raft, with raft_multiplier 5.
	electionTime = 5 * time.Second
)

// noLeader is the answer of a server that knows no leader: ErrNoLeader in agent/structs.
const noLeader = "No cluster leader"
