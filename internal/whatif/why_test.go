package whatif_test

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	_ "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/scenarios"
)

func findWhy(t *testing.T, s *scenarios.Scenario) *whatif.Why {
	t.Helper()
	why, err := whatif.FindWhy(s, scenarios.RunOptions{Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return why
}

// whyGCPause is findWhy of the scenario gc-pause, which takes seconds and which several tests
// look at.
var whyGCPause = sync.OnceValues(func() (*whatif.Why, error) {
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		return nil, err
	}
	return whatif.FindWhy(s, scenarios.RunOptions{Seed: 1}, nil)
})

func openScenario(t *testing.T, name string, overrides ...string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Open(name)
	if err == nil {
		s, err = s.SelectVariant(s.Variants[0].Name)
	}
	if err == nil {
		s, err = s.With(overrides...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// verdictsWith runs a scenario with overrides, and returns its verdicts and the worst
// outcome of lease-exclusion.
func verdictsWith(t *testing.T, s *scenarios.Scenario, overrides []string) (off, on string, leasesViolated bool) {
	t.Helper()
	changed, err := s.With(overrides...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(changed, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range r.Runs {
		leasesViolated = leasesViolated || run.Verdict.Finding(checks.LeaseExclusion).Outcome == checks.Violated
	}
	return r.Runs[0].Verdict.Verdict, r.Runs[1].Verdict.Verdict, leasesViolated
}

// Each change that is found does what is said of it: its overrides give a run with the
// verdicts of the change, and these are others than those of the scenario as it is. The
// observed times alone change nothing.
func TestWhyIsTrue(t *testing.T) {
	for name, overrides := range map[string][]string{
		"crash-restart-always": nil, "slow-drift": nil, "node-pause": nil,
		// The overrides of the one who asks come before those of the answer: one adds a fault,
		// and to remove it turns the verdict.
		"gc-pause": {"faults[1].for=1s", "faults[2]={pause: client-1, before: client-1 write, for: 31s}"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "crash-restart-always" {
				t.Skip("slow: hundreds of worlds")
			}
			s := openScenario(t, name)
			why := findWhy(t, openScenario(t, name, overrides...))
			off, on, leases := verdictsWith(t, s, overrides)
			if o, n, l := verdictsWith(t, s, slices.Concat(overrides, why.Observed)); o != off || n != on || l != leases {
				t.Errorf("with the observed times %v it is %s and %s, and without them %s and %s", why.Observed, o, n, off, on)
			}
			if why.Now.Off != off || why.Now.On != on {
				t.Errorf("the scenario is %s and %s, and the report says %s and %s", off, on, why.Now.Off, why.Now.On)
			}
			if len(why.Turns) == 0 {
				t.Error("nothing turns a verdict")
			}
			for _, turn := range why.Turns {
				o, n, l := verdictsWith(t, s, why.Overrides(turn))
				if o != turn.Outcome.Off || n != turn.Outcome.On || l != (turn.Outcome.Leases == checks.Violated) {
					t.Errorf("%v gives %s and %s, and the report says %s and %s", why.Overrides(turn), o, n, turn.Outcome.Off, turn.Outcome.On)
				}
				if o == off && n == on && l == leases {
					t.Errorf("%v turns nothing", why.Overrides(turn))
				}
			}
		})
	}
}

// gc-pause is safe if the pause is a little shorter, or the TTL a little longer. Both are
// the nearest such values: a millisecond less of a change is not enough.
func TestWhyFindsTheBorder(t *testing.T) {
	s := openScenario(t, "gc-pause")
	why, err := whyGCPause()
	if err != nil {
		t.Fatal(err)
	}
	for path, closer := range map[string]time.Duration{"faults[1].for": time.Millisecond, "lock.ttl": -time.Millisecond} {
		i := slices.IndexFunc(why.Turns, func(turn whatif.Turn) bool { return turn.Path == path && turn.Outcome.Off == checks.Safe })
		if i < 0 {
			t.Fatalf("no value of %s makes the run without fencing safe", path)
		}
		turn := why.Turns[i]
		value, err := time.ParseDuration(turn.Value)
		if err != nil {
			t.Fatal(err)
		}
		turn.Value = (value + closer).String()
		if off, _, _ := verdictsWith(t, s, why.Overrides(turn)); off != checks.Unsafe {
			t.Errorf("%s=%v is said to be the nearest that is safe, but %s is %s, too", path, value, turn.Value, off)
		}
	}
}

// A scenario without network.latency is turned by a slower network: client-2 then
// reads only after client-1's late write.
func TestWhyTriesLatencies(t *testing.T) {
	why, err := whyGCPause()
	if err != nil {
		t.Fatal(err)
	}
	turns := why.Turns
	i := slices.IndexFunc(turns, func(turn whatif.Turn) bool { return turn.Path == "network.latency" && turn.Outcome.Off == checks.Safe })
	if i < 0 {
		t.Fatalf("no latency makes gc-pause safe; the changes are %v", turns)
	}
	if from := turns[i].From; from != "600µs-1ms" {
		t.Errorf("the changed latency is %s, want the default", from)
	}
}

// A safe scenario is broken by a fault that it does not have.
func TestWhyBreaksASafeScenario(t *testing.T) {
	why := findWhy(t, openScenario(t, "gc-pause", "faults=[]", "clients.client-2.starts=null"))
	if why.Now.Off != checks.Safe {
		t.Fatalf("the scenario without its fault is %s", why.Now.Off)
	}
	var broken []string
	for _, turn := range why.Turns {
		if turn.NewFault != nil && turn.Outcome.Off == checks.Unsafe {
			broken = append(broken, turn.NewFault.Kind())
		}
	}
	for _, kind := range []string{"pause", "hold"} {
		if !slices.Contains(broken, kind) {
			t.Errorf("the new faults that break it are %q, want one of the kind %s among them", broken, kind)
		}
	}
}

// A short fault of the file is also tried with the sizes of new faults, which may be far more
// than eight times as long.
func TestWhyTriesLargerFaults(t *testing.T) {
	why := findWhy(t, openScenario(t, "gc-pause", "faults[1].for=1s", "lock.nodes=1"))
	isLarger := func(turn whatif.Turn) bool {
		return turn.Path == "faults[1].for" && turn.Outcome.Off == checks.Unsafe
	}
	if !slices.ContainsFunc(why.Turns, isLarger) {
		t.Errorf("no larger fault of the file breaks it; the turns are %+v", why.Turns)
	}
}

// Values with which a run is inconclusive turn nothing, and are not said to turn nothing.
func TestWhyUnknownValues(t *testing.T) {
	why := findWhy(t, openScenario(t, "gc-pause", "faults[1].for=200s"))
	i := slices.IndexFunc(why.Unknown, func(u whatif.UnknownValues) bool { return u.Path == "faults[1].for" })
	if i < 0 {
		t.Fatalf("the unknown values are %v, want some of faults[1].for", why.Unknown)
	}
	for _, value := range []string{why.Unknown[i].From, why.Unknown[i].To} {
		if off, on, _ := verdictsWith(t, openScenario(t, "gc-pause"), []string{"faults[1].for=" + value}); off != checks.Undecided || on != checks.Undecided {
			t.Errorf("faults[1].for=%s gives %s and %s, want unknown", value, off, on)
		}
	}
}

// A run of which the story is a part can be conclusive only with it, so no changed run is.
func TestWhyNeedsAVerdictWithoutTheStory(t *testing.T) {
	if _, err := whatif.FindWhy(openScenario(t, "retry-fixed"), scenarios.RunOptions{Seed: 1}, nil); !errors.Is(err, whatif.ErrInconclusive) {
		t.Errorf("the error is %v, want %v", err, whatif.ErrInconclusive)
	}
}

// The error says why the run is inconclusive.
func TestWhyGivesTheReason(t *testing.T) {
	_, err := whatif.FindWhy(openScenario(t, "majority-down", "horizon=30s"), scenarios.RunOptions{Seed: 1}, nil)
	var inconclusive *whatif.Inconclusive
	if !errors.As(err, &inconclusive) || inconclusive.Reason().Code != "cut-off-waiting" {
		t.Errorf("the error is %v, want one with the reason cut-off-waiting", err)
	}
}

// The same search finds the same.
func TestWhyIsDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: hundreds of worlds")
	}
	first, second := findWhy(t, openScenario(t, "node-pause")), findWhy(t, openScenario(t, "node-pause"))
	if !reflect.DeepEqual(first.Turns, second.Turns) || first.Tried != second.Tried || !slices.Equal(first.Steady, second.Steady) {
		t.Errorf("the first search finds %v, and the second %v", first.Turns, second.Turns)
	}
}

// If a run has no verdict, nothing can turn it.
func TestWhyNeedsAVerdict(t *testing.T) {
	s := openScenario(t, "gc-pause", "lock.ttl=10ms", "faults[1].for=400s")
	if _, err := whatif.FindWhy(s, scenarios.RunOptions{Seed: 1}, nil); !errors.Is(err, whatif.ErrInconclusive) {
		t.Errorf("the error is %v, want %v", err, whatif.ErrInconclusive)
	}
}

// A time that the scenario leaves out is tried too. For some, the border is the shortest time that
// changes a verdict: how long a client works. For others it is the longest: how long a client waits
// for an answer.
func TestAbsentTimes(t *testing.T) {
	for _, c := range []struct {
		scenario, path, off string
		// back is the way from the value that was found to a value that changes nothing.
		back time.Duration
	}{
		{"release-lua", "clients.client-1.works", checks.Unsafe, -time.Millisecond},
		{"rpc-chain", "clients.client-1.gives-up", checks.Safe, time.Millisecond},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			if testing.Short() && c.scenario != "release-lua" {
				t.Skip("slow: hundreds of worlds")
			}
			s := openScenario(t, c.scenario)
			why := findWhy(t, s)
			at := slices.IndexFunc(why.Turns, func(turn whatif.Turn) bool { return turn.Path == c.path })
			if at < 0 {
				t.Fatalf("no value of %s changes a verdict", c.path)
			}
			turn := why.Turns[at]
			if off, _, _ := verdictsWith(t, s, why.Overrides(turn)); off != c.off || why.Now.Off == off {
				t.Errorf("with %s it is %s, and it was %s before; want %s", turn.Override(), off, why.Now.Off, c.off)
			}
			value, err := time.ParseDuration(turn.Value)
			if err != nil {
				t.Fatal(err)
			}
			before := turn
			before.Value = (value + c.back).String()
			if off, _, _ := verdictsWith(t, s, why.Overrides(before)); off != why.Now.Off {
				t.Errorf("%s is not the border: with %s it is %s as well", turn.Override(), before.Value, off)
			}
		})
	}
}

// A changed scenario in which much more happens than before is cut off, and its value is unknown.
func TestRunsThatGrowAreCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: hundreds of worlds")
	}
	why, err := whatif.FindWhy(openScenario(t, "gc-pause"), scenarios.RunOptions{Seed: 1, MaxEvents: 300}, nil)
	if err != nil {
		t.Fatal(err)
	}
	retries := slices.ContainsFunc(why.Unknown, func(u whatif.UnknownValues) bool { return u.Path == "lock.nodes" })
	if !retries {
		t.Errorf("the unknown values are %v; want among them numbers of nodes with which a run has more than 300 events", why.Unknown)
	}
}
