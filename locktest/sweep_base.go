package locktest

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A base is a story that goes well unless something happens to it.
type base struct {
	name    string
	clients func(Config) []sim.Client
	// only, if not nil, says which troubles are worth telling in it.
	only func(trouble, trace.Step, extent) bool
	// within is how soon after the last trouble somebody must get the work done with a
	// lock that asks a quorum; 0 is calmWithin, as for other locks.
	within time.Duration
}

// ttls is a number of TTLs.
func ttls(n float64) time.Duration { return time.Duration(n*1000+0.5) * (ttl / 1000) }

// bases are the base stories.
var bases = []base{
	{
		// Three clients contend for sections that take a while, and the first extends
		// its lease. What that one wrongly believes it still holds, another soon
		// gets: the second tries again and again, and the third comes when the first of
		// its keys has expired.
		name: "steady",
		clients: func(c Config) []sim.Client {
			works, every := ttls(0.5), time.Duration(0)
			if c.Extends {
				works, every = ttls(1.3), ttls(0.6)
			}
			return []sim.Client{
				{Name: "client-1", Works: works, ExtendsEvery: every, RetryEvery: ttls(0.2)},
				{Name: "client-2", Works: ttls(0.2), RetryEvery: ttls(0.35), Sections: 2, Starts: soonAfter("client-1", c)},
				{
					Name: "client-3", Works: ttls(0.2), RetryEvery: ttls(0.08),
					Starts: on(append(expired("client-1", c), did("client-1", trace.Released), did("client-1", trace.Crashed))...),
				},
			}
		},
	},
	{
		// The first client works on after its lease has ended, and the second comes at
		// the very moment when its keys have expired. By its own word the lease must have
		// ended then.
		name: "overrun",
		clients: func(c Config) []sim.Client {
			// A client that is told of its loss must not write, and would not get its work
			// done; one that only reads does.
			reads := []trace.Task{{Step: trace.Read, Object: trace.Object}, {Step: trace.Work}}
			return []sim.Client{
				{Name: "client-1", Does: reads, Works: ttls(1.15), RetryEvery: ttls(0.2)},
				{
					Name: "client-2", Does: reads, Works: ttls(0.3), RetryEvery: ttls(0.05),
					Starts: on(keysExpired("client-1"), did("client-1", trace.Finished), did("client-1", trace.Crashed)),
				},
			}
		},
	},
	{
		// Three clients contend for sections that are much shorter than the TTL.
		// Whatever a failed attempt leaves behind is in somebody's way. A lock that asks a
		// quorum leaves nothing if all that was wrong is that messages were lost: it
		// cleans up also on the nodes whose answers it has not heard.
		name: "brisk",
		clients: func(c Config) []sim.Client {
			brisk := sim.Client{Works: ttls(0.03), RetryEvery: ttls(0.06), Sections: 2}
			all := []sim.Client{brisk, brisk, brisk}
			for i := range all {
				all[i].Name = fmt.Sprintf("client-%d", i+1)
			}
			all[1].Starts, all[2].Starts = soonAfter("client-1", c), soonAfter("client-2", c)
			return all
		},
		only: func(t trouble, step trace.Step, e extent) bool {
			return t.lost && step == trace.Acquire && e.name != ""
		},
		within: ttls(0.8),
	},
}

// expired is that any of a client's keys expires.
func expired(client string, c Config) (any []trace.Happening) {
	for i := range c.Nodes {
		any = append(any, trace.KeyExpired{Client: client, Node: c.node(i)})
	}
	return any
}

// soonAfter is a moment after a client's first attempt has begun, whatever becomes
// of it.
func soonAfter(client string, c Config) trace.Point {
	var first []trace.Clause
	for i := range c.Nodes {
		request := trace.Message{Client: client, Peer: c.node(i), Step: trace.Acquire}
		first = append(first, after(ttl/500, trace.Transit{Message: request}))
	}
	return trace.Any(first...)
}

// node is the name of a node, counted from 0.
func (c Config) node(i int) string { return c.system().NodeName(i) }

// system is the kind of server that the lock is kept on.
func (c Config) system() sim.System {
	s, _ := sim.LookupSystem(c.System) // newSubject has refused one that does not exist
	return s
}

// calmWithin is how soon after the last trouble somebody must get the work done:
// what was granted or set meanwhile may stand for its TTL, the work for which it
// was may go on, and calls may wait for answers that will not come for as long as
// go-redis does by default.
const calmWithin = 10 * ttl

// config is the world of a base story, on a seed.
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
		ProgressWithin: calmWithin,
	}
	if b.within > 0 && s.config.Nodes > 1 {
		config.ProgressWithin = b.within
	}
	for i := range s.config.Nodes {
		// A node that comes back has forgotten nothing.
		n := sim.Node{Name: s.config.node(i)}
		if disks := s.config.system().Persistences(); len(disks) > 0 {
			n.Persistence = disks[len(disks)-1]
		}
		config.Nodes = append(config.Nodes, n)
	}
	return config
}
