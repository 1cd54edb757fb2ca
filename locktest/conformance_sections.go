package locktest

import (
	"github.com/locksim/locksim/sim"
)

// sectionCases returns the test case with hundreds of critical sections, one after the other. It
// shows what grows with each section.
func sectionCases() []testCase {
	return []testCase{
		conformanceCase("hundreds-of-sections", "two clients have 150 sections each", nil, func(*subject) []scene {
			client := func(name string) sim.Client {
				return sim.Client{Name: name, Sections: 150, Works: ttl / 30, RetryEvery: ttl / 15}
			}
			return []scene{{horizon: 100 * ttl, progressWithin: 100 * ttl, clients: []sim.Client{client("client-1"), client("client-2")}}}
		}),
	}
}
