//go:build unix

package zookeeper_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/floor"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
)

// BenchmarkGCPause reports the processor time of one world of each kind, on one server and
// on three.
func BenchmarkGCPause(b *testing.B) {
	for _, servers := range []int{1, 3} {
		for _, kind := range kinds {
			b.Run(fmt.Sprint(kind, "/", servers), func(b *testing.B) {
				cfg := gcPause(b, kind, storage.Writes)
				cfg.Nodes = Nodes("zookeeper", servers)
				MeasureWorld(b, cfg)
			})
		}
	}
}

// BenchmarkGrowth runs worlds with more and more clients, which acquire one lock in turn,
// and with more and more servers.
func BenchmarkGrowth(b *testing.B) {
	MeasureGrowth(b, "clients", []int{2, 11, 31, 101}, func(n int) sim.Config { return crowd(b, 3, n) })
	MeasureGrowth(b, "servers", []int{1, 3, 5}, func(n int) sim.Config { return crowd(b, n, 5) })
}

// crowd is a world of many clients that compete for one lock, without faults.
func crowd(b *testing.B, servers, clients int) sim.Config {
	var all []sim.Client
	for i := range clients {
		all = append(all, sim.Client{Name: fmt.Sprint("client-", i+1), Sections: 3, RetryEvery: time.Second})
	}
	return world(b, "zookeeper", servers, all...)
}
