package consul

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// under are the keys with a prefix, in their order.
func (s *store) under(prefix string) (all []*entry) {
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		if strings.HasPrefix(key, prefix) {
			all = append(all, s.keys[key])
		}
	}
	return all
}

// latest is the index of the latest change of a key with a prefix, also one that was deleted;
// if there never was one, that of the latest change at all. A real server forgets after a
// quarter of an hour which were deleted.
func (s *store) latest(prefix string) (index uint64) {
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

// tellEntries is how many keys an answer shows, and how many of them sessions have.
func (s *server) tellEntries(all []*entry) string {
	had := 0
	for _, e := range all {
		if e.Session != "" {
			had++
		}
	}
	return strconv.Itoa(len(all)) + " keys, " + strconv.Itoa(had) + " of them a session's"
}
