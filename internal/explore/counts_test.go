package explore

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/locksim/locksim/internal/runs"
)

// The counts of a search add up, and agree with the worlds that its runner has run. The
// worlds tried are those that were run and those that only repeat one. All sets of faults
// are the sets that were tried, each counted once, and those that were not.
func TestCountsOfWorldsAddUp(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs thousands of worlds")
	}
	local, bases := newRunner("single", 1)
	some := Kinds{Only: []string{"crash", "jump"}}
	for name, c := range map[string]struct {
		search    Search
		parts     int                  // how many parts the search is cut into
		interrupt int64                // the search is interrupted after so many worlds; 0 is never
		want      func(l []Level) bool // whether the levels show that the search was of this kind
	}{
		"full":        {search: Search{MaxFaults: 1, Kinds: some}, want: func(l []Level) bool { return l[0].Untried() == 0 && l[0].Repeats > 0 }},
		"limited":     {search: Search{MaxFaults: 3, Worlds: 150, Kinds: some}, want: func(l []Level) bool { return l[1].Untried() > 0 && l[2].Untried() > 0 }},
		"quick":       {search: Search{MaxFaults: 2, Worlds: 20, Quick: true}, want: func(l []Level) bool { return l[0].Untried() > 0 }},
		"few pairs":   {search: Search{MaxFaults: 2, Worlds: 2000, Kinds: Kinds{Only: []string{"cancel"}}}, want: func(l []Level) bool { return l[1].Tried > l[1].Space }},
		"in parts":    {search: Search{MaxFaults: 1, Kinds: some}, parts: 3, want: func(l []Level) bool { return l[0].Untried() == 0 && l[0].Repeats > 0 }},
		"interrupted": {search: Search{MaxFaults: 2, Worlds: 100, Kinds: some}, interrupt: 60, want: func(l []Level) bool { return l[0].Untried() > 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			var ran atomic.Int64
			sets := map[int]map[uint64]bool{}
			var sum Result
			for part := range max(c.parts, 1) {
				s := c.search
				if c.parts > 0 {
					s.Shard, s.Shards = part+1, c.parts
				}
				ctx, interrupt := context.WithCancel(t.Context())
				s.Bases, s.Records, s.Jobs = bases, Records{bases, local}, 1
				s.Runner = runs.RunnerFunc(func(ctx context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
					if err := ctx.Err(); err != nil || len(w.Faults) == 0 {
						o, _ := local.Run(t.Context(), w)
						return o, err
					}
					if ran.Add(1) == c.interrupt {
						interrupt()
					}
					return local.Run(t.Context(), w)
				})
				s.Watch = func(w runs.WorldSpec, _ runs.WorldResult) {
					n := len(w.Faults)
					if sets[n] == nil {
						sets[n] = map[uint64]bool{}
					}
					sets[n][setID(w)] = true
				}
				f, err := s.Find(ctx)
				interrupt()
				if err != nil {
					t.Fatal(err)
				}
				if sum.Levels == nil {
					sum.Levels = make([]Level, len(f.result.Levels))
				}
				for i, l := range f.result.Levels {
					sum.Levels[i].Faults, sum.Levels[i].Space = l.Faults, l.Space
					sum.Levels[i].Tried += l.Tried
					sum.Levels[i].Repeats += l.Repeats
					sum.Levels[i].Duplicates += l.Duplicates
				}
				sum.Worlds += f.result.Worlds
				sum.Parts += f.result.Parts
			}
			tried := sum.Parts
			for _, l := range sum.Levels {
				tried += int(l.Tried)
				if l.RunCount()+l.Repeats != l.Tried || l.Sets()+l.Untried() != l.Space {
					t.Errorf("%+v does not add up", l)
				}
				if n := len(sets[l.Faults]); uint64(n) != l.Sets() {
					t.Errorf("%+v, but %d different sets of faults were tried", l, n)
				}
			}
			if sum.Worlds != tried {
				t.Errorf("the search counts %d worlds, its levels %d", sum.Worlds, tried)
			}
			// The runner may still run some worlds when the search is interrupted. These do
			// not count.
			if n := int(ran.Load()); sum.RunCount() != n && (c.interrupt == 0 || sum.RunCount() > n) {
				t.Errorf("%d worlds were run, but the search counts %d", n, sum.RunCount())
			}
			if !c.want(sum.Levels) {
				t.Errorf("the levels are not those of the search that is meant: %+v", sum.Levels)
			}
		})
	}
}
