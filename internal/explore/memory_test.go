package explore

import (
	"context"
	"hash/fnv"
	"runtime"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
)

// BenchmarkMemory measures how much memory a search needs after 50,000 worlds and after
// 200,000. Nearly every world shows a new behaviour, and something breaks in one of eight;
// real worlds differ far less. The memory must not grow to four times as much.
func BenchmarkMemory(b *testing.B) {
	bases := Lock{Name: "single", Seed: 1, Extends: true}.Bases(Kinds{})
	local := NewLocal(bases, time.Minute)
	runner := runs.RunnerFunc(func(ctx context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
		if len(w.Faults) == 0 {
			return local.Run(ctx, w)
		}
		h := fnv.New64a()
		h.Write([]byte(w.Key()))
		r := runs.RunResult{Behaviour: h.Sum64()}
		if len(w.Faults) == 1 {
			r.Behaviour %= 100 // about as many different behaviours as real worlds have
		}
		if r.Behaviour>>32%8 == 1 {
			r.Breaks = []runs.Break{{What: string(checks.SectionExclusion), Blame: checks.BlameInherent}}
		}
		return runs.WorldResult{Off: r, On: r}, nil
	})
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	for b.Loop() {
		began := heap()
		s := &Search{Bases: bases, MaxFaults: 3, Worlds: 250_000, Jobs: 2, Runner: runner, Records: Records{bases, local}}
		s.Progress = func(p Progress) {
			switch p.Done {
			case 50_000:
				b.ReportMetric(heap()-began, "MB-at-50k")
			case 200_000:
				b.ReportMetric(heap()-began, "MB-at-200k")
			}
		}
		if _, err := s.Find(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
