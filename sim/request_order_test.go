package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// insertSorted returns what sorting everything would return, and keeps the order of equal
// requests.
func TestInsertSorted(t *testing.T) {
	w := &World{names: NewNames()}
	random := rand.New(rand.NewPCG(1, 1))
	draw := func() []*request {
		requests := make([]*request, random.IntN(20))
		for i := range requests {
			requests[i] = &request{process: &process{w: w, index: random.IntN(4)}, class: class(random.IntN(3)), rank: random.IntN(2)}
		}
		return requests
	}
	for range 1000 {
		sorted, posted := draw(), draw()
		slices.SortStableFunc(sorted, (*request).compare)
		want := slices.Concat(sorted, posted)
		slices.SortStableFunc(want, (*request).compare)
		if got := insertSorted(sorted, posted); !slices.Equal(got, want) {
			t.Fatalf("insertSorted returns another order than sorting %d and %d requests together", len(sorted), len(posted))
		}
	}
}
