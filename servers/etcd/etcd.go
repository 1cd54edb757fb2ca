// Package etcd simulates a member of an etcd cluster: it has the gRPC API of etcd 3.7,
// which the world's loop serves without any goroutine, and a state machine that the members
// replicate through go.etcd.io/raft, as etcd does.
//
// It registers its card, [sim.System], under the name etcd.
package etcd

import (
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Name is the kind of server in scenarios.
const Name = "etcd"

// version is the etcd release that is simulated.
const version = "3.7.3"

// The defaults of etcd: --heartbeat-interval and --election-timeout.
const (
	tick            = 100 * time.Millisecond
	electionTicks   = 10
	electionTimeout = electionTicks * tick
	// requestTimeout is how long a member tries to serve a request: ReqTimeout in
	// server/config/config.go.
	requestTimeout = 5*time.Second + 2*electionTimeout
)

// Durable is the only way in which a member writes to its disk: everything that it has
// acknowledged, to clients or to other members, is on the disk.
const Durable sim.Persistence = "wal"

func init() {
	sim.RegisterSystem(sim.System{
		Name:            Name,
		Title:           "etcd, whose members replicate through raft",
		Node:            "etcd member",
		Port:            2379,
		Cluster:         true,
		UsesElapsedTime: true,
		Unit:            time.Second,
		Disks:           []sim.Disk{{Persistence: Durable, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}, HandlesStall: true}},
		Reads:           []string{Linearizable, Serializable},
		Settings:        append([]sim.Setting{retentionSetting, lessorSetting}, backupSettings...),
		Failure:         "etcdserver: too many requests",
		Revokes:         true, RevokesSessions: true,
		Framer: newFramer,
		Boot:   newMember,
	})
}
