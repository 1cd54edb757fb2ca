package consul

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// A store is what a server has written to its disk. Each write gets the next index of the
// server's log, even if it changes nothing.
type store struct {
	// index is the index of the latest write, and keys are the keys by name.
	index uint64
	keys  map[string]*entry
	// lastChange is the index of the latest change of any key.
	lastChange uint64
	// deleted has the index at which each key was last deleted.
	deleted map[string]uint64
	// delayedUntil has, for each key, the time until which nobody can acquire it, by the
	// server's monotonic clock in nanoseconds.
	delayedUntil map[string]int64
	// lastDelays has the latest lock-delay of each key, even if it ended long ago.
	lastDelays map[string]time.Duration
}

// firstIndex is the index that a new server's log has reached before the first request of a
// client.
const firstIndex = 20

// newStore returns the store of a server without keys.
func newStore() *store {
	return &store{index: firstIndex, keys: map[string]*entry{}, deleted: map[string]uint64{}, delayedUntil: map[string]int64{}, lastDelays: map[string]time.Duration{}}
}

// An entry is a key with its value. The exported fields are those that a real server shows,
// in its order.
type entry struct {
	LockIndex   uint64
	Key         string
	Flags       uint64
	Value       []byte
	Session     string `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64

	// owner is the client that has acquired the key.
	owner *trace.Actor
}

// nextIndex returns the index for a new write.
func (s *store) nextIndex() uint64 {
	s.index++
	return s.index
}

// put writes a key, and reports whether that changes it. A key that is written with equal
// contents keeps its indexes.
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
	s.lastChange = index
	return true
}

// delete deletes a key. If the key is created again, it gets new indexes.
func (s *store) delete(index uint64, key string) {
	delete(s.keys, key)
	s.deleted[key] = index
	s.lastChange = index
}

// keysUnder returns the entries whose keys begin with prefix, sorted by key.
func (s *store) keysUnder(prefix string) (all []*entry) {
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		if strings.HasPrefix(key, prefix) {
			all = append(all, s.keys[key])
		}
	}
	return all
}

// latestIndex returns the index of the latest change or deletion of any key that begins with
// prefix. If there was none, it returns the index of the latest change of any key. Unlike a
// real server, it does not forget deletions after a quarter of an hour.
func (s *store) latestIndex(prefix string) (index uint64) {
	if prefix == "" {
		return s.lastChange
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
		return s.lastChange
	}
	return index
}
