package explore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/sim"
)

// breaksIf returns a runner of worlds. Something breaks in a world exactly if breaks returns
// true for the size of its fault.
func breaksIf(breaks func(time.Duration) bool) *fakeRunner {
	return newFakeRunner(func(w runs.WorldSpec) bool { return breaks(w.Faults[0].Size().Time) })
}

func TestMargins(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for _, tt := range []struct {
		size, ttl        time.Duration // of the world's fault and of the lock
		threshold        time.Duration // something breaks from this size on
		survived, broken time.Duration // the wanted margin
	}{
		{60 * s, 30 * s, 29877 * ms, 29870 * ms, 29880 * ms},
		{60 * s, 30 * s, 29880 * ms, 29870 * ms, 29880 * ms},
		{60 * s, 30 * s, 29880*ms + 1, 29880 * ms, 29890 * ms},
		{60 * s, 30 * s, s, 999 * ms, s},
		{60 * s, 30 * s, s + 1, s, 1010 * ms},
		{60 * s, 30 * s, 999 * ms, 998 * ms, 999 * ms},
		{60 * s, 30 * s, 5 * ms, 4 * ms, 5 * ms},
		{60 * s, 30 * s, ms + 1, ms, 2 * ms},
		{60 * s, 30 * s, ms, 0, ms},
		{60 * s, 30 * s, 0, 0, ms},
		{60 * s, 0, 17 * s, 16990 * ms, 17 * s},
		{200 * ms, 30 * s, 50 * ms, 49 * ms, 50 * ms},
		{200 * ms, 100 * ms, 50*ms + 30*time.Microsecond, 50 * ms, 50*ms + 100*time.Microsecond},
		{200 * ms, 100 * ms, 100 * time.Microsecond, 0, 100 * time.Microsecond},
		// The size of the world's fault is not a multiple of the resolution.
		{31505 * ms, 30 * s, 31503 * ms, 31500 * ms, 31505 * ms},
		{ms, 30 * s, 0, 0, ms},
		{ms / 2, 30 * s, ms / 3, 0, ms / 2},
	} {
		for _, f := range []runs.Fault{item{Kind: "pause", Target: "client-1"}.fault(), item{Kind: "jump", Target: "redis-3", By: -1}.fault(), item{Kind: "delay", Target: "client-1", Others: []string{"redis-1"}}.fault()} {
			p := breaksIf(func(size time.Duration) bool { return size >= tt.threshold })
			w := runs.WorldSpec{Faults: []runs.Fault{f.WithSize(sim.Size{Time: tt.size})}}
			got, err := margins(t.Context(), p, &Record{TTL: tt.ttl}, w, brokenDamage)
			if err != nil || len(got) != 1 || got[0].Survived.Time != tt.survived || got[0].Broken.Time != tt.broken {
				t.Errorf("a %s of %v with a threshold of %v: the margins are %+v, %v; want that it survives %v and breaks at %v", f.Kind(), tt.size, tt.threshold, got, err, tt.survived, tt.broken)
			}
			if p.worlds > 18 {
				t.Errorf("a %s of %v with a threshold of %v: %d worlds were run, want at most 18", f.Kind(), tt.size, tt.threshold, p.worlds)
			}
		}
	}
}

// Each fault that has a size has its own margin.
func TestMarginOfEachFault(t *testing.T) {
	w := runs.WorldSpec{Faults: []runs.Fault{
		item{Kind: "partition", Target: "client-1", Others: []string{"redis-4", "redis-5"}}.fault(),
		item{Kind: "jump", Target: "redis-3", By: 20 * time.Second}.fault(),
		item{Kind: "pause", Target: "client-1", For: 2 * time.Second}.fault(),
	}}
	p := newFakeRunner(func(w runs.WorldSpec) bool {
		return w.Faults[1].Size().Time >= 17*time.Second && w.Faults[2].For >= 300*time.Millisecond
	})
	want := []Margin{
		{Fault: 1, What: "redis-3's clock set forward", Survived: sim.Size{Time: 16990 * time.Millisecond}, Broken: sim.Size{Time: 17 * time.Second}},
		{Fault: 2, What: "a pause of client-1", Survived: sim.Size{Time: 299 * time.Millisecond}, Broken: sim.Size{Time: 300 * time.Millisecond}},
	}
	if got, err := margins(t.Context(), p, &Record{TTL: 30 * time.Second}, w, brokenDamage); err != nil || !slices.Equal(got, want) {
		t.Errorf("the margins are %+v, %v; want %+v", got, err, want)
	}
}

// If breaking and surviving sizes alternate, there are several margins. One of them is
// found.
func TestMarginIfSizesAlternate(t *testing.T) {
	breaks := func(size time.Duration) bool {
		return size >= 4*time.Second && size < 6*time.Second || size >= 9*time.Second
	}
	got, err := margins(t.Context(), breaksIf(breaks), &Record{}, runs.WorldSpec{Faults: []runs.Fault{item{Kind: "pause", Target: "client-1", For: 10 * time.Second}.fault()}}, brokenDamage)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if m := got[0]; breaks(m.Survived.Time) || !breaks(m.Broken.Time) || m.Broken.Time-m.Survived.Time != 10*time.Millisecond {
		t.Errorf("the margin is between %v and %v; want a size that is survived and, 10ms above it, one that breaks", m.Survived.Time, m.Broken.Time)
	}
}

// A size counts as survived if the world is inconclusive with it, if a paused process runs
// on, or if it does other damage.
func TestMarginCountsInconclusiveAsSurvived(t *testing.T) {
	other := runs.WorldResult{On: brokenResult.Off}
	for name, trap := range map[string]runs.WorldResult{"inconclusive": doubtfulResult, "a paused process runs on": ranOnResult, "other damage": other} {
		t.Run(name, func(t *testing.T) {
			p := &fakeRunner{outcome: func(w runs.WorldSpec) runs.WorldResult {
				if w.Faults[0].Size().Time < 5*time.Second {
					return trap
				}
				return brokenResult
			}}
			w := runs.WorldSpec{Faults: []runs.Fault{item{Kind: "pause", Target: "client-1", For: 10 * time.Second}.fault()}}
			got, err := margins(t.Context(), p, &Record{}, w, brokenDamage)
			want := []Margin{{What: "a pause of client-1", Survived: sim.Size{Time: 4990 * time.Millisecond}, Broken: sim.Size{Time: 5 * time.Second}}}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("the margins are %+v, %v; want %+v", got, err, want)
			}

			// If the first world is inconclusive or a process runs on in it, it has no
			// margins. If it does other damage, that is an error.
			p.outcome = func(runs.WorldSpec) runs.WorldResult { return trap }
			got, err = margins(t.Context(), p, &Record{}, w, brokenDamage)
			if len(got) > 0 || (err != nil) != (name == "other damage") {
				t.Errorf("in every world %s: the margins are %+v, %v; want none", name, got, err)
			}
		})
	}
}

// If the context is done, no more worlds are run and there are no margins.
func TestMarginsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	worlds := 0
	r := runs.RunnerFunc(func(ctx context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
		if worlds++; worlds == 5 {
			cancel()
		}
		if w.Faults[0].For < time.Second {
			return unbrokenResult, ctx.Err()
		}
		return brokenResult, ctx.Err()
	})
	got, err := margins(ctx, r, &Record{}, runs.WorldSpec{Faults: []runs.Fault{item{Kind: "pause", Target: "client-1", For: time.Minute}.fault()}}, brokenDamage)
	if !errors.Is(err, context.Canceled) || len(got) > 0 || worlds != 5 {
		t.Errorf("after %d worlds: %+v, %v; want none after 5 worlds, and that the context was canceled", worlds, got, err)
	}
}

func TestFaultNouns(t *testing.T) {
	for _, tt := range []struct {
		fault runs.Fault
		want  string
	}{
		{item{Kind: "pause", Target: "client-1"}.fault(), "a pause of client-1"},
		{item{Kind: "pause", Target: "client-1", How: "suspend"}.fault(), "a suspension of the machine of client-1"},
		{item{Kind: "jump", Target: "redis-3", By: 1}.fault(), "redis-3's clock set forward"},
		{item{Kind: "jump", Target: "redis-3", By: -1}.fault(), "redis-3's clock set back"},
		{item{Kind: "crash", Target: "redis-3"}.fault(), "a crash of redis-3"},
		{item{Kind: "partition", Target: "client-1", Others: []string{"redis-1"}}.fault(), "a partition of client-1 from redis-1"},
		{item{Kind: "partition", Target: "client-1", Others: []string{"redis-1", "redis-4", "storage"}}.fault(), "a partition of client-1 from redis-1, redis-4 and the storage"},
		{item{Kind: "delay", Target: "client-1", Others: []string{"storage"}}.fault(), "slow messages between client-1 and the storage"},
		{item{Kind: "hold", Target: "client-1's write request to storage"}.fault(), "late delivery of client-1's write request to the storage"},
		{item{Kind: "hold", Target: "redis-3's reply to client-1's acquire, 2nd time"}.fault(), "late delivery of redis-3's second reply to client-1's acquire"},
		{item{Kind: "stall", Target: "client-1"}.fault(), "a stall of the storage in the middle of client-1's write"},
		{item{Kind: "stall", Target: "client-1", Step: "read"}.fault(), "a stall of the storage in the middle of client-1's read"},
		{item{Kind: "fail", Target: "redis-1"}.fault(), "redis-1 answering with errors"},
	} {
		if got := story.FaultNoun(tt.fault.Info(), story.NameOf); got != tt.want {
			t.Errorf("%s is %q, want %q", tt.fault.Kind(), got, tt.want)
		}
	}
}
