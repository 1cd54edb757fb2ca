package explore

import (
	"encoding/json"
	"sync"
)

// An interner keeps one of each outcome. Of a million worlds there are few that are
// different.
type interner struct {
	mu    sync.Mutex
	known map[string]*Outcome
}

func newInterner() *interner { return &interner{known: map[string]*Outcome{}} }

func (n *interner) intern(o Outcome) *Outcome {
	key, err := json.Marshal(o)
	if err != nil {
		panic(err) // an outcome holds nothing that JSON cannot
	}
	o.Grounds = Grounds{} // each world has its own
	n.mu.Lock()
	defer n.mu.Unlock()
	if known, ok := n.known[string(key)]; ok {
		return known
	}
	n.known[string(key)] = &o
	return &o
}
