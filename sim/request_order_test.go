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

// Two goroutines of a process are going to send commands with random words. When the requests
// come, nothing distinguishes them, and chance decides which is first. Before they are admitted,
// the trace shows the words, and from then on these decide.
func TestWordsThatAreShownLater(t *testing.T) {
	w := &World{names: NewNames()}
	p := &process{w: w}
	// Random words have many digits, as the trace has them.
	send := func(word string) *request { return &request{process: p, words: []string{"DEL", "key", word}} }
	later, sooner := send("9f3a6c1e5b7d4820af00"), send("4b8d2e7f1a6c9350be11")
	w.admissible = insertSorted(nil, []*request{later, sooner})
	if later.compare(sooner) != 0 {
		t.Fatal("the requests can be distinguished before the trace shows their words")
	}
	w.names.Name("value", sooner.words[2])
	w.names.Name("value", later.words[2])
	w.sortTied(0)
	if w.admissible[0] != sooner {
		t.Error("the requests are in the order in which they came, and not in the order of their words")
	}
}
