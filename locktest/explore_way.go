package locktest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/internal/textwrap"
)

// replayPrefix is how the value of LOCKSIM_REPLAY begins if the world is from Explore.
const replayPrefix = "explore "

// replayWorld returns a world as a value of LOCKSIM_REPLAY.
func replayWorld(w runs.WorldSpec) string {
	text, err := json.Marshal(w)
	if err != nil {
		panic(err) // a world holds nothing that JSON cannot encode
	}
	return replayPrefix + string(text)
}

// parseWorld parses what replayWorld returns.
func parseWorld(text string) (w runs.WorldSpec, err error) {
	decoder := json.NewDecoder(strings.NewReader(strings.TrimPrefix(text, replayPrefix)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&w); err != nil {
		return w, fmt.Errorf("locktest: %s is %q, which is not a world; copy it as a failing test printed it: %w", replayVariable, text, err)
	}
	return w, nil
}

// A foundMistake is a mistake of the lock, with the ways to break the lock that show it.
type foundMistake struct {
	cause
	ways []explore.Way
	// best is the way whose example the report shows. The problem Example of the cause is from this
	// world.
	best explore.Way
}

// mistakes returns the mistakes that a search has found, the worst first.
func (e *explorer) mistakes(ctx context.Context, worlds runs.Backend, ways []explore.Way) []foundMistake {
	var all []foundMistake
	for _, w := range ways {
		for _, c := range e.mistakesIn(ctx, worlds, w) {
			i := slices.IndexFunc(all, func(m foundMistake) bool { return m.Mistake == c.Mistake && m.Step == c.Step })
			if i < 0 {
				all = append(all, foundMistake{c, []explore.Way{w}, w})
				continue
			}
			old := &all[i]
			old.ways = append(old.ways, w)
			old.addRules(c.Rules...)
			size := func(w explore.Way, c cause) int { return 1_000_000*len(w.Example.Faults) + c.Example.length() }
			if size(w, c) < size(old.best, old.cause) {
				old.best, old.Example = w, c.Example
			}
		}
	}
	slices.SortStableFunc(all, func(a, b foundMistake) int { return compareCauses(a.cause, b.cause) })
	return all
}

// describeMistakes returns what a failing test prints about the mistakes that a search has
// found: each once, with the smallest faults that show it.
func (e *explorer) describeMistakes(all []foundMistake, wayCount int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, in %s to break the lock\n", e.config.Name, voice.Count(len(all), "mistake"), voice.Count(wayCount, "way"))
	for i, m := range all {
		fmt.Fprintf(&b, "\n%-2d %s\n", i+1, textwrap.Wrap(m.title(), pageWidth, len(margin)))
		b.WriteString(paragraph(fmt.Sprintf("in %s: %s; violates %s", voice.Count(len(m.ways), "way"), m.faultsOfWays(), strings.Join(m.rules(), ", "))))
		b.WriteString("\n")
		if len(m.best.Example.Faults) == 0 {
			b.WriteString(paragraph("without any fault"))
		}
		for _, f := range m.best.Example.Faults {
			b.WriteString(paragraph("fault: " + f.String()))
		}
		for _, size := range m.best.Margins {
			b.WriteString(paragraph("size: " + size.String()))
		}
		b.WriteString(m.describeExample())
		for _, world := range m.examples() {
			fmt.Fprintf(&b, "%sreplay: %s\n", margin, e.replayLine(replayWorld(world)))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// faultsOfWays lists by which faults the ways break the lock, each once.
func (m foundMistake) faultsOfWays() string {
	var causes []string
	for _, w := range m.ways {
		if c := voice.Cause(w.Cause); !slices.Contains(causes, c) {
			causes = append(causes, c)
		}
	}
	return strings.Join(causes, "; ")
}

// examples returns the world of the example, and those of some other ways.
func (m foundMistake) examples() []runs.WorldSpec {
	worlds := []runs.WorldSpec{m.best.Example}
	for _, w := range m.ways {
		if len(worlds) <= maxOthers && replayWorld(w.Example) != replayWorld(m.best.Example) {
			worlds = append(worlds, w.Example)
		}
	}
	return worlds
}

// mistakesIn returns what the lock does wrong in the example of a way. If the lock ends its process
// or hangs in real time, there is no run to judge again.
func (e *explorer) mistakesIn(ctx context.Context, worlds runs.Backend, w explore.Way) causes {
	// A call that never returned in virtual time may also have left goroutines behind.
	hangsInVirtualTime := len(w.Off) > 1 && slices.Contains(w.Off, string(checks.Hang))
	if w.Why == "" || hangsInVirtualTime {
		return mergeVerdicts(e.runBoth(ctx, worlds, w.Example)).Causes.sorted()
	}
	var problems []problem
	for _, rule := range w.Off {
		problems = append(problems, problem{Rule: checks.Property(rule), Mistake: checks.Mistake(rule), Why: w.Why, Lines: w.Stack})
	}
	return causesOf(dropConsequences(problems)).sorted()
}

// runBoth runs a world, without fencing tokens and with them, and judges both runs.
func (e *explorer) runBoth(ctx context.Context, worlds runs.Backend, w runs.WorldSpec) (both []verdict) {
	for _, fencing := range []string{runs.FencingOff, runs.FencingOn} {
		a, err := worlds.Report(ctx, w, fencing)
		var v verdict
		if a.Verdict == nil && err == nil {
			v.reasons = []string{a.Doubt} // this machine is too slow or too small
		} else {
			v = e.judge(address{}, world{}, a.JudgedRun, err)
		}
		both = append(both, v)
		if v.unreliable {
			break
		}
	}
	return both
}

// mergeVerdicts merges the verdicts on the two runs of a world. It keeps the first problem
// of each rule.
func mergeVerdicts(both []verdict) (o testResult) {
	for _, v := range both {
		o.add(address{}, world{}, v)
	}
	return o
}

// replay runs one world in this process, where a debugger can look at it, and shows its
// whole timeline.
func (e *explorer) replay(t *testing.T, text string) {
	t.Helper()
	if !strings.HasPrefix(text, replayPrefix) {
		leaveToOtherCall(t, "locktest.Run or locktest.Survey")
		return
	}
	takeReplay(t)
	w, err := parseWorld(text)
	if err != nil {
		t.Fatal(err)
	}
	e.fitWorkloads(t, func() runs.Backend { return e.local })
	names := []string{"Without fencing tokens", "With fencing tokens"}
	both := e.runBoth(t.Context(), e.local, w)
	show(t, strings.Join(describeFaults(w), "\n"), names, both)
	requireRepeatable(t, both, e.runBoth(t.Context(), e.local, w))
}
