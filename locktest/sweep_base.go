package locktest

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A base is a workload for a lock: clients that use it. Nothing goes wrong in it unless a
// trouble is injected.
type base struct {
	// name is the name of the base. clients returns its clients, for a lock with a Config.
	name    string
	clients func(Config) []sim.Client
	// worthTrying, if not nil, reports whether a trouble is tried at a step in the base. The extent
	// says how many nodes the trouble strikes.
	worthTrying func(trouble, trace.Step, extent) bool
	// progressWithin, for a lock that asks a quorum, is how soon after the last trouble
	// some client must finish its work. 0 is recoveryTime, which also applies to all other
	// locks.
	progressWithin time.Duration
}

// ttls returns the duration of n TTLs.
func ttls(n float64) time.Duration { return time.Duration(n*1000+0.5) * (ttl / 1000) }

// bases are all bases.
var bases = []base{
	{
		// Three clients contend for critical sections that take a while, and the first client
		// extends its lease. If that client wrongly believes that it still holds the lock, another
		// client soon acquires it, which shows the overlap. To acquire it soon, the second client
		// tries again and again, and the third one starts when the first of the first client's
		// keys has expired.
		name: "steady",
		clients: func(c Config) []sim.Client {
			works, every := ttls(0.5), time.Duration(0)
			if c.Extends {
				works, every = ttls(1.3), ttls(0.6)
			}
			return []sim.Client{
				{Name: "client-1", Works: works, ExtendsEvery: every, RetryEvery: ttls(0.2)},
				{Name: "client-2", Works: ttls(0.2), RetryEvery: ttls(0.35), Sections: 2, Starts: shortlyAfterStart("client-1", c)},
				{
					Name: "client-3", Works: ttls(0.2), RetryEvery: ttls(0.08),
					Starts: whenAny(append(anyKeyExpired("client-1", c), actionOf("client-1", trace.Released), actionOf("client-1", trace.Crashed))...),
				},
			}
		},
	},
	{
		// The first client continues its work after its lease has ended. The second client
		// starts at the very moment when the first client's keys have expired. By then the
		// first lease must have ended, according to the lock itself.
		name: "overrun",
		clients: func(c Config) []sim.Client {
			// Each client only reads. A lock may notify the first client of its loss; a
			// client that writes would then have to stop, and would not finish its work.
			reads := []trace.Task{{Step: trace.Read, Object: trace.DefaultObject}, {Step: trace.Work}}
			return []sim.Client{
				{Name: "client-1", Does: reads, Works: ttls(1.15), RetryEvery: ttls(0.2)},
				{
					Name: "client-2", Does: reads, Works: ttls(0.3), RetryEvery: ttls(0.05),
					Starts: whenAny(keysExpired("client-1"), actionOf("client-1", trace.Finished), actionOf("client-1", trace.Crashed)),
				},
			}
		},
	},
	{
		// Three clients contend for sections that are much shorter than the TTL. Every key that a
		// failed attempt leaves behind delays another client, so the time limit for progress
		// reveals such a key. If only messages are lost, a correct lock that asks a quorum leaves
		// no key behind: it also cleans up on the nodes whose answers it has not received.
		name: "brisk",
		clients: func(c Config) []sim.Client {
			brisk := sim.Client{Works: ttls(0.03), RetryEvery: ttls(0.06), Sections: 2}
			all := []sim.Client{brisk, brisk, brisk}
			for i := range all {
				all[i].Name = fmt.Sprintf("client-%d", i+1)
			}
			all[1].Starts, all[2].Starts = shortlyAfterStart("client-1", c), shortlyAfterStart("client-2", c)
			return all
		},
		worthTrying: func(t trouble, step trace.Step, e extent) bool {
			return t.onlyLosesMessage && step == trace.Acquire && e.name != ""
		},
		progressWithin: ttls(0.8),
	},
}

// anyKeyExpired returns, for each node, the happening that the client's key there expires.
func anyKeyExpired(client string, c Config) (expiries []trace.Happening) {
	for i := range c.Nodes {
		expiries = append(expiries, trace.KeyExpired{Client: client, Node: c.node(i)})
	}
	return expiries
}

// shortlyAfterStart returns a point shortly after a client has sent its first request for
// the lock, whatever the result of the request will be.
func shortlyAfterStart(client string, c Config) trace.Point {
	var alternatives []trace.Alternative
	for i := range c.Nodes {
		request := trace.Message{Client: client, Peer: c.node(i), Step: trace.Acquire}
		alternatives = append(alternatives, delayedAlternative(ttl/500, trace.Transit{Message: request}))
	}
	return trace.AnyOf(alternatives...)
}

// node returns the name of a node, counted from 0.
func (c Config) node(i int) string { return c.system().NodeName(i) }

// system returns the kind of server that keeps the lock.
func (c Config) system() sim.System {
	s, _ := sim.LookupSystem(c.System) // newSubject has refused a system that does not exist
	return s
}

// recoveryTime is how soon after the last trouble some client must finish its work. It is
// long for two reasons. Grants and keys from the time of the trouble may last for their
// TTL, while their holders still work. And calls may wait for answers that never come, for
// as long as go-redis waits by default.
const recoveryTime = 10 * ttl

// config returns the world of a base with a seed.
func (b base) config(s *subject, seed uint64) sim.Config {
	clients := b.clients(s.config)
	for i := range clients {
		clients[i].Retry = locks.Jitter
	}
	config := sim.Config{
		Name:           b.name,
		Seed:           seed,
		Lock:           sim.Lock{Kind: s.kind, Key: resource, TTL: ttl},
		Clients:        clients,
		Network:        sim.Network{Min: 500 * time.Microsecond, Max: 1500 * time.Microsecond},
		Horizon:        30 * ttl,
		ProgressWithin: recoveryTime,
	}
	if b.progressWithin > 0 && s.config.Nodes > 1 {
		config.ProgressWithin = b.progressWithin
	}
	for i := range s.config.Nodes {
		// A system lists its persistences (how a node keeps its data); with the last one, a node
		// that restarts forgets nothing.
		n := sim.Node{Name: s.config.node(i)}
		if disks := s.config.system().Persistences(); len(disks) > 0 {
			n.Persistence = disks[len(disks)-1]
		}
		config.Nodes = append(config.Nodes, n)
	}
	return config
}
