package locktest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	voice "github.com/locksim/locksim/internal/story"
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

// describeWay returns what a failing test prints about one way to break the lock: the
// lock's mistakes, the faults with which they show, and what happens then.
func (e *explorer) describeWay(ctx context.Context, worlds runs.Backend, w explore.Way) string {
	found := e.mistakesIn(ctx, worlds, w)
	var b strings.Builder
	for _, c := range found {
		b.WriteString(c.title() + "\n")
	}
	fmt.Fprintf(&b, "  with %s\n", voice.Cause(w.Cause))
	for _, f := range w.Example.Faults {
		fmt.Fprintf(&b, "  fault: %s\n", f)
	}
	for _, m := range w.Margins {
		fmt.Fprintf(&b, "  size: %s\n", m)
	}
	for _, c := range found {
		fmt.Fprintf(&b, "\n%s\n", c.describeExample())
	}
	fmt.Fprintf(&b, "\nreplay: %s", e.replayLine(replayWorld(w.Example)))
	return b.String()
}

// mistakesIn returns what the lock does wrong in the example of a way. The runs of a lock
// that ends its process are not there to be judged again.
func (e *explorer) mistakesIn(ctx context.Context, worlds runs.Backend, w explore.Way) causes {
	if w.Why == "" {
		return mergeVerdicts(e.runBoth(ctx, worlds, w.Example)).Causes.sorted()
	}
	var all causes
	for _, rule := range w.Off {
		all.merge(causesOf([]problem{{Rule: checks.Property(rule), Mistake: checks.Mistake(rule), Why: w.Why}})[0])
	}
	return all
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
