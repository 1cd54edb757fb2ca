package explore

import (
	"fmt"
	"sync"

	"github.com/locksim/locksim/internal/runs"
)

// An interner stores equal results only once. A million worlds have only few different
// results, so this saves memory.
type interner struct {
	mu    sync.Mutex
	known map[[2]runKey]*runs.WorldResult
}

func newInterner() *interner { return &interner{known: map[[2]runKey]*runs.WorldResult{}} }

// intern returns the stored result that is equal to o. It stores o if there is none.
func (n *interner) intern(o runs.WorldResult) *runs.WorldResult {
	key := [2]runKey{keyOf(o.Off), keyOf(o.On)}
	o.Grounds = runs.Grounds{} // the grounds for the results of other worlds are not part of the result
	n.mu.Lock()
	defer n.mu.Unlock()
	if known, ok := n.known[key]; ok {
		return known
	}
	n.known[key] = &o
	return &o
}

// A runKey is the result of a run in a form that can be the key of a map. The list of
// breaks, which is usually empty, becomes a string.
type runKey struct {
	behaviour   uint64
	spare       int
	breaks      string
	ranOn, late bool
	doubt       string
}

// keyOf returns the key of a run's result.
func keyOf(r runs.RunResult) runKey {
	k := runKey{behaviour: r.Behaviour, spare: r.Spare, ranOn: r.RanOn, late: r.Late, doubt: r.Doubt}
	if len(r.Breaks) > 0 {
		k.breaks = fmt.Sprintf("%q", r.Breaks)
	}
	return k
}
