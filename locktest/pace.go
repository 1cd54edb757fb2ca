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

// Some locks limit the time of their requests, as Redlock does. Such a lock gives up on nodes
// that are further away than its timeouts allow. The lock's author has chosen the timeouts for
// a network, but a test case does not know them. So the suite measures with which latencies the
// lock works without faults, and shortens the longer latencies of a test case.

const (
	// newConnectionTrips is how many round trips a request can need on a new connection:
	// for the dial, the handshake, the name of a script that the node does not know, and
	// the script's text. On an open connection it needs one.
	newConnectionTrips = 4
	// minLatency is the latency of a fast local network. Shorter latencies do not help a
	// lock that fails with this one.
	minLatency = 100 * time.Microsecond
)

// pace divides the latencies between clients and nodes until the lock's own timeouts allow
// them, and returns the divisor. It returns the error of a run that was too slow to be
// judged, or in which the lock hangs.
func (s *subject) pace(config sim.Config) (paced sim.Config, divisor time.Duration, err error) {
	farthest := config.Network.Max
	for _, p := range config.Network.Paths {
		if reachesClient(config, p) {
			farthest = max(farthest, p.Max)
		}
	}
	for _, divisor = range latencyDivisors(farthest) {
		survives, err := s.survives(newConnectionTrips * farthest / divisor)
		if err != nil {
			return config, 1, err
		}
		if survives {
			return divideLatencies(config, divisor), divisor, nil
		}
	}
	return config, 1, nil // the lock fails with every latency, so another reason prevents it from working
}

// latencyDivisors returns the divisors to try for the longest latency of a test case, the
// smallest first.
func latencyDivisors(farthest time.Duration) (all []time.Duration) {
	for divisor := time.Duration(1); farthest/divisor >= minLatency; divisor *= 2 {
		all = append(all, divisor)
	}
	return all
}

// describePace returns a sentence that explains the divisor of a test case's latencies.
func describePace(divisor time.Duration) string {
	return fmt.Sprintf("the latencies are divided by %d, because the lock's own timeouts are too short for them", divisor)
}

// divideLatencies divides the latencies between clients and other processes.
func divideLatencies(config sim.Config, divisor time.Duration) sim.Config {
	n := &config.Network
	n.Min, n.Max, n.Paths = n.Min/divisor, n.Max/divisor, slices.Clone(n.Paths)
	for i, p := range n.Paths {
		if reachesClient(config, p) {
			n.Paths[i].Min, n.Paths[i].Max = p.Min/divisor, p.Max/divisor
		}
	}
	return config
}

// reachesClient reports whether one end of a path is a client.
func reachesClient(config sim.Config, p sim.Path) bool {
	return slices.ContainsFunc(config.Clients, func(c sim.Client) bool { return c.Name == p.Between || c.Name == p.And })
}

// survives reports whether the lock works with a latency of each message between its client
// and a node. It works if a client without competitors acquires and releases it twice.
func (s *subject) survives(latency time.Duration) (bool, error) {
	if known, measured := s.survived[latency]; measured {
		return known, nil
	}
	tr, err := sim.RunPatiently(s.soloConfig(latency), s.config.Patience)
	if errors.Is(err, sim.ErrLate) || errors.Is(err, sim.ErrMutex) || errors.Is(err, sim.ErrStuck) {
		return false, err
	}
	if err != nil {
		s.survived[latency] = false
		return false, nil
	}
	isRefusal := func(c trace.Complaint) bool { return c.Rule == trace.CannotMake }
	s.cannotBeMade = s.cannotBeMade || slices.ContainsFunc(tr.Complaints, isRefusal)
	s.survived[latency] = endedWell(history.New(tr))
	return s.survived[latency], nil
}

// soloConfig returns the world in which survives measures a latency.
func (s *subject) soloConfig(latency time.Duration) sim.Config {
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

// endedWell reports whether a run ended before its horizon and no release failed.
func endedWell(h *history.History) bool {
	return h.Horizon() == nil && !slices.ContainsFunc(h.Calls(), func(c *history.Call) bool { return c.Step == trace.Release && c.Failed() })
}
