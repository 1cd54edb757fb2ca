package locktest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// partialCases returns test cases in which some nodes refuse the lock, because a stranger
// has set the lock's key there, or because they are down. The stranger is a client that does
// not use the lock.
func partialCases() []testCase {
	contenders := func(starts trace.Happening) []sim.Client {
		one, two := newContender("client-1", starts), newContender("client-2", starts)
		one.Sections, two.Sections = 3, 3
		return []sim.Client{one, two}
	}
	return []testCase{
		conformanceCase("partial/minority", "on a minority of nodes another program has set the key, which never expires", allNeeds(needsRedis, needsMinority), func(s *subject) []scene {
			return []scene{{clients: append(contenders(actionOf("stranger", trace.Finished)), s.stranger("", 0, s.config.Nodes-s.spareNodes(), s.config.Nodes))}}
		}),
		conformanceCase("partial/for-a-while", "another program has set the key, until it expires", needsRedis, func(s *subject) []scene {
			return []scene{{clients: append(contenders(actionOf("stranger", trace.Finished)), s.stranger("", ttls(0.3), 0, s.config.Nodes))}}
		}),
		conformanceCase("partial/failed-attempt", "an attempt acquires only a minority of the nodes, and on one of the other nodes another program keeps the key", allNeeds(needsRedis, needsMinority), func(s *subject) []scene {
			firstClient := newContender("client-1", actionOf("stranger-1", trace.Finished))
			firstClient.Attempts = 1
			secondClient := newContender("client-2", actionOf("client-1", trace.Finished))
			// Progress is required in less than a TTL: a key that the attempt has left
			// behind would prevent it for a whole TTL.
			return []scene{{progressWithin: ttls(0.8), clients: []sim.Client{
				s.stranger("-1", ttls(0.3), s.spareNodes(), s.config.Nodes-1), s.stranger("-2", 0, s.config.Nodes-1, s.config.Nodes),
				firstClient, secondClient,
			}}}
		}),
		conformanceCase("partial/released", "one node's reply to acquire is late, and after release another program sets the key on a minority of the other nodes", allNeeds(needsRedis, needsMinority), func(s *subject) []scene {
			acquireAndRelease := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				return writeAndRelease(ctx, section)
			})
			stranger := s.stranger("", 0, s.config.Nodes-s.spareNodes(), s.config.Nodes)
			stranger.Starts = whenAny(actionOf("client-1", trace.Released))
			return []scene{{
				// Progress is required in less than a TTL: a key that release has left
				// behind would prevent it until one TTL after the grant.
				progressWithin: ttls(0.5),
				faults: []sim.Fault{{
					For: ttls(0.2), Action: &sim.Hold{Message: trace.NthMessage{Message: trace.Message{Client: "client-1", Peer: s.config.node(0), Step: trace.Acquire, Reply: true}}},
					Text: "hold " + s.config.node(0) + "'s reply",
				}},
				clients: []sim.Client{{Name: "client-1", Run: acquireAndRelease}, stranger, newContender("client-2", actionOf("stranger", trace.Finished))},
			}}
		}),
		conformanceCase("partial/released-one-down", "a node goes down while the lock is held, and after release another client asks for it", allNeeds(needsMinority, needsSeparateNodes), func(s *subject) (scenes []scene) {
			for _, node := range s.firstMiddleLast() {
				// A key that release has left on the other nodes would prevent progress until
				// one TTL after the grant. The node refuses connections: for a silent node a
				// lock may wait for nearly as long.
				scenes = append(scenes, scene{
					name: s.config.node(node), progressWithin: ttls(0.5), faults: s.crashNode(node, actionOf("client-1", trace.HasRead)),
					clients: []sim.Client{{Name: "client-1", RetryEvery: shortRetry, Works: ttl / 50}, newContender("client-2", actionOf("client-1", trace.Released))},
				})
			}
			return scenes
		}),
		conformanceCase("partial/failed-one-down", "a node is down, and an attempt acquires only a minority of the nodes", allNeeds(needsRedis, needsMinority, needsSeparateNodes), func(s *subject) (scenes []scene) {
			for _, node := range s.firstMiddleLast() {
				// Without the stranger's nodes and the node that is down, too few nodes remain
				// for a grant.
				var strangers []sim.Client
				for i := s.config.Nodes - 1; len(strangers) < s.spareNodes(); i-- {
					if i != node {
						strangers = append(strangers, s.stranger(fmt.Sprintf("-%d", i+1), ttls(0.3), i, i+1))
					}
				}
				firstClient := newContender("client-1", actionOf(s.config.node(node), trace.Crashed))
				firstClient.Attempts = 1
				scenes = append(scenes, scene{
					name: s.config.node(node), progressWithin: ttls(0.8), faults: s.crashNode(node, actionOf(strangers[0].Name, trace.Finished)),
					clients: append(strangers, firstClient, newContender("client-2", actionOf("client-1", trace.Finished))),
				})
			}
			return scenes
		}),
	}
}

// firstMiddleLast returns three of the lock's nodes. In whichever order a lock asks its
// nodes, it asks one of these three early.
func (s *subject) firstMiddleLast() []int {
	return slices.Compact([]int{0, s.config.Nodes / 2, s.config.Nodes - 1})
}

// crashNode makes a node go down for good when something happens.
func (s *subject) crashNode(node int, when trace.Happening) []sim.Fault {
	name := s.config.node(node)
	return []sim.Fault{{Strikes: trace.Trigger{When: whenAny(when)}, Action: &sim.CrashFault{Process: name}, Text: "crash " + name}}
}

// stranger returns a client that sets the lock's key on the nodes from first to last-1, unless it
// exists, without asking the lock. The key lasts for keyTTL; 0 is forever.
func (s *subject) stranger(suffix string, keyTTL time.Duration, first, last int) sim.Client {
	return sim.Client{Name: "stranger" + suffix, Run: func(ctx context.Context, p *sim.Program) error {
		slots, _ := s.kind.Slots(resource, s.config.Nodes)
		for _, slot := range slots {
			if slot.Node < first || slot.Node >= last {
				continue
			}
			// A key that the lock has left behind also makes the node refuse the lock.
			if err := locks.RedisClient(p.Env(), slot.Node).SetNX(ctx, slot.Key, "a stranger's", keyTTL).Err(); err != nil {
				return fmt.Errorf("%s cannot be set: %w", slot.Key, err)
			}
		}
		return nil
	}}
}
