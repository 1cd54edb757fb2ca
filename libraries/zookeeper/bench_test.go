//go:build unix

package zookeeper_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
)

// BenchmarkGCPause reports the processor time of one world with each lock, on one server
// and on three.
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

// BenchmarkGrowth measures worlds with more and more servers, and with more and more
// clients that acquire the same lock in turn.
func BenchmarkGrowth(b *testing.B) {
	MeasureGrowth(b, "clients", []int{2, 11, 31, 101}, func(n int) sim.Config { return crowd(b, 3, n) })
	MeasureGrowth(b, "servers", []int{1, 3, 5}, func(n int) sim.Config { return crowd(b, n, 5) })
}

// crowd returns a world without faults, in which many clients compete for one lock.
func crowd(b *testing.B, servers, clients int) sim.Config {
	var all []sim.Client
	for i := range clients {
		all = append(all, sim.Client{Name: fmt.Sprint("client-", i+1), Sections: 3, RetryEvery: time.Second})
	}
	return world(b, "zookeeper", servers, all...)
}
