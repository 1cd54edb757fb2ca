package locktest

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// The conformance stories ask things of a lock that no trouble with one of its
// messages brings up: that it keeps what its Config claims, that it notices the
// loss of a lease, that a second handle is a second client, that nothing is left
// behind.

// conformanceStories are the fixed stories that need no particular lock.
func conformanceStories() []story {
	return slices.Concat(
		claimStories(), lossStories(), lateStories(), handleStories(),
		partialStories(), errorStories(), contextStories(), deathStories(), sectionStories(), againStories(), releaseStories(),
	)
}

// A scene is one world of a conformance story.
type scene struct {
	name    string
	clients []sim.Client
	faults  []sim.Fault
	// asserts says that a breach with which a client's program ends counts against the lock. In
	// other scenes it only is the end of the program.
	asserts bool
	// within is by when somebody must have made progress, after the last fault or
	// else since the start; 0 is calmWithin.
	within time.Duration
	// ttl is the lock's; 0 is that of all other stories. A lock may refuse another one.
	ttl time.Duration
	// horizon is when the world is cut off; 0 is when those of the sweep are.
	horizon time.Duration
}

// fixed is a story told in scenes. untold says why it cannot be told with a lock,
// or is ""; nil is that any lock will do.
func fixed(name, title string, untold func(*subject) string, scenes func(*subject) []scene) story {
	return story{name: name, title: title, worlds: func(s *subject, seed uint64) (worlds []world, why string, err error) {
		if untold != nil {
			if why := untold(s); why != "" {
				return nil, why, nil
			}
		}
		for _, sc := range scenes(s) {
			worlds = append(worlds, s.stage(name, sc, seed))
		}
		return worlds, "", nil
	}}
}

// stage makes a scene's world.
func (s *subject) stage(story string, sc scene, seed uint64) world {
	clients := slices.Clone(sc.clients)
	for i, c := range clients {
		if c.Run != nil && !sc.asserts {
			clients[i].Run = blameless(c.Run)
		}
	}
	b := base{name: story, clients: func(Config) []sim.Client { return clients }}
	config := b.config(s, seed)
	config.Faults = sc.faults
	config.ProgressWithin = cmp.Or(sc.within, config.ProgressWithin)
	config.Horizon = cmp.Or(sc.horizon, config.Horizon)
	config.Lock.TTL = cmp.Or(sc.ttl, config.Lock.TTL)
	return world{name: sc.name, config: config, refusable: sc.ttl > 0}
}

// nodes names the lock's nodes, first to last.
func (s *subject) nodes() (names []string) {
	for i := range s.config.Nodes {
		names = append(names, s.config.node(i))
	}
	return names
}

// majority names enough nodes that no grant is possible without any of them.
func (s *subject) majority() []string { return s.nodes()[:s.config.Nodes-s.spare()] }

// spare is how many nodes a grant can do without.
func (s *subject) spare() int {
	if s.config.cluster() {
		return (s.config.Nodes - 1) / 2
	}
	slots, quorum := s.kind.Slots(resource, s.config.Nodes)
	if len(slots) != s.config.Nodes { // a node can have several slots
		return 0
	}
	return s.config.Nodes - quorum
}

// resource is the name of the lock, as the base stories have it.
const resource = "resource"

// onEach makes one fault for each process.
func onEach(names []string, f func(name string) sim.Fault) (faults []sim.Fault) {
	for _, name := range names {
		faults = append(faults, f(name))
	}
	return faults
}

// The reasons why a story cannot be told with a lock.

func needsExtend(s *subject) string {
	if !s.config.Extends {
		return "it does not claim that a lease can be extended"
	}
	return ""
}

func needsNotice(s *subject) string {
	if !s.config.Notifies {
		return "it does not claim to tell of a lease's loss"
	}
	return ""
}

func needsEnd(s *subject) string {
	if s.config.Endless {
		return "its grants never end by themselves"
	}
	return ""
}

func needsMinority(s *subject) string {
	if s.spare() == 0 {
		return "it can do without none of its nodes"
	}
	return ""
}

// needsRedis is for stories in which somebody speaks to the nodes as only Redis is spoken
// to.
func needsRedis(s *subject) string {
	if s.config.System != locks.Redis {
		return "its nodes are no Redis nodes"
	}
	return ""
}

// all is that a lock must meet every one of some needs.
func all(needs ...func(*subject) string) func(*subject) string {
	return func(s *subject) string {
		for _, need := range needs {
			if why := need(s); why != "" {
				return why
			}
		}
		return ""
	}
}
