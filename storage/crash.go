package storage

import (
	"maps"
	"slices"
)

// A Loss is something that the storage lost in a crash: the latest versions of an object,
// or the token with which requests are compared.
type Loss struct {
	// Object is the object that lost something. "" means the token of the whole storage.
	Object string
	// Version is the object's version after the crash, and OldVersion the version before
	// it. They are equal if no version was lost.
	Version, OldVersion int
	// Token is the token after the crash, and OldToken the token before it. They are equal
	// if no token was lost.
	Token, OldToken uint64
}

// Crash simulates that the storage's process ends and starts again with the data on its
// disk. What was only in memory is lost. Crash returns what was lost.
func (s *Store) Crash() []Loss {
	before := s.record
	if s.policy == VolatileToken {
		s.record.tokens = map[string]uint64{}
	}
	return s.losses(before)
}

// FailOver replaces the storage by a copy. received is how many entries of the history the copy had
// received. The effects of all later entries are lost, including their tokens. What the storage
// kept only in memory is lost, too. FailOver returns what was lost.
func (s *Store) FailOver(received int) []Loss {
	before := s.record
	s.record = emptyRecord()
	for i := range s.history {
		e := &s.history[i]
		switch {
		case e.Response.Refused != "" || e.Lost:
		case i < received:
			s.perform(e.Request)
		default:
			e.Lost = true
		}
	}
	s.Crash()
	return s.losses(before)
}

// losses compares the storage's state with its state before a crash, which is before. It returns
// the losses of the whole storage first, then those of the objects in alphabetical order.
func (s *Store) losses(before record) []Loss {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before.objects)), maps.Keys(before.tokens))
	slices.Sort(names)
	var losses []Loss
	for _, name := range slices.Compact(names) {
		l := Loss{
			Object:  name,
			Version: s.record.objects[name].version, OldVersion: before.objects[name].version,
			Token: s.record.tokens[name], OldToken: before.tokens[name],
		}
		if l.Version != l.OldVersion || l.Token != l.OldToken {
			losses = append(losses, l)
		}
	}
	return losses
}
