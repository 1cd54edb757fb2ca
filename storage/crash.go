package storage

import (
	"maps"
	"slices"
)

// A Loss is what a crash took from the storage: versions of an object, or a
// token that requests are compared with.
type Loss struct {
	// Object is what it was lost of; "" is the whole storage, which can lose only
	// a token.
	Object string
	// Version is the object's now, and Was what it was; equal if none was lost.
	Version, Was int
	// Token is what is known now, and Knew what was known; equal if none was lost.
	Token, Knew uint64
}

// Crash ends the storage and starts it again with what its disk holds: it
// forgets what it has kept in memory only. It returns what was lost.
func (s *Store) Crash() []Loss {
	was := s.record
	if s.policy == VolatileToken {
		s.record.tokens = map[string]uint64{}
	}
	return s.losses(was)
}

// FailOver puts a copy in the storage's place. received is how many entries of
// the history the copy had received; what was applied after them is gone, tokens
// included, and so is what the storage has kept in memory only. It returns what
// was lost.
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

// losses compares the record with what it was: first the token of the whole
// storage, then the objects in alphabetical order, with their own tokens.
func (s *Store) losses(was record) []Loss {
	names := slices.AppendSeq(slices.Collect(maps.Keys(was.objects)), maps.Keys(was.tokens))
	slices.Sort(names)
	var losses []Loss
	for _, name := range slices.Compact(names) {
		l := Loss{
			Object:  name,
			Version: s.record.objects[name].version, Was: was.objects[name].version,
			Token: s.record.tokens[name], Knew: was.tokens[name],
		}
		if l.Version != l.Was || l.Token != l.Knew {
			losses = append(losses, l)
		}
	}
	return losses
}
