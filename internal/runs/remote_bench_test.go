package runs_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
)

// BenchmarkRemote runs single faults of Redlock, each without and with fencing tokens. It
// reports how many worlds are run per second.
func BenchmarkRemote(b *testing.B) {
	bases := explore.Lock{Name: "redlock", Seed: 1, Extends: true}.Bases(explore.Kinds{})
	var worlds []runs.WorldSpec
	for i := range bases {
		r, err := explore.Records{Bases: bases, Backend: explore.NewLocal(bases, time.Minute)}.Record(b.Context(), i)
		if err != nil {
			b.Fatal(err)
		}
		worlds = append(worlds, r.Singles()...)
	}
	for _, jobs := range []int{1, 2} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			p, err := runs.NewRemote(jobs, worker("simulates"), explore.NewLocal(bases, time.Minute), 0)
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			var all sync.WaitGroup
			var next atomic.Uint64
			b.ResetTimer()
			for range (1 + runs.MaxPrefetch) * jobs {
				all.Go(func() {
					for {
						n := next.Add(1)
						if n > uint64(b.N) {
							return
						}
						// Neighbouring faults take similar times. So the benchmark jumps
						// through the worlds; the step is coprime to their number, and so
						// reaches all of them.
						if _, err := p.Run(b.Context(), worlds[n*7919%uint64(len(worlds))]); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "worlds/s")
		})
	}
}
