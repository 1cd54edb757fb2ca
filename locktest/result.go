package locktest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
)

// A testResult is the result of one test case, in the worlds that were run on all seeds. A world is
// one simulated run of the lock. The worker that ran the worlds sends the result to the process
// that runs the test.
type testResult struct {
	// Worlds is how many worlds were run, and Failed in how many of them the lock failed.
	Worlds, Failed int
	// Stuck is how many worlds hung in real time. Such a world takes as long as
	// [Config.Patience] allows.
	Stuck int
	// Problems has the first problem of each rule.
	Problems []problem
	// Causes has the mistakes behind the problems of all worlds.
	Causes causes
	// Excused are the violations that are not the lock's fault, each once.
	Excused []excuse
	// Off is the verdict on the data in a world whose storage does not check fencing tokens, and On
	// in a world whose storage checks them. Both are of the first seed. If it has several such
	// worlds, the verdict is that of the last one.
	Off, On string
	// Unknown is why the result is unknown, or "".
	Unknown string
	// NotApplicable is why the test case does not apply to this lock, or "".
	NotApplicable string
	// Timelines are the timelines of worlds, for -v.
	Timelines string
	// LatencyDivisor is the number by which the test case's latencies were divided, because
	// they were too long for the lock's own timeouts.
	LatencyDivisor time.Duration
	// Releases counts the releases of all worlds.
	Releases releases
	// Mistyped are the optional methods of leases that have the right name but the wrong
	// signature, so locksim ignores them.
	Mistyped []string
	// Chance is a difference between two runs of one world; nil if none was seen.
	Chance *chance
}

// add adds the verdict on one world.
func (o *testResult) add(p address, w world, v verdict) {
	o.Worlds++
	if len(v.problems) > 0 {
		o.Failed++
		if v.history == nil && v.problems[0].Rule == checks.Hang {
			o.Stuck++
		}
	}
	for _, found := range v.problems {
		known := func(p problem) bool { return p.Rule == found.Rule }
		if !slices.ContainsFunc(o.Problems, known) {
			o.Problems = append(o.Problems, found)
		}
	}
	for _, c := range causesOf(v.problems) {
		o.Causes.merge(c)
	}
	for _, e := range v.excused {
		if !slices.Contains(o.Excused, e) {
			o.Excused = append(o.Excused, e)
		}
	}
	if len(v.reasons) > 0 && o.Unknown == "" {
		o.Unknown = v.reasons[0]
	}
	if p.Seed == 1 {
		if w.fenced {
			o.On = v.data
		} else {
			o.Off = v.data
		}
	}
	o.Releases.add(v.releases)
	o.Mistyped = appendNew(o.Mistyped, v.mistypedMethods...)
	o.LatencyDivisor = max(o.LatencyDivisor, v.latencyDivisor)
}

// appendNew appends those texts that the list does not contain yet.
func appendNew(all []string, texts ...string) []string {
	for _, text := range texts {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// String returns the problem as a failing test prints it.
func (p problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", p.Rule, p.Why)
	if p.Lines != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(p.Lines, "\n"))
	}
	return b.String()
}

// maxTimelineBytes limits the timelines of a test case: once they have so many bytes, no
// more are added.
const maxTimelineBytes = 1 << 20

// runTestCase runs the worlds of a test case, on each seed. If the configuration sets Sample, it
// runs only one world on each seed after the first. It calls onWorld before each world, but not
// before it repeats a world.
//
// It stops early if the test case cannot be run or does not apply to the lock, or if the process
// becomes unreliable. unreliable reports that this process cannot run any more worlds reliably.
func (s *subject) runTestCase(st testCase, wanted order, onWorld func(address)) (o testResult, unreliable bool) {
	for seed := uint64(1); seed <= wanted.Seeds; seed++ {
		worlds, notApplicable, err := st.worlds(s, seed)
		switch {
		case err != nil:
			return failedResult(address{TestCase: st.name, Seed: seed}, ruleError, "the test case cannot be run: "+err.Error(), ""), false
		case notApplicable != "":
			o.NotApplicable = notApplicable
			return o, false
		}
		if s.config.Sample && seed > 1 && len(worlds) > 0 {
			i := seed % uint64(len(worlds))
			worlds = worlds[i : i+1]
		}
		for i, w := range worlds {
			addr := address{st.name, w.name, seed}
			onWorld(addr)
			v := s.runWorld(addr, w)
			if v.notApplicable != "" {
				o.NotApplicable = v.notApplicable
				return o, v.unreliable
			}
			o.add(addr, w, v)
			if o.Chance == nil && isRepeated(addr, i == 0, v, o) {
				o.Chance = v.differsFrom(addr, s.runWorld(addr, w))
			}
			if wanted.Timelines && (wanted.AllTimelines || len(v.problems) > 0) && v.history != nil && len(o.Timelines) < maxTimelineBytes {
				o.Timelines += fmt.Sprintf("%s\n%s\n", addr, reports.Timeline{}.Render([]string{""}, []*history.History{v.history}))
			}
			if v.unreliable {
				if n := len(worlds) - 1 - i; n > 0 && o.Unknown != "" {
					o.Unknown += fmt.Sprintf("; %s of the test case were not run", voice.Count(n, "other world"))
				}
				return o, true
			}
		}
	}
	return o, false
}
