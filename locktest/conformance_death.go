package locktest

import (
	"context"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// deathCases returns the test case in which the holder is killed. Its lease must end by
// itself, but not early.
func deathCases() []testCase {
	return []testCase{
		conformanceCase("holder-dies", "the holder is killed in its section, and others want the lock", needsExpiry, func(s *subject) []scene {
			holder := sim.Client{Name: "client-1", Works: ttls(0.3), RetryEvery: shortRetry}
			waiter := sim.Client{Name: "client-2", Starts: whenAny(actionOf("client-1", trace.Acquired)), Run: acquireThen(
				func(ctx context.Context, p *sim.Program, section *sim.Section) error {
					return writeAndRelease(ctx, section)
				},
			)}
			return []scene{{
				failsOnBreach: true, clients: []sim.Client{holder, waiter, newContender("client-3", actionOf("client-1", trace.Crashed))},
				faults: []sim.Fault{{
					Strikes: trace.Trigger{When: whenAny(actionOf("client-1", trace.HasRead))}, Action: &sim.CrashFault{Process: "client-1"}, Text: "kill client-1",
				}},
			}}
		}),
	}
}
