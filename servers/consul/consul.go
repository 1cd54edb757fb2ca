// Package consul is a simulated Consul: one server that works by itself, and of its HTTP API
// what locks are made of, on the world's loop: sessions, keys, and queries that wait for a
// change.
//
// It answers as version 1.21.0 does. A session ends when twice its TTL has passed since it was
// renewed, by the server's monotonic clock, and so does a lock-delay: no jump of a wall clock
// reaches them. What it has written is on the disk. After a restart each lock-delay that there
// ever was begins anew, nobody leads for a while, and then each session gets its whole time again.
//
// What the API has besides, such as services, several datacenters or access control lists, it
// has not: who asks for that is told that there is no such thing, and the run proves nothing.
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
		Name:     locks.Consul,
		Title:    "Consul",
		Node:     "Consul server",
		Port:     8500,
		Shortest: shortestTTL,
		Elapsed:  true,
		Grace:    func(ttl time.Duration) time.Duration { return ttl + usualDelay },
		Disks:    []sim.Disk{{Persistence: Always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}}},
		Failure:  noLeader,
		Revokes:  true, RevokesSessions: true,
		Framer: func(names *sim.Names) sim.Framer {
			return &http1.Framer{LargestBody: 2 * largestValue, Tell: func(r *http1.Request, f *sim.Frame) { tell(names, r, f) }}
		},
		Boot: boot,
	})
}

// Always has each change on the disk before it counts, as Consul does but in its development
// mode.
const Always sim.Persistence = "always"

// What Consul does without any setting, as
// https://developer.hashicorp.com/consul/docs/reference/agent/configuration-file names it,
// and its source, at https://github.com/hashicorp/consul/tree/v1.21.0.
const (
	// shortestTTL is session_ttl_min, and longestTTL SessionTTLMax in agent/structs.
	shortestTTL = 10 * time.Second
	longestTTL  = 24 * time.Hour
	// grace is by how much longer than its TTL a session lasts: SessionTTLMultiplier there.
	grace = 2
	// usualDelay is the lock-delay of a session that asks for none, and longestDelay
	// MaxLockDelay there.
	usualDelay   = 15 * time.Second
	longestDelay = time.Minute
	// suspicious is a lock-delay from which on it is not taken for seconds: lockDelayMinThreshold
	// there.
	suspicious = 1000 * time.Nanosecond
	// usualWait and longestWait are how long a query waits, default_query_time and
	// max_query_time, and up to a sixteenth more, JitterFraction there.
	usualWait   = 5 * time.Minute
	longestWait = 10 * time.Minute
	jitter      = 16
	// largestValue is kv_max_value_size, in bytes.
	largestValue = 512 << 10
	// patience is how long a request waits for a leader: rpc_hold_timeout.
	patience = 7 * time.Second
	// election is after what time a server that has started begins to lead, and up to twice
	// that: the heartbeat timeout of its Raft, with raft_multiplier 5.
	election = 5 * time.Second
)

// noLeader is what a server answers that knows no leader: ErrNoLeader in agent/structs.
const noLeader = "No cluster leader"
