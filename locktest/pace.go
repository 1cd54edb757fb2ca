package locktest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A lock that bounds its requests, as Redlock does, gives up on nodes that are further away
// than its timeouts allow. The lock's author knows the network; a story does not know the
// timeouts. So the suite measures what latencies the lock survives while nothing else is
// wrong, and shortens those of a story that are longer.

const (
	// newConnection is how many round trips a request needs on a new connection, where it
	// needs one on an open one: the dial, the handshake, the name of a script that the node
	// does not know, and its text.
	newConnection = 4
	// nearest is the latency of a fast local network. A lock that cannot live with that is
	// not helped by shorter ones.
	nearest = 100 * time.Microsecond
)

// pace makes a world's messages between clients and nodes as fast as the lock's own timeouts
// need them. share is the part of the story's latencies that is left, 1 of so many. The error
// is that of a world that says nothing of the lock, or in which it hangs.
func (s *subject) pace(config sim.Config) (paced sim.Config, share time.Duration, err error) {
	farthest := config.Network.Max
	for _, p := range config.Network.Paths {
		if reachesClient(config, p) {
			farthest = max(farthest, p.Max)
		}
	}
	for _, share = range shares(farthest) {
		survives, err := s.survives(newConnection * farthest / share)
		if err != nil {
			return config, 1, err
		}
		if survives {
			return divided(config, share), share, nil
		}
	}
	return config, 1, nil // the latencies are not what keeps the lock from working
}

// shares are the parts of a latency that are tried, 1 of so many, the largest first.
func shares(farthest time.Duration) (all []time.Duration) {
	for share := time.Duration(1); farthest/share >= nearest; share *= 2 {
		all = append(all, share)
	}
	return all
}

// pacedBy tells people of the share of a story's latencies.
func pacedBy(share time.Duration) string {
	return fmt.Sprintf("messages take 1/%d of the time that the story gives them: the lock's own timeouts are too short for more", share)
}

// divided shortens the latencies between clients and others.
func divided(config sim.Config, share time.Duration) sim.Config {
	n := &config.Network
	n.Min, n.Max, n.Paths = n.Min/share, n.Max/share, slices.Clone(n.Paths)
	for i, p := range n.Paths {
		if reachesClient(config, p) {
			n.Paths[i].Min, n.Paths[i].Max = p.Min/share, p.Max/share
		}
	}
	return config
}

// reachesClient says that one end of a path is a client.
func reachesClient(config sim.Config, p sim.Path) bool {
	return slices.ContainsFunc(config.Clients, func(c sim.Client) bool { return c.Name == p.Between || c.Name == p.And })
}

// survives says that a client that has nobody beside it acquires the lock and releases it,
// twice, where each message between it and a node takes this long.
func (s *subject) survives(latency time.Duration) (bool, error) {
	if known, measured := s.survived[latency]; measured {
		return known, nil
	}
	tr, err := sim.RunPatiently(s.alone(latency), s.config.Patience)
	if errors.Is(err, sim.ErrLate) || errors.Is(err, sim.ErrStuck) {
		return false, err
	}
	s.survived[latency] = err == nil && worked(history.Of(tr))
	return s.survived[latency], nil
}

// alone is the world in which that is measured.
func (s *subject) alone(latency time.Duration) sim.Config {
	alone := base{name: "alone", clients: func(Config) []sim.Client {
		return []sim.Client{{Name: "client-1", Works: ttls(0.01), RetryEvery: ttls(0.05), Sections: 2}}
	}}
	config := alone.config(s, 1)
	config.Horizon = 2 * ttl
	for _, n := range config.Nodes {
		config.Network.Paths = append(config.Network.Paths, sim.Path{Between: "client-1", And: n.Name, Min: latency, Max: latency})
	}
	return config
}

// worked says that a run came to its end, and that no release failed.
func worked(h *history.History) bool {
	return h.Horizon() == nil && !slices.ContainsFunc(h.Calls(), func(c *history.Call) bool { return c.Step == trace.Release && c.Failed() })
}
