package locktest

import (
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// errorCases returns test cases in which nodes answer with errors, or restart.
func errorCases() []testCase {
	return []testCase{
		conformanceCase("errors/minority", "a minority of nodes answers every command with an error", allNeeds(needsRedis, needsMinority), func(s *subject) (scenes []scene) {
			for _, nodeError := range nodeErrors {
				scenes = append(scenes, scene{
					name: nodeError.name, clients: s.contenders(),
					faults: s.failNodes(s.nodes()[s.config.Nodes-s.spareNodes():], nodeError.text, trace.Point{}, 0),
				})
			}
			return scenes
		}),
		conformanceCase("errors/majority", "for a while the nodes answer every command with an error", needsRedis, func(s *subject) (scenes []scene) {
			for _, nodeError := range nodeErrors {
				for _, period := range []struct {
					name   string
					starts trace.Point
				}{
					{"acquire", trace.Point{}}, {"extend", whenAny(actionOf("client-1", trace.HasRead))}, {"release", whenAny(actionOf("client-1", trace.Wrote))},
				} {
					scenes = append(scenes, scene{
						name: nodeError.name + "," + period.name, clients: s.contenders(),
						faults: s.failNodes(s.majority(), nodeError.text, period.starts, ttls(0.8)),
					})
				}
			}
			return scenes
		}),
		conformanceCase("errors/restart", "the nodes restart while a lease is held, and remember all but their scripts", nil, func(s *subject) []scene {
			restart := faultForEach(s.nodes(), func(name string) sim.Fault {
				return sim.Fault{
					Strikes: trace.Trigger{When: whenAny(actionOf("client-1", trace.HasRead))}, For: ttls(0.05),
					Action: &sim.CrashFault{Process: name}, Text: "restart " + name,
				}
			})
			scenes := []scene{{name: "release", clients: s.contenders(), faults: restart}}
			if s.config.Extends {
				scenes = append(scenes, scene{name: "extend", failsOnBreach: true, faults: restart, clients: []sim.Client{
					{Name: "client-1", Run: holdByExtending(0.6, false)}, newContender("client-2", actionOf("client-1", trace.Acquired)),
				}})
			}
			return scenes
		}),
	}
}

// nodeErrors are the errors of a node that cannot carry out a command.
var nodeErrors = []struct{ name, text string }{
	{"loading", "LOADING Redis is loading the dataset in memory"},
	{"full", "OOM command not allowed when used memory > 'maxmemory'."},
	{"replica", "READONLY You can't write against a read only replica."},
}

// contenders returns two clients that contend for the lock. If leases can be extended, the
// first client holds the lock for more than a TTL.
func (s *subject) contenders() []sim.Client {
	first := sim.Client{Name: "client-1", RetryEvery: ttls(0.05), Works: ttls(0.5)}
	if s.config.Extends {
		first.Works, first.ExtendsEvery = ttls(1.4), ttls(0.6)
	}
	return []sim.Client{first, {Name: "client-2", RetryEvery: ttls(0.05), Works: ttls(0.1), Sections: 2}}
}

// failNodes makes nodes answer with an error from some point on. The zero point is the
// start of the run. If lasts is 0, the errors never end.
func (s *subject) failNodes(nodes []string, answer string, starts trace.Point, lasts time.Duration) []sim.Fault {
	return faultForEach(nodes, func(name string) sim.Fault {
		return sim.Fault{Strikes: trace.Trigger{When: starts}, For: lasts, Action: &sim.Fail{Node: name, With: answer}, Text: name + " fails"}
	})
}
