package locktest

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// The conformance test cases check what the test cases of trouble.go, which disturb single
// messages, do not show. A lock must keep the claims of its Config, notice the loss of a lease,
// treat a second handle as a second client, and leave no key behind.

// conformanceCases returns the conformance test cases, except those of the TTL.
func conformanceCases() []testCase {
	return slices.Concat(
		claimCases(), lossCases(), lateCases(), handleCases(),
		partialCases(), errorCases(), contextCases(), deathCases(), waiterCases(), sectionCases(), repeatedReleaseCases(), releaseCases(),
	)
}

// A scene is one world of a conformance test case.
type scene struct {
	name    string
	clients []sim.Client
	faults  []sim.Fault
	// failsOnBreach means that the lock fails if a client's program returns a breach, which
	// is a rule that the lock broke. In other scenes a breach only ends the program.
	failsOnBreach bool
	// progressWithin is how soon after the last fault some client must finish its work. If
	// there is no fault, it counts from the start. 0 is recoveryTime.
	progressWithin time.Duration
	// ttl is the TTL of the lock in this scene; 0 means the TTL of all other test cases. The
	// lock is allowed to refuse another TTL.
	ttl time.Duration
	// inStep means that all messages take the same time, and that clients try again at
	// regular intervals.
	inStep bool
	// horizon is when the world is cut off; 0 is the horizon of the systematic test cases.
	horizon time.Duration
}

// conformanceCase returns a test case that runs scenes. notApplicable returns why the test
// case does not apply to a lock, or "". If it is nil, the test case applies to any lock.
func conformanceCase(name, title string, notApplicable func(*subject) string, scenes func(*subject) []scene) testCase {
	return testCase{name: name, title: title, worlds: func(s *subject, seed uint64) (worlds []world, why string, err error) {
		if notApplicable != nil {
			if why := notApplicable(s); why != "" {
				return nil, why, nil
			}
		}
		for _, sc := range scenes(s) {
			worlds = append(worlds, s.sceneWorld(name, sc, seed))
		}
		return worlds, "", nil
	}}
}

// sceneWorld makes a scene's world.
func (s *subject) sceneWorld(story string, sc scene, seed uint64) world {
	clients := slices.Clone(sc.clients)
	for i, c := range clients {
		if c.Run != nil && !sc.failsOnBreach {
			clients[i].Run = excuseBreaches(c.Run)
		}
	}
	b := base{name: story, clients: func(Config) []sim.Client { return clients }}
	config := b.config(s, seed)
	config.Faults = sc.faults
	config.ProgressWithin = cmp.Or(sc.progressWithin, config.ProgressWithin)
	config.Horizon = cmp.Or(sc.horizon, config.Horizon)
	config.Lock.TTL = cmp.Or(sc.ttl, config.Lock.TTL)
	if sc.inStep {
		config.Network.Min = config.Network.Max
		for i := range config.Clients {
			config.Clients[i].Retry = locks.Fixed
		}
	}
	return world{name: sc.name, config: config}
}

// nodes returns the names of the lock's nodes, first to last.
func (s *subject) nodes() (names []string) {
	for i := range s.config.Nodes {
		names = append(names, s.config.node(i))
	}
	return names
}

// majority returns the names of as many nodes as a grant needs. Without these nodes no grant is
// possible.
func (s *subject) majority() []string { return s.nodes()[:s.config.Nodes-s.spareNodes()] }

// spareNodes returns how many nodes can be missing when a grant is made.
func (s *subject) spareNodes() int {
	if s.config.isCluster() {
		return (s.config.Nodes - 1) / 2
	}
	slots, quorum := s.kind.Slots(resource, s.config.Nodes)
	if len(slots) != s.config.Nodes { // a node can have several slots
		return 0
	}
	return s.config.Nodes - quorum
}

// resource is the name of the lock in all bases (the workloads of sweep_base.go) and scenes.
const resource = "resource"

// faultForEach makes one fault for each of the named processes.
func faultForEach(names []string, f func(name string) sim.Fault) (faults []sim.Fault) {
	for _, name := range names {
		faults = append(faults, f(name))
	}
	return faults
}

// Each of the following functions returns why a test case does not apply to a lock, or "".

// needsExtend is for test cases that extend a lease.
func needsExtend(s *subject) string {
	if !s.config.Extends {
		return "the lock does not claim that a lease can be extended"
	}
	return ""
}

// needsNotification is for test cases in which a lease notifies its holder of its loss.
func needsNotification(s *subject) string {
	if !s.config.Notifies {
		return "the lock does not claim to notify of a lease's loss"
	}
	return ""
}

// needsExpiry is for test cases in which a lease must end by itself.
func needsExpiry(s *subject) string {
	if s.config.Endless {
		return "the lock's grants never end by themselves"
	}
	return ""
}

// needsMinority is for test cases in which a minority of the nodes fails and a grant is still
// possible.
func needsMinority(s *subject) string {
	if s.spareNodes() == 0 {
		return "the lock needs all of its nodes for a grant"
	}
	return ""
}

// needsSeparateNodes is for test cases in which a client asks each node by itself.
func needsSeparateNodes(s *subject) string {
	if s.config.isCluster() {
		return "the lock's nodes are the members of one cluster"
	}
	return ""
}

// needsRedis is for test cases that only Redis nodes can run, for example because a client
// sends Redis commands to them.
func needsRedis(s *subject) string {
	if s.config.System != locks.Redis {
		return "the lock's nodes are not Redis nodes"
	}
	return ""
}

// allNeeds returns a function that returns the first reason of the given ones.
func allNeeds(needs ...func(*subject) string) func(*subject) string {
	return func(s *subject) string {
		for _, need := range needs {
			if why := need(s); why != "" {
				return why
			}
		}
		return ""
	}
}
