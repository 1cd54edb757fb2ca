package etcd_test

import (
	"context"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/libraries/etcd"
	"github.com/locksim/locksim/sim"
)

// This runs the scripts of the table on a simulated server.
func TestFidelityOfOurServer(t *testing.T) {
	for _, f := range fidelities {
		t.Run(f.name, func(t *testing.T) {
			cfg := oneServer(func(_ context.Context, p *sim.Program) error {
				client, err := etcd.Client(p.Env())
				if err != nil {
					return err
				}
				f.run(t, &scriptRunner{client: client, pass: time.Sleep}, ours)
				return nil
			})
			cfg.Horizon = time.Hour
			RunWorld(t, cfg)
		})
	}
}

// oneServer is a world of one client, which runs a program, and one server, with the shortest
// possible latency.
func oneServer(run func(context.Context, *sim.Program) error) sim.Config {
	return sim.Config{
		Name: "alone", Seed: 1, Horizon: time.Minute,
		Network: sim.Network{Min: 1, Max: 1}, // nanoseconds
		Nodes:   []sim.Node{{Name: "etcd-1", System: "etcd"}},
		Clients: []sim.Client{{Name: "client-1", Run: run}},
	}
}
