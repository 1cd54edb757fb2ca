package explore_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/workers"
)

// BenchmarkPool runs single faults of Redlock, each in a run without fencing tokens
// and one with them. It reports how many worlds are run per second, and the share
// of the workers' time that goes by outside of worlds.
func BenchmarkPool(b *testing.B) {
	bases := explore.Lock{Name: "redlock", Seed: 1, Extends: true}.Bases(explore.Kinds{})
	var worlds []explore.World
	for i := range bases {
		r, err := explore.NewLocal(bases, time.Minute, nil).Record(i)
		if err != nil {
			b.Fatal(err)
		}
		worlds = append(worlds, r.Singles()...)
	}
	for _, jobs := range []int{1, 2} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			p, err := explore.NewPool(jobs, worker("simulates"), bases, 0)
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			var all sync.WaitGroup
			var next atomic.Uint64
			b.ResetTimer()
			for range (1 + workers.Ahead) * jobs {
				all.Go(func() {
					for {
						n := next.Add(1)
						if n > uint64(b.N) {
							return
						}
						// By a step that is prime to their number: faults next to each other
						// cost much the same.
						if _, err := p.Run(b.Context(), worlds[n*7919%uint64(len(worlds))]); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.StopTimer()
			took := b.Elapsed().Seconds()
			b.ReportMetric(float64(b.N)/took, "worlds/s")
			b.ReportMetric(100*(1-p.Busy().Seconds()/(took*float64(jobs))), "%outside")
		})
	}
}
