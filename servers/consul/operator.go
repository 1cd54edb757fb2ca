package consul

import (
	"maps"
	"slices"

	"github.com/locksim/locksim/trace"
)

// Revoke implements [sim.Revocable]. It acts like consul kv delete of each key that a
// session of the client holds, or it ends the client's sessions (PUT /v1/session/destroy).
// A deleted key has no lock-delay.
func (s *server) Revoke(client string, session bool) (found bool) {
	if !s.isLeader {
		return false
	}
	s.Do(func() {
		if session {
			for _, id := range slices.Sorted(maps.Keys(s.sessions.all)) {
				if one := s.sessions.all[id]; one.client == client {
					found = true
					s.sessions.end(one, trace.KindCloseSession, trace.Operator())
				}
			}
			return
		}
		for _, key := range slices.Sorted(maps.Keys(s.store.keys)) {
			is := s.store.keys[key]
			if one := s.sessions.all[is.Session]; one != nil && one.client == client {
				found = true
				s.remove(s.store.nextIndex(), is, trace.KindDelete, trace.Operator())
			}
		}
	})
	return found
}
