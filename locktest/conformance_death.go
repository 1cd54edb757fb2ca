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
		conformanceCase("holder-dies", "the holder is killed in its section, and others want the lock", needsEnd, func(s *subject) []scene {
			holder := sim.Client{Name: "client-1", Works: ttls(0.3), RetryEvery: shortRetry}
			heir := sim.Client{Name: "client-2", Starts: whenAny(did("client-1", trace.Acquired)), Run: holding(
				func(ctx context.Context, p *sim.Program, in *sim.Section) error { return writeAndRelease(ctx, in) },
			)}
			return []scene{{
				countsBreaches: true, clients: []sim.Client{holder, heir, another("client-3", did("client-1", trace.Crashed))},
				faults: []sim.Fault{{
					Strikes: trace.Trigger{When: whenAny(did("client-1", trace.HasRead))}, Action: &sim.CrashFault{Process: "client-1"}, Text: "kill client-1",
				}},
			}}
		}),
	}
}
