// Package etcd simulates the members of an etcd cluster. A member has the gRPC API of etcd 3.7. The
// event loop of the simulated world serves it, without any goroutine of the member's own. As in
// etcd, the members replicate a state machine through go.etcd.io/raft.
//
// The package registers itself as the [sim.System] with the name etcd.
package etcd

import (
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Name is the name of this kind of server in scenarios.
const Name = "etcd"

// version is the release of etcd that is simulated.
const version = "3.7.3"

// The defaults of etcd's flags --heartbeat-interval and --election-timeout.
const (
	tick            = 100 * time.Millisecond
	electionTicks   = 10
	electionTimeout = electionTicks * tick
	// requestTimeout is how long a member tries to serve a request. It is ReqTimeout in
	// server/config/config.go.
	requestTimeout = 5*time.Second + 2*electionTimeout
)

// Durable is the only persistence that etcd has: everything that a member has acknowledged,
// to clients or to other members, is on its disk.
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
		Reads:           []string{linearizable, Serializable},
		Settings:        append([]sim.Setting{retentionSetting, lessorSetting}, backupSettings...),
		Failure:         "etcdserver: too many requests",
		Revokes:         true, RevokesSessions: true,
		Framer: newFramer,
		Boot:   newMember,
	})
}
