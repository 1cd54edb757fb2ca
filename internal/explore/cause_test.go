package explore

import (
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func TestCauses(t *testing.T) {
	rec := &Record{
		Clients: []string{"client-1", "client-2"},
		Nodes:   []string{"redis-1", "redis-2", "redis-3", "redis-4", "redis-5"}, System: "redis",
	}
	singleNode := &Record{Clients: []string{"client-1", "client-2"}, Nodes: []string{"redis-1"}}
	cut := func(others ...string) runs.Fault {
		return item{Kind: "partition", Target: "client-2", Others: others}.fault()
	}
	for _, test := range []struct {
		rec    *Record
		change scenarios.Change
		faults []runs.Fault
		cause  string
	}{
		{rec, scenarios.Change{}, nil, ""},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "pause", Target: "client-2", Before: "client-2 write"}.fault()}, "a pause of a client"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "pause", Target: "redis-4", How: "stop"}.fault()}, "a pause of a node"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "pause", Target: "client-1", How: "suspend"}.fault()}, "a suspension of the machine of a client"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "pause", Target: "storage"}.fault()}, "a pause of the storage"},
		{rec, diskChange("redis-3", sim.NoPersistence), []runs.Fault{item{Kind: "crash", Target: "redis-3"}.fault(), cut("redis-4", "redis-5")},
			"a crash of a node without persistence (kill), a partition of a client from a minority of the nodes"},
		{rec, scenarios.Change{}, []runs.Fault{cut("redis-4", "redis-5"), item{Kind: "jump", Target: "redis-3", By: second}.fault()},
			"a node's clock set forward, a partition of a client from a minority of the nodes"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "jump", Target: "client-1", By: -second}.fault()}, "a client's clock set back"},
		{rec, scenarios.Change{}, []runs.Fault{cut("redis-1", "redis-2", "redis-3")}, "a partition of a client from a majority of the nodes"},
		{rec, scenarios.Change{}, []runs.Fault{cut("redis-1", "redis-2", "redis-3", "redis-4", "redis-5")}, "a partition of a client from all nodes"},
		{rec, scenarios.Change{Nodes: 3}, []runs.Fault{cut("redis-1", "redis-2")}, "a partition of a client from a majority of the nodes"},
		{rec, scenarios.Change{Nodes: 4}, []runs.Fault{cut("redis-1", "redis-2")}, "a partition of a client from half of the nodes"},
		{rec, scenarios.Change{}, []runs.Fault{cut("storage")}, "a partition of a client from the storage"},
		{rec, scenarios.Change{}, []runs.Fault{cut("storage", "redis-1")}, "a partition of a client from a node and the storage"},
		{singleNode, scenarios.Change{}, []runs.Fault{cut("redis-1")}, "a partition of a client from the node"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "partition", Target: "redis-1", Others: []string{"replica"}}.fault()}, "a partition of a node from another server"},
		{rec, diskChange("redis-1", redis.Everysec), []runs.Fault{item{Kind: "crash", Target: "redis-1", How: "power-loss"}.fault()},
			"a crash of a node with persistence everysec (power loss)"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "crash", Target: "client-1"}.fault()}, "a crash of a client"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "crash", Target: "storage", How: "failover"}.fault()}, "a crash of the storage (failover)"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "hold", Target: "client-1's write request to storage"}.fault()}, "a late write request"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "hold", Target: "client-1's acquire request to redis-2, 3rd time"}.fault()}, "a late acquire request"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "hold", Target: "redis-2's reply to client-1's acquire"}.fault()}, "a late reply to an acquire"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "hold", Target: "client-1's request to redis-2"}.fault()}, "a late request to a node"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "hold", Target: "storage's reply to client-1"}.fault()}, "a late reply of the storage"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "hold", Target: "client-1's write request to gateway"}.fault()}, "a late write request (another server)"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "stall", Target: "client-1"}.fault()}, "a stall of the storage in the middle of a client's write"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "stall", Target: "client-1", Step: trace.Read}.fault()}, "a stall of the storage in the middle of a client's read"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "delay", Target: "client-1", Others: []string{"redis-2"}}.fault()}, "slow messages between a client and a node"},
		{singleNode, scenarios.Change{}, []runs.Fault{item{Kind: "reset", Target: "client-1", Others: []string{"redis-1"}}.fault()}, "connections cut between a client and the node"},
		{rec, scenarios.Change{}, []runs.Fault{item{Kind: "pause", Target: "client-2"}.fault(), item{Kind: "pause", Target: "client-1"}.fault()}, "a pause of a client, a pause of a client"},
	} {
		cause := causeOf(test.rec, runs.WorldSpec{Change: test.change, Faults: test.faults})
		if words := strings.Join(cause, ", "); words != test.cause {
			t.Errorf("the cause of %v is %q, want %q", test.faults, words, test.cause)
		}
	}
}
