package consul

import (
	"maps"
	"slices"

	"github.com/locksim/locksim/trace"
)

// Revoke is as in [sim.Revocable]: consul kv delete of each key that a session of the client's
// has, or the end of its sessions (PUT /v1/session/destroy). For a key that is deleted there is
// no lock-delay.
func (s *server) Revoke(client string, session bool) (found bool) {
	if !s.leads {
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
				s.remove(s.store.next(), is, trace.KindDelete, trace.Operator())
			}
		}
	})
	return found
}
