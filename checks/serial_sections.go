package checks

import (
	"iter"
	"slices"
	"sort"

	"github.com/locksim/locksim/history"
)

// SerialSections is violated if the operations on all objects cannot result from running the
// critical sections one after the other, in an order that respects real time. For example, two
// sections both read version 1 of x, and then both write x. A section consists of its applied
// operations: the writes that the storage made, even after the section had ended, and the reads
// whose answers reached the client. Sections that are nested in each other are one section. A write
// that the storage lost before any client knew of it does not count. A section does not count
// either if the storage refused all its writes, because its reads then had no effect. A section
// that was cut short or partly refused is reported as torn, which is no violation.
const SerialSections Property = "serial-sections"

var serialSections = property{
	Card: Card{
		Property: SerialSections, Subject: SubjectData, Gravity: 3,
		Title:  "the data is as if the sections had run one after the other",
		Broken: "no order of the sections explains the data",
		Label:  "data", Meaning: "the stored data is wrong",
	},
	judge: judgeSerialSections,
}

func judgeSerialSections(h *judgedRun) Finding {
	cycle := dependencies(h.DataSections()).shortestCycle()
	if cycle == nil {
		return holds()
	}
	f := Finding{Outcome: Violated}
	for _, d := range cycle {
		if d.kind == realTime && mayPrecede(d.after.Granted, d.before.To) {
			return h.unknownOrder(d.after, sectionEnded.Reason(h.Name(d.before), d.before.To))
		}
		f.Events = append(f.Events, d.events[0], d.events[1])
		f.Cycle = append(f.Cycle, h.describeDependency(d))
	}
	slices.Sort(f.Events)
	f.Events = slices.Compact(f.Events)
	f.At = f.Events[len(f.Events)-1]
	if first := len(f.Events) - 3; first > 0 {
		f.Events = f.Events[first:]
	}
	f.Reason = notOneAfterOther.Reason(h.Name(cycle[0].before), h.Name(cycle[0].after))
	switch {
	case len(cycle) == 1:
		f.Reason = notAlone.Reason(h.Name(cycle[0].before))
	case len(cycle) > 2:
		f.Reason = manyNotOneByOne.Reason(len(cycle), h.Name(cycle[0].before))
	}
	return f
}

// A dependency says that one section must have come before another.
type dependency struct {
	before, after *history.Section
	kind          dependencyKind
	// version is the version that both sections used; nil for real time.
	version *history.Version
	// events are the Seqs of the two events that show the dependency.
	events [2]int
}

// A dependencyKind says why one section must have come before another.
type dependencyKind int

const (
	// realTime: the section before had ended when the section after was granted.
	realTime dependencyKind = iota
	// readFrom: the section after read a version that the section before wrote.
	readFrom
	// wroteOver: the section after replaced a version that the section before wrote.
	wroteOver
	// readBefore: the section before read a version that the section after replaced.
	readBefore
	// replacedToo: both sections replaced the same version. That is possible only with a storage
	// that loses writes.
	replacedToo
	// lostOwn: before and after are the same section. The section's own write was gone when the
	// section used the object again.
	lostOwn
)

// describeDependency returns the reason that describes a dependency.
func (h *judgedRun) describeDependency(d dependency) Reason {
	a, b := h.Name(d.before), h.Name(d.after)
	switch d.kind {
	case realTime:
		return endedBeforeBegin.Reason(a, d.before.To, b, d.after.From)
	case readFrom:
		return wroteWhatOtherRead.Reason(a, d.version.String(), b)
	case wroteOver:
		return wroteWhatOtherReplaced.Reason(a, d.version.String(), b)
	case readBefore:
		return readWhatOtherReplaced.Reason(a, d.version.String(), b)
	case replacedToo:
		return bothReplaced.Reason(a, d.version.String(), b)
	}
	return ownWriteGone.Reason(a, d.version.String())
}

// A graph contains, for each section, the sections that must come after it. If hundreds of
// sections used one version, or came after hundreds of others, there would be millions of
// such pairs. So the graph does not store the pairs. It derives them from the versions that
// each section used, and from the sections' order in time.
type graph struct {
	// sections are in the order in which they began; place maps each to its index.
	sections []*history.Section
	place    map[*history.Section]int
	// nextAfter is, for each section, the index of the first section that began after that section
	// had ended.
	nextAfter []int
	// lost are the dependencies of sections on themselves: see lostOwn.
	lost     map[*history.Section][]dependency
	uses     map[*history.Section][]use
	versions int // the number of versions
}

// A sharedVersion is a version with the operations that used it, in order. seen has each section's
// first operation that saw the version, and replaced has each section's first operation that
// replaced it. number is the index of the version in its graph.
type sharedVersion struct {
	*history.Version
	number         int
	seen, replaced []*history.Operation
}

// A use says how one section used a version: the section made the version, or saw it, or both.
// first is the operation with which the section first saw the version; nil if it never did.
type use struct {
	*sharedVersion
	first *history.Operation
}

// dependencies computes the order of sections that follows from their operations and from
// real time. The sections must be in the order in which they began.
func dependencies(sections []*history.Section) *graph {
	g := &graph{sections: sections, place: map[*history.Section]int{}, lost: map[*history.Section][]dependency{}, uses: map[*history.Section][]use{}}
	var versions []*sharedVersion // a slice, because its order is the same in every run
	known := map[*history.Version]*sharedVersion{}
	for i, s := range sections {
		g.place[s] = i
		g.nextAfter = append(g.nextAfter, g.firstAfter(s.To))
		g.addOwnLosses(s)
		saw, replaced := map[*history.Version]bool{}, map[*history.Version]bool{}
		for _, o := range s.WorkOperations() {
			v := known[o.Sees]
			if v == nil {
				v = &sharedVersion{Version: o.Sees, number: len(versions)}
				known[o.Sees] = v
				versions = append(versions, v)
			}
			if !saw[o.Sees] {
				saw[o.Sees] = true
				v.seen = append(v.seen, o)
			}
			if o.Makes != nil && !replaced[o.Sees] {
				replaced[o.Sees] = true
				v.replaced = append(v.replaced, o)
			}
		}
	}
	for _, v := range versions {
		isMakerListed := v.Made == nil // the initial version has no maker
		for _, o := range v.seen {
			by := o.Section.Outermost()
			isMakerListed = isMakerListed || by == v.By.Outermost()
			g.uses[by] = append(g.uses[by], use{v, o})
		}
		if !isMakerListed {
			by := v.By.Outermost()
			g.uses[by] = append(g.uses[by], use{v, nil})
		}
	}
	g.versions = len(versions)
	return g
}

// dependents yields the dependencies of other sections on the section s, except those by real time.
// If one version causes two dependencies between the same two sections, it yields only the first.
// skipReplacers reports whether to leave out the replacers of a version: the sections that replaced
// it.
func (g *graph) dependents(s *history.Section, skipReplacers func(*sharedVersion) bool) iter.Seq[dependency] {
	return func(yield func(dependency) bool) {
		for _, d := range g.lost[s] {
			if !yield(d) {
				return
			}
		}
		for _, u := range g.uses[s] {
			if !u.dependents(s, skipReplacers, yield) {
				return
			}
		}
	}
}

// dependents yields the dependencies on a section that follow from its use of one version.
// It returns false if yield has returned false.
func (u use) dependents(s *history.Section, skipReplacers func(*sharedVersion) bool, yield func(dependency) bool) bool {
	replacers := func() bool {
		if skipReplacers(u.sharedVersion) {
			return true
		}
		kind := readBefore
		if u.first.Makes != nil {
			kind = replacedToo
		}
		for _, o := range u.replaced {
			if by := o.Section.Outermost(); by != s && !yield(dependency{s, by, kind, u.Version, [2]int{u.first.Seq, o.Seq}}) {
				return false
			}
		}
		return true
	}
	if u.Made == nil || u.By.Outermost() != s {
		return replacers()
	}
	for _, o := range u.seen {
		kind := readFrom
		if o.Makes != nil {
			kind = wroteOver
		}
		switch {
		case o == u.first:
			if !replacers() {
				return false
			}
		case !yield(dependency{s, o.Section.Outermost(), kind, u.Version, [2]int{u.Made.Seq, o.Seq}}):
			return false
		}
	}
	return true
}

// firstAfter returns the index of the first section that began after a moment.
func (g *graph) firstAfter(m history.Moment) int {
	return sort.Search(len(g.sections), func(i int) bool { return m.Before(g.sections[i].From) })
}

// addOwnLosses adds the dependencies of a section on itself. When the section uses an
// object again, its own write must still be there, possibly under later writes of other
// sections.
func (g *graph) addOwnLosses(s *history.Section) {
	last := map[string]*history.Operation{}
	for _, o := range s.WorkOperations() {
		object := o.Sees.Object
		if was := last[object]; was != nil && !o.Sees.DescendsFrom(was.Makes) {
			g.lost[s] = append(g.lost[s], dependency{s, s, lostOwn, was.Makes, [2]int{was.Seq, o.Seq}})
		}
		if o.Makes != nil {
			last[object] = o
		}
	}
}

// shortestCycle returns a shortest cycle of dependencies, starting with the section that
// began first; nil if there is no cycle.
func (g *graph) shortestCycle() []dependency {
	w := walk{graph: g, reachedBy: make([]dependency, len(g.sections)), replacersReached: make([]int, g.versions)}
	var shortest []dependency
	for _, s := range g.cyclicCandidates() {
		if c := w.cycleThrough(s, len(shortest)); c != nil {
			shortest = c
		}
	}
	return shortest
}

// A walk visits, from one section, all sections that must come after it.
type walk struct {
	*graph
	// reachedBy is, for each section, the dependency by which it was reached first.
	reachedBy []dependency
	// replacersReached is, for each version, how often the sections that replaced it were
	// reached.
	replacersReached []int
}

// cycleThrough returns the shortest cycle through the section s, if it has fewer than limit
// dependencies; otherwise nil. If limit is 0, the cycle can have any length.
func (g *walk) cycleThrough(s *history.Section, limit int) []dependency {
	if ownLosses := g.lost[s]; len(ownLosses) > 0 && limit != 1 {
		return ownLosses[:1]
	}
	clear(g.reachedBy)
	clear(g.replacersReached)
	firstReached := len(g.sections) // the sections from this index on have been reached by their order in time
	skipReplacers := func(v *sharedVersion) bool {
		g.replacersReached[v.number]++
		// A replacer does not reach itself. So the first use of the version reaches all replacers
		// except possibly one, and the second use reaches that one.
		return g.replacersReached[v.number] > 2
	}
	reached := []*history.Section{s}
	for length := 1; len(reached) > 0 && (limit == 0 || max(2, length) < limit); length++ {
		var next []*history.Section
		reach := func(d dependency) {
			if at := g.place[d.after]; g.reachedBy[at].after == nil {
				g.reachedBy[at] = d
				next = append(next, d.after)
			}
		}
		for _, a := range reached {
			for d := range g.dependents(a, skipReplacers) {
				reach(d)
			}
			began := g.nextAfter[g.place[a]]
			for _, b := range g.sections[min(began, firstReached):firstReached] {
				reach(dependency{a, b, realTime, nil, [2]int{a.To.Seq, b.From.Seq}})
			}
			firstReached = min(firstReached, began)
		}
		if d := g.reachedBy[g.place[s]]; d.after != nil {
			cycle := []dependency{d}
			for d.before != s {
				d = g.reachedBy[g.place[d.before]]
				cycle = append(cycle, d)
			}
			slices.Reverse(cycle)
			return cycle
		}
		reached = next
	}
	return nil
}

// cyclicCandidates lists the sections that can be part of a cycle. As long as it can, it removes a
// section after which no remaining section must come. It returns the sections that are left.
func (g *graph) cyclicCandidates() []*history.Section {
	// The nodes of this graph are numbers. Section i is number i. Number n+i is the moment at which
	// section i began: all sections that had ended come before this moment, and all sections that
	// began then or later come after it. The numbers from 2n on are versions that several sections
	// replaced. Any two of these sections must each come after the other, which is a cycle, so all
	// of them are left.
	n := len(g.sections)
	before, after := make([][]int, 2*n), make([]int, 2*n)
	add := func(a, b int) {
		before[b] = append(before[b], a)
		after[a]++
	}
	contested := map[*sharedVersion]int{}
	for i, s := range g.sections {
		for _, u := range g.uses[s] {
			if _, known := contested[u.sharedVersion]; !known && len(u.replaced) > 1 {
				contested[u.sharedVersion] = len(after)
				before, after = append(before, nil), append(after, 0)
				for _, o := range u.replaced {
					add(len(after)-1, g.place[o.Section.Outermost()])
				}
			}
			if node, found := contested[u.sharedVersion]; found && u.first != nil {
				add(i, node)
			}
		}
		for d := range g.dependents(s, func(v *sharedVersion) bool { return len(v.replaced) > 1 }) {
			add(i, g.place[d.after])
		}
		if began := g.nextAfter[i]; began < n {
			add(i, n+began)
		}
		add(n+i, i)
		if i > 0 {
			add(n+i-1, n+i)
		}
	}
	var free []int
	for i, left := range after {
		if left == 0 {
			free = append(free, i)
		}
	}
	for len(free) > 0 {
		last := free[len(free)-1]
		free = free[:len(free)-1]
		for _, i := range before[last] {
			if after[i]--; after[i] == 0 {
				free = append(free, i)
			}
		}
	}
	var left []*history.Section
	for i, s := range g.sections {
		if after[i] > 0 {
			left = append(left, s)
		}
	}
	return left
}
