package storage

import (
	"maps"
	"slices"
)

// A Loss is what the storage lost in a crash: versions of an object, or a token that
// requests are compared with.
type Loss struct {
	// Object is the object that lost something; "" is the whole storage, which can only
	// lose a token.
	Object string
	// Version is the object's current version, and OldVersion the one before the crash;
	// they are equal if none was lost.
	Version, OldVersion int
	// Token is the current token, and OldToken the one before the crash; they are equal if
	// none was lost.
	Token, OldToken uint64
}

// Crash ends the storage and starts it again with the data on its disk: what it has kept
// only in memory is lost. It returns what was lost.
func (s *Store) Crash() []Loss {
	was := s.record
	if s.policy == VolatileToken {
		s.record.tokens = map[string]uint64{}
	}
	return s.losses(was)
}

// FailOver replaces the storage by a copy. received is how many entries of the history the
// copy has received. What was applied after them is lost, including tokens, and so is what
// the storage has kept only in memory. It returns what was lost.
func (s *Store) FailOver(received int) []Loss {
	was := s.record
	s.record = emptyRecord()
	for i := range s.history {
		e := &s.history[i]
		switch {
		case e.Response.Refused != "" || e.Lost:
		case i < received:
			s.apply(e.Request)
		default:
			e.Lost = true
		}
	}
	s.Crash()
	return s.losses(was)
}

// losses compares the record with the earlier one: first the token of the whole storage,
// then the objects in alphabetical order, with their own tokens.
func (s *Store) losses(was record) []Loss {
	names := slices.AppendSeq(slices.Collect(maps.Keys(was.objects)), maps.Keys(was.tokens))
	slices.Sort(names)
	var losses []Loss
	for _, name := range slices.Compact(names) {
		l := Loss{
			Object:  name,
			Version: s.record.objects[name].version, OldVersion: was.objects[name].version,
			Token: s.record.tokens[name], OldToken: was.tokens[name],
		}
		if l.Version != l.OldVersion || l.Token != l.OldToken {
			losses = append(losses, l)
		}
	}
	return losses
}
