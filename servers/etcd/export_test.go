package etcd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/locksim/locksim/sim"
)

// SpiedMembers are the members of the latest world whose nodes are of the kind etcd-spied,
// which exists only for tests.
var SpiedMembers []sim.Server

func init() {
	s, _ := sim.LookupSystem(Name)
	s.Name = "etcd-spied"
	s.Boot = func(h *sim.Host) sim.Server {
		m := newMember(h)
		SpiedMembers = append(SpiedMembers, m)
		return m
	}
	sim.RegisterSystem(s)
}

// Applied returns the index of the last log entry that a member has applied.
func Applied(s sim.Server) uint64 { return s.(*member).applied }

// DumpState lists a member's revision, keys and leases.
func DumpState(s sim.Server) string {
	m := s.(*member)
	text := fmt.Sprint("revision ", m.store.revision)
	for _, kv := range m.store.current {
		text += fmt.Sprintf("\n%s = %q %d %d %d %d", kv.Key, kv.Value, kv.CreateRevision, kv.ModRevision, kv.Version, kv.Lease)
	}
	for _, l := range sortedByID(m.lessor) {
		text += fmt.Sprintf("\n%x for %d s: %q", l.id, l.ttl, l.sortedKeys())
	}
	return text
}

// sortedByID returns the leases in the order of their IDs.
func sortedByID(le *lessor) []*lease {
	return slices.SortedFunc(maps.Values(le.leases), func(a, b *lease) int { return cmp.Compare(a.id, b.id) })
}
