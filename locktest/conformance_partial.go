package locktest

import (
	"context"
	"fmt"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// partialCases returns test cases in which some nodes refuse the lock, because a stranger
// has set the lock's key there. The stranger is a client that does not use the lock.
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
	}
}

// stranger returns a client that sets the lock's key on the nodes from first to last-1,
// without asking the lock. The key lasts for keyTTL; 0 is forever.
func (s *subject) stranger(suffix string, keyTTL time.Duration, first, last int) sim.Client {
	return sim.Client{Name: "stranger" + suffix, Run: func(ctx context.Context, p *sim.Program) error {
		slots, _ := s.kind.Slots(resource, s.config.Nodes)
		for _, slot := range slots {
			if slot.Node < first || slot.Node >= last {
				continue
			}
			if err := p.Env().Redis(slot.Node).Set(ctx, slot.Key, "a stranger's", keyTTL).Err(); err != nil {
				return fmt.Errorf("%s cannot be set: %w", slot.Key, err)
			}
		}
		return nil
	}}
}
