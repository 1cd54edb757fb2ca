package history

import (
	"cmp"
	"slices"
)

// A client that holds a lock can acquire another one. Then the new critical section is nested in
// the section that the client is in. All sections that are nested in each other are one piece of
// work, protected by all of their locks.

// Outermost returns the section in which all others of the same work are nested. It is s
// itself if s is not nested.
func (s *Section) Outermost() *Section {
	for s.Outer != nil {
		s = s.Outer
	}
	return s
}

// WorkSections returns the sections that belong to the same work as s: the outermost first,
// then the others in the order of their grants.
func (s *Section) WorkSections() []*Section {
	all := []*Section{s.Outermost()}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].inner...)
	}
	slices.SortStableFunc(all[1:], func(a, b *Section) int { return cmp.Compare(a.From.Seq, b.From.Seq) })
	return all
}

// WorkOperations returns the applied operations of s and of all sections that are nested in s, in
// the order of the storage. s must be the outermost section.
func (s *Section) WorkOperations() []*Operation {
	if len(s.inner) == 0 {
		return s.Operations
	}
	var all []*Operation
	for _, o := range s.WorkSections() {
		all = append(all, o.Operations...)
	}
	slices.SortStableFunc(all, func(a, b *Operation) int { return a.Seq - b.Seq })
	return all
}

// nestIn nests a section in outer, the section of the same client in which it was granted;
// outer may be nil.
func (s *Section) nestIn(outer *Section) {
	if outer != nil {
		s.Outer = outer
		outer.inner = append(outer.inner, s)
	}
}

// HasNested reports whether a client held several locks at the same time.
func (h *History) HasNested() bool {
	return slices.ContainsFunc(h.Sections(), func(s *Section) bool { return s.Outer != nil })
}
