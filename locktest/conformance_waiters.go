package locktest

import (
	"context"
	"fmt"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// waiterCases returns the test cases with clients that wait. In most of them, several clients ask
// for the lock at the same moment, just after it has become free. If a lock first checks whether
// its key exists, and then sets the key without a condition, several clients are granted the lock.
// In the last test case, a client leaves a queue, and the next client in the queue must still wait
// for the holder.
func waiterCases() []testCase {
	return []testCase{
		conformanceCase("waiters/expired", "three clients wait for the lock, and ask at the same moment when the lease of a dead holder has expired", needsExpiry, func(s *subject) []scene {
			grace := time.Duration(0)
			if extra := s.config.system().Grace; extra != nil {
				grace = extra(ttl)
			}
			kill := sim.Fault{
				Strikes: trace.Trigger{When: whenAny(actionOf("client-1", trace.HasRead))}, Action: &sim.CrashFault{Process: "client-1"}, Text: "kill client-1",
			}
			return s.waiterScenes(sim.Client{Name: "client-1", Works: ttls(0.3), RetryEvery: shortRetry}, ttl+grace, keysExpired("client-1"), kill)
		}),
		conformanceCase("waiters/released", "three clients wait for the lock, and ask at the same moment when its holder has released it", nil, func(s *subject) []scene {
			release := acquireThen(func(ctx context.Context, p *sim.Program, section *sim.Section) error {
				if err := p.Sleep(ttls(0.4)); err != nil {
					return err
				}
				return section.Release(ctx)
			})
			return s.waiterScenes(sim.Client{Name: "client-1", Run: release}, ttls(0.4), actionOf("client-1", trace.Released))
		}),
		conformanceCase("waiters/gives-up", "of two clients that wait for the holder, the first gives up", nil, func(*subject) []scene {
			after := func(share float64) trace.Point {
				return trace.AnyOf(delayedAlternative(ttls(share), actionOf("client-1", trace.Acquired)))
			}
			last := newContender("client-3")
			last.Starts = after(0.2)
			return []scene{{name: "deadline", clients: []sim.Client{
				{Name: "client-1", Works: ttls(0.6)}, {Name: "client-2", Starts: after(0.1), Run: retryUnderDeadline(ttls(0.3))}, last,
			}}}
		}),
	}
}

// waiterNames are the names of the clients that wait.
var waiterNames = []string{"client-2", "client-3", "client-4"}

// waiterScenes returns scenes in which the holder's lock becomes free. free is the time from
// the grant until then, and isFree is the happening with which the lock becomes free. Each
// scene has another way to make the clients that wait ask at the same moment.
func (s *subject) waiterScenes(holder sim.Client, free time.Duration, isFree trace.Happening, faults ...sim.Fault) []scene {
	clients := []sim.Client{holder}
	for _, name := range waiterNames {
		clients = append(clients, newContender(name, actionOf(holder.Name, trace.Acquired)))
	}
	// If all messages take the same time, clients that start together and retry at regular
	// intervals always ask together.
	scenes := []scene{{name: "in-step", clients: clients, faults: faults, inStep: true}}
	// A lock may wait in its call of acquire, for random times between two requests. If no
	// message of the waiters arrives for a while, each waiter has a request under way in the
	// end, and these requests arrive together. The short time is less than most locks wait for
	// an answer. The long time is more than most locks wait between two requests.
	for _, lasts := range []time.Duration{ttls(0.02), ttls(0.2)} {
		scenes = append(scenes, scene{
			name: fmt.Sprintf("cut-off,%v-ttl", lasts.Seconds()/ttl.Seconds()), clients: clients,
			faults: append(s.stopWaiters(free-lasts, isFree, "partition", func(name string) sim.Action {
				return &sim.Partition{Process: name, From: s.nodes()}
			}), faults...),
		})
	}
	if s.config.OwnClock {
		// The timers of a process that is paused are due when it resumes.
		scenes = append(scenes, scene{
			name: "paused", clients: clients,
			faults: append(s.stopWaiters(free-ttls(0.1), isFree, "pause", func(name string) sim.Action { return &sim.Pause{Process: name} }), faults...),
		})
	}
	return scenes
}

// stopWaiters makes a fault for each client that waits. It strikes some time after client-1
// was granted the lock, and ends just after the lock has become free.
func (s *subject) stopWaiters(from time.Duration, isFree trace.Happening, how string, action func(name string) sim.Action) []sim.Fault {
	return faultForEach(waiterNames, func(name string) sim.Fault {
		return sim.Fault{
			Strikes: trace.Trigger{When: trace.AnyOf(delayedAlternative(from, actionOf("client-1", trace.Acquired)))},
			Until:   trace.AnyOf(delayedAlternative(ttl/1000, isFree)), For: ttls(0.3),
			Action: action(name), Text: how + " " + name,
		}
	})
}
