//go:build unix

package etcd_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// BenchmarkGCPause measures the processor time of one world, with one member of the cluster
// and with three.
func BenchmarkGCPause(b *testing.B) {
	for _, members := range []int{1, 3} {
		for _, kind := range []string{"etcd", "etcd-election"} {
			b.Run(fmt.Sprint(kind, "/", members), func(b *testing.B) { simtest.MeasureWorld(b, gcPause(b, kind, members)) })
		}
	}
}

// BenchmarkGrowth measures worlds with more and more clients, which acquire one lock in
// turn, and with more and more members of the cluster.
func BenchmarkGrowth(b *testing.B) {
	simtest.MeasureGrowth(b, "clients", []int{2, 11, 31, 101}, func(n int) sim.Config { return crowdedWorld(b, 3, n) })
	simtest.MeasureGrowth(b, "members", []int{1, 3, 5}, func(n int) sim.Config { return crowdedWorld(b, n, 5) })
}

// crowdedWorld is a world of many clients that compete for one lock, without faults.
func crowdedWorld(b *testing.B, members, clients int) sim.Config {
	cfg := gcPause(b, "etcd", members)
	cfg.Faults, cfg.Clients = nil, nil
	for i := range clients {
		cfg.Clients = append(cfg.Clients, sim.Client{Name: fmt.Sprint("client-", i+1), Sections: 3, RetryEvery: time.Second, Works: 5 * time.Millisecond})
	}
	return cfg
}
