package proof

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// seeds is the number of worlds in which a story (the scenario of a bug) is run. The worlds
// differ in their seeds, and so in their latencies.
const seeds = 20

// These attributes are written by the subtest "story" and read by the program in the folder
// run.
const (
	// AttrBroken lists the properties that the lock broke, separated by commas.
	AttrBroken = "broken"
	// AttrWorlds says in how many worlds the lock broke a property, as "20 of 20".
	AttrWorlds = "worlds"
	// AttrFirst is the real time that the first such world took.
	AttrFirst = "first"
	// AttrWorldResult is the result of the story in one world, a [WorldResult] as JSON. The
	// attribute is written for each world.
	AttrWorldResult = "told"
	// AttrUnknown says why the story is inconclusive. It is not written if the story is
	// conclusive.
	AttrUnknown = "unknown"
)

// A WorldResult is the result of a story in one world.
type WorldResult struct {
	Seed uint64 `json:"seed"`
	// Trace is the hash of the world's trace; "" if the run left no trace.
	Trace string `json:"trace"`
	// Broken are the rules that the lock broke, in the order in which they were found.
	Broken []string `json:"broken"`
}

// testStory runs a story with a lock on all seeds. It fails the test for each violation
// that package checks blames on the lock. It also fails the test if a run is inconclusive,
// because such a run proves nothing.
func testStory(t *testing.T, story *scenarios.Scenario, lock locks.Kind) {
	t.Helper()
	var broken []string
	failed := 0
	for seed := uint64(1); seed <= seeds; seed++ {
		start := time.Now()
		w, err := runStory(story, lock, seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if w.unknown != "" {
			t.Attr(AttrUnknown, w.unknown)
			t.Fatalf("seed %d is inconclusive: %s\n\n%s", seed, w.unknown, w.timeline())
		}
		if len(w.problems) > 0 {
			if failed == 0 {
				t.Attr(AttrFirst, time.Since(start).String())
				t.Logf("%s\n\n%s", story.Title, w.timeline())
			}
			failed++
		}
		w.writeAttr(t, seed)
		for _, p := range w.problems {
			if !slices.Contains(broken, p.rule) {
				broken = append(broken, p.rule)
				t.Errorf("seed %d: %s: %s", seed, p.rule, p.why)
			}
		}
	}
	t.Attr(AttrBroken, strings.Join(broken, ","))
	t.Attr(AttrWorlds, fmt.Sprintf("%d of %d", failed, seeds))
}

// A storyRun is the run of a story in one world.
type storyRun struct {
	// history is nil if the run left no trace, because the library hangs.
	history  *history.History
	problems []problem
	unknown  string
}

// A problem is a violation that is the lock's own fault. rule is the property that the lock broke,
// or its misconduct (a behaviour that no lock may have), and why is the reason.
type problem struct{ rule, why string }

// runStory runs a story in one world, without fencing tokens, because they are not part of
// the library.
func runStory(scenario *scenarios.Scenario, lock locks.Kind, seed uint64) (storyRun, error) {
	if n := len(scenario.Variants); n != 1 {
		return storyRun{}, fmt.Errorf("%s has %d variants; the story of a bug must have one", scenario.File, n)
	}
	v := scenario.Variants[0]
	config, err := v.Config(scenarios.Options{Seed: seed, Kind: lock, Fencing: scenarios.Off})
	if err != nil {
		return storyRun{}, err
	}
	judged, err := runs.Judge(config, sim.DefaultPatience, v.WitnessesIn)
	if err != nil {
		return storyRun{}, err
	}
	w := storyRun{history: judged.History}
	for _, f := range judged.Verdict.Findings {
		if f.Outcome == checks.Violated && f.Blame == checks.BlameLock {
			w.problems = append(w.problems, problem{string(f.Property), story.ForPrograms.Reason(f.Reason)})
		}
	}
	if doubts := slices.DeleteFunc(judged.Verdict.Reasons, checks.Reason.IsEnding); len(doubts) > 0 {
		w.unknown = story.ForPrograms.Reason(doubts[0])
	}
	return w, nil
}

// writeAttr writes the result of the run as an attribute of the test.
func (w storyRun) writeAttr(t *testing.T, seed uint64) {
	t.Helper()
	result := WorldResult{Seed: seed, Broken: []string{}}
	if w.history != nil {
		result.Trace = w.history.Trace.Hash()
	}
	for _, p := range w.problems {
		result.Broken = append(result.Broken, p.rule)
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	t.Attr(AttrWorldResult, string(text))
}

// timeline returns the run as text for people; "" if it left no trace.
func (w storyRun) timeline() string {
	if w.history == nil {
		return ""
	}
	return reports.Timeline{}.Render([]string{""}, []*history.History{w.history})
}
