package consul

import (
	"maps"
	"slices"

	"github.com/locksim/locksim/trace"
)

// Revoke implements [sim.Revocable]. If session is set, it ends the client's sessions, as
// PUT /v1/session/destroy does. Otherwise it deletes each key that a session of the client
// holds, as consul kv delete does; a deleted key has no lock-delay.
func (s *server) Revoke(client string, session bool) (found bool) {
	if !s.isLeader {
		return false
	}
	s.Do(func() {
		if session {
			for _, id := range slices.Sorted(maps.Keys(s.sessions.all)) {
				if candidate := s.sessions.all[id]; candidate.client == client {
					found = true
					s.sessions.end(candidate, trace.KindCloseSession, trace.Operator())
				}
			}
			return
		}
		for _, key := range slices.Sorted(maps.Keys(s.store.keys)) {
			held := s.store.keys[key]
			if candidate := s.sessions.all[held.Session]; candidate != nil && candidate.client == client {
				found = true
				s.remove(s.store.nextIndex(), held, trace.KindDelete, trace.Operator())
			}
		}
	})
	return found
}
