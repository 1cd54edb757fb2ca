package history

import (
	"cmp"
	"slices"
)

// A client that has a lock can take another one: its section of that is nested in the one that
// it was in. What it does in them is one piece of work, which has all of their locks.

// Outermost is the section in which all others of the same work are nested: itself, if it is
// nested in none.
func (s *Section) Outermost() *Section {
	for s.Within != nil {
		s = s.Within
	}
	return s
}

// Together are the sections of the same work, the outermost first, in the order of their
// grants.
func (s *Section) Together() []*Section {
	all := []*Section{s.Outermost()}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].inner...)
	}
	slices.SortStableFunc(all[1:], func(a, b *Section) int { return cmp.Compare(a.From.Seq, b.From.Seq) })
	return all
}

// Work is all that was applied of the work that a section is the outermost of, in the order of
// the storage.
func (s *Section) Work() []*Operation {
	if len(s.inner) == 0 {
		return s.Operations
	}
	var all []*Operation
	for _, o := range s.Together() {
		all = append(all, o.Operations...)
	}
	slices.SortStableFunc(all, func(a, b *Operation) int { return a.Seq - b.Seq })
	return all
}

// nest puts a section into the one of its client in which it was granted.
func (s *Section) nest(within *Section) {
	if within != nil {
		s.Within = within
		within.inner = append(within.inner, s)
	}
}

// Nested reports that some client had several locks at once.
func (h *History) Nested() bool {
	return slices.ContainsFunc(h.Sections(), func(s *Section) bool { return s.Within != nil })
}
