package explore

import (
	"fmt"
	"sync"

	"github.com/locksim/locksim/internal/runs"
)

// An interner keeps one copy of each result. Among a million worlds only few results are
// different.
type interner struct {
	mu    sync.Mutex
	known map[[2]runKey]*runs.WorldResult
}

func newInterner() *interner { return &interner{known: map[[2]runKey]*runs.WorldResult{}} }

func (n *interner) intern(o runs.WorldResult) *runs.WorldResult {
	key := [2]runKey{keyOf(o.Off), keyOf(o.On)}
	o.Grounds = runs.Grounds{} // each world has its own
	n.mu.Lock()
	defer n.mu.Unlock()
	if known, ok := n.known[key]; ok {
		return known
	}
	n.known[key] = &o
	return &o
}

// A runKey is the result of a run as a map key. Few runs have breaks, which become a
// string.
type runKey struct {
	behaviour   uint64
	spare       int
	breaks      string
	ranOn, late bool
	doubt       string
}

func keyOf(r runs.RunResult) runKey {
	k := runKey{behaviour: r.Behaviour, spare: r.Spare, ranOn: r.RanOn, late: r.Late, doubt: r.Doubt}
	if len(r.Breaks) > 0 {
		k.breaks = fmt.Sprintf("%q", r.Breaks)
	}
	return k
}
