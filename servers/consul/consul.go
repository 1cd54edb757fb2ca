// Package consul simulates a single Consul server. In the goroutine of the world's event
// loop, it serves the part of Consul's HTTP API that locks use: sessions, keys, and
// blocking queries, which wait for a change.
//
// It answers as version 1.21.0 does. A session expires when twice its TTL has passed since its last
// renewal. After a session has ended, nobody can acquire its keys for a while, the lock-delay. The
// expiry and the lock-delay are measured by the server's monotonic clock, so no jump of a wall
// clock affects them. All that the server has written is on its disk. After a restart there is no
// leader for a while; then each session gets its whole time again. The restart also makes every
// lock-delay that there ever was begin again.
//
// It does not have the rest of the API, such as services, several datacenters or access control
// lists. A request for those is answered with an error, and makes the run inconclusive.
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
		UsuallyRun:      "3 or 5 servers", // https://developer.hashicorp.com/consul/docs/v1.10.x/architecture
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

// Always means that each change is on the disk before it is acknowledged. Consul does that,
// except in its development mode.
const Always sim.Persistence = "always"

// Consul's defaults, as in
// https://developer.hashicorp.com/consul/docs/reference/agent/configuration-file and in its
// source, at https://github.com/hashicorp/consul/tree/v1.21.0.
const (
	// The shortest and the longest TTL that a session can have: session_ttl_min, and
	// SessionTTLMax in agent/structs.
	shortestTTL = 10 * time.Second
	longestTTL  = 24 * time.Hour
	// ttlMultiplier: a session expires when this multiple of its TTL has passed. It is
	// SessionTTLMultiplier in agent/structs.
	ttlMultiplier = 2
	// defaultDelay is the lock-delay of a session that does not set one. longestDelay is
	// the longest one that a session can set: MaxLockDelay in agent/structs.
	defaultDelay = 15 * time.Second
	longestDelay = time.Minute
	// lockDelayThreshold: a session that sets a smaller lock-delay means a number of seconds, not
	// of nanoseconds. It is lockDelayMinThreshold in agent/structs.
	lockDelayThreshold = 1000 * time.Nanosecond
	// defaultWait is how long a query waits if it does not say how long, and longestWait the
	// longest time that it can ask for: default_query_time and max_query_time. The server prolongs
	// each wait by a random time, at most the wait divided by jitterDivisor: JitterFraction in
	// agent/structs.
	defaultWait   = 5 * time.Minute
	longestWait   = 10 * time.Minute
	jitterDivisor = 16
	// largestValue is kv_max_value_size, in bytes.
	largestValue = 512 << 10
	// leaderTimeout is how long a request waits for a leader before it fails:
	// rpc_hold_timeout.
	leaderTimeout = 7 * time.Second
	// electionTime is the minimum time from a restart until the server is the leader; the
	// maximum is twice that. It is the heartbeat timeout of Consul's Raft, with
	// raft_multiplier 5.
	electionTime = 5 * time.Second
)

// noLeader is the error of a server that knows no leader: ErrNoLeader in agent/structs.
const noLeader = "No cluster leader"
