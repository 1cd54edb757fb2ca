package checks

import (
	"fmt"
	"slices"
	"sort"
)

// SerialSections is violated when what was applied, over all objects, is not
// what any one-after-the-other order of the sections, respecting real time,
// would have given. A section is its applied operations: the writes that the
// storage made, even those that it made after the section had ended, and the
// reads whose answers reached the client. A write that the storage lost again
// before anybody knew of it is none. A section that was cut short or partly
// refused is reported as torn, which is not counted as a violation.
const SerialSections Property = "serial-sections"

var serialSections = property{
	name:  SerialSections,
	title: "the data is as if the sections had run one after the other",
	data:  true,
	judge: judgeSerialSections,
}

func judgeSerialSections(h *history) Finding {
	cycle := dependencies(h.dataSections()).shortestCycle()
	if cycle == nil {
		return holds()
	}
	f := Finding{Outcome: Violated}
	for _, d := range cycle {
		f.Events = append(f.Events, d.shown[0], d.shown[1])
		f.Cycle = append(f.Cycle, h.tell(d))
	}
	slices.Sort(f.Events)
	f.Events = slices.Compact(f.Events)
	f.At = f.Events[len(f.Events)-1]
	if first := len(f.Events) - 3; first > 0 {
		f.Events = f.Events[first:]
	}
	f.Reason = fmt.Sprintf("%s and %s cannot have run one after the other", h.name(cycle[0].before), h.name(cycle[0].after))
	switch {
	case len(cycle) == 1:
		f.Reason = fmt.Sprintf("%s cannot have run alone", h.name(cycle[0].before))
	case len(cycle) > 2:
		f.Reason = fmt.Sprintf("%d sections, %s's among them, cannot have run one after the other", len(cycle), h.name(cycle[0].before))
	}
	return f
}

// A dependency says that one section must have come before another.
type dependency struct {
	before, after *section
	kind          dependencyKind
	// version is what the dependency is about; nil for real time.
	version *version
	// shown are the Seqs of the two events that show it.
	shown [2]int
}

type dependencyKind int

const (
	// realTime: before had ended when after was granted.
	realTime dependencyKind = iota
	// readFrom: after read what before wrote.
	readFrom
	// wroteOver: after replaced what before wrote.
	wroteOver
	// readBefore: before read what after replaced.
	readBefore
	// replacedToo: before replaced what after replaced too, which is possible
	// only with a storage that loses writes.
	replacedToo
	// lostOwn: before and after are one section, whose own write was gone when
	// it came back to the object.
	lostOwn
)

func (h *history) tell(d dependency) string {
	a, b := h.name(d.before), h.name(d.after)
	switch d.kind {
	case realTime:
		return fmt.Sprintf("%s had ended at %v, before %s began at %v", a, d.before.to, b, d.after.from)
	case readFrom:
		return fmt.Sprintf("%s wrote %v, which %s read", a, d.version, b)
	case wroteOver:
		return fmt.Sprintf("%s wrote %v, which %s replaced", a, d.version, b)
	case readBefore:
		return fmt.Sprintf("%s read %v, which %s replaced", a, d.version, b)
	case replacedToo:
		return fmt.Sprintf("%s replaced %v, which %s replaced too", a, d.version, b)
	}
	return fmt.Sprintf("%s wrote %v, and then found it gone", a, d.version)
}

// graph has, for each section, those that must come after it. What real time
// demands is not written down but read off the sections' order: among thousands
// of sections there are millions of such pairs.
type graph struct {
	// sections are in the order in which they began; place is where each is.
	sections []*section
	place    map[*section]int
	after    map[*section][]dependency
}

// dependencies finds what of the order of sections, given in the order in which
// they began, their operations and real time leave no choice about.
func dependencies(sections []*section) *graph {
	g := &graph{sections: sections, place: map[*section]int{}, after: map[*section][]dependency{}}
	var all []*operation
	for i, s := range sections {
		g.place[s] = i
		all = append(all, s.operations...)
		g.own(s)
	}
	users := map[*version][]*operation{}
	var versions []*version // in a fixed order
	for _, o := range all {
		if users[o.sees] == nil {
			versions = append(versions, o.sees)
		}
		users[o.sees] = append(users[o.sees], o)
	}
	for _, v := range versions {
		for _, u := range users[v] {
			if v.made != nil {
				kind := readFrom
				if u.makes != nil {
					kind = wroteOver
				}
				g.add(v.by, u.section, kind, v, v.made.Seq, u.seq)
			}
			for _, o := range users[v] {
				switch {
				case o.makes == nil:
				case u.makes == nil:
					g.add(u.section, o.section, readBefore, v, u.seq, o.seq)
				default:
					g.add(u.section, o.section, replacedToo, v, u.seq, o.seq)
				}
			}
		}
	}
	return g
}

// since is the place of the first section that began after a moment.
func (g *graph) since(m moment) int {
	return sort.Search(len(g.sections), func(i int) bool { return m.before(g.sections[i].from) })
}

// add adds a dependency between two different sections.
func (g *graph) add(before, after *section, kind dependencyKind, v *version, shown ...int) {
	if before != after {
		g.after[before] = append(g.after[before], dependency{before, after, kind, v, [2]int(shown)})
	}
}

// own looks at one section alone: what it wrote must still be there when it
// comes back to the object, if not under what others have written since.
func (g *graph) own(s *section) {
	last := map[string]*operation{}
	for _, o := range s.operations {
		object := o.sees.object
		if was := last[object]; was != nil && !o.sees.descends(was.makes) {
			g.after[s] = append(g.after[s], dependency{s, s, lostOwn, was.makes, [2]int{was.seq, o.seq}})
		}
		if o.makes != nil {
			last[object] = o
		}
	}
}

// descends reports whether a version is another or was made from it.
func (v *version) descends(from *version) bool {
	for ; v != nil; v = v.replaced {
		if v == from {
			return true
		}
	}
	return false
}

// shortestCycle returns a shortest cycle of dependencies, beginning with the
// section that began first; nil if there is none.
func (g *graph) shortestCycle() []dependency {
	var shortest []dependency
	for _, s := range g.knotted() {
		if c := g.cycleThrough(s, len(shortest)); c != nil {
			shortest = c
		}
	}
	return shortest
}

// cycleThrough returns the shortest cycle through a section, if it has fewer
// than most dependencies or most is 0.
func (g *graph) cycleThrough(s *section, most int) []dependency {
	came := make([]dependency, len(g.sections)) // how each section was reached first
	late := len(g.sections)                     // real time has reached those from here on
	reached := []*section{s}
	for length := 1; len(reached) > 0 && (most == 0 || length < most); length++ {
		var next []*section
		reach := func(d dependency) {
			if at := g.place[d.after]; came[at].after == nil {
				came[at] = d
				next = append(next, d.after)
			}
		}
		for _, a := range reached {
			for _, d := range g.after[a] {
				reach(d)
			}
			began := g.since(a.to)
			for _, b := range g.sections[min(began, late):late] {
				reach(dependency{a, b, realTime, nil, [2]int{a.to.seq, b.from.seq}})
			}
			late = min(late, began)
		}
		if d := came[g.place[s]]; d.after != nil {
			cycle := []dependency{d}
			for d.before != s {
				d = came[g.place[d.before]]
				cycle = append(cycle, d)
			}
			slices.Reverse(cycle)
			return cycle
		}
		reached = next
	}
	return nil
}

// knotted lists the sections that are left when those that nothing must come
// after are taken away again and again: only they can be part of a cycle.
func (g *graph) knotted() []*section {
	// Section i is number i. Number n+i is the moment at which it began: all that
	// had ended come before the moment, and it comes before all that began then or
	// later.
	n := len(g.sections)
	before, after := make([][]int, 2*n), make([]int, 2*n)
	add := func(a, b int) {
		before[b] = append(before[b], a)
		after[a]++
	}
	for i, s := range g.sections {
		for _, d := range g.after[s] {
			add(i, g.place[d.after])
		}
		if began := g.since(s.to); began < n {
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
	var left []*section
	for i, s := range g.sections {
		if after[i] > 0 {
			left = append(left, s)
		}
	}
	return left
}
