package consul

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// A store is what a server has written: the keys, and how far its log goes. Each write has
// an index in the log, even if it changes nothing.
type store struct {
	index uint64
	keys  map[string]*entry
	// changed is the index of the latest change of any key.
	changed uint64
	// deleted are the indexes at which keys were last deleted.
	deleted map[string]uint64
	// delays are the times until which nobody can acquire a key, on the server's monotonic
	// clock.
	delays map[string]int64
	// lastDelays are the latest lock-delays of keys, including those that ended long ago.
	lastDelays map[string]time.Duration
}

// firstIndex is how far the log of a new server goes before the first request.
const firstIndex = 20

func newStore() *store {
	return &store{index: firstIndex, keys: map[string]*entry{}, deleted: map[string]uint64{}, delays: map[string]int64{}, lastDelays: map[string]time.Duration{}}
}

// An entry is a key, with the fields that a real server shows, in its order.
type entry struct {
	LockIndex   uint64
	Key         string
	Flags       uint64
	Value       []byte
	Session     string `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64

	// by is the client that has acquired it.
	by *trace.Actor
}

// nextIndex returns the index of the next write.
func (s *store) nextIndex() uint64 {
	s.index++
	return s.index
}

// put puts a key, and reports whether that changes it. A put of equal contents changes
// neither the key nor its indexes.
func (s *store) put(index uint64, e entry) (changed bool) {
	old := s.keys[e.Key]
	e.CreateIndex, e.ModifyIndex = index, index
	if old != nil {
		e.CreateIndex = old.CreateIndex
		if old.LockIndex == e.LockIndex && old.Flags == e.Flags && old.Session == e.Session && bytes.Equal(old.Value, e.Value) {
			return false
		}
	}
	s.keys[e.Key] = &e
	s.changed = index
	return true
}

// delete deletes a key. Its indexes start anew if it is created again.
func (s *store) delete(index uint64, key string) {
	delete(s.keys, key)
	s.deleted[key] = index
	s.changed = index
}

// keysUnder returns the keys with a prefix, in their order.
func (s *store) keysUnder(prefix string) (all []*entry) {
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		if strings.HasPrefix(key, prefix) {
			all = append(all, s.keys[key])
		}
	}
	return all
}

// latestIndex returns the index of the latest change or deletion of a key with a prefix; if
// there never was one, that of the latest change of any key. A real server forgets
// deletions after a quarter of an hour.
func (s *store) latestIndex(prefix string) (index uint64) {
	if prefix == "" {
		return s.changed
	}
	for key, e := range s.keys {
		if strings.HasPrefix(key, prefix) {
			index = max(index, e.ModifyIndex)
		}
	}
	for key, deleted := range s.deleted {
		if strings.HasPrefix(key, prefix) {
			index = max(index, deleted)
		}
	}
	if index == 0 {
		return s.changed
	}
	return index
}
