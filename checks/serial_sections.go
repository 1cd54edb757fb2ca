package checks

import (
	"iter"
	"slices"
	"sort"

	"github.com/locksim/locksim/history"
)

// SerialSections is violated when what was applied, over all objects, is not
// what any one-after-the-other order of the sections, respecting real time,
// would have given. A section is its applied operations: the writes that the
// storage made, even those that it made after the section had ended, and the
// reads whose answers reached the client; those of sections that are nested in one another are
// one section's. A write that the storage lost again
// before anybody knew of it is none. A section that wrote nothing because the
// storage refused all of it counts for nothing: what it had read has led to
// nothing. One that was cut short or partly refused is reported as torn, which
// is not counted as a violation.
const SerialSections Property = "serial-sections"

var serialSections = property{
	Card: Card{
		Property: SerialSections, Of: OfData, Gravity: 3,
		Title:  "the data is as if the sections had run one after the other",
		Broken: "the data fits no order of the sections",
		Word:   "data", Means: "what is stored is wrong",
	},
	judge: judgeSerialSections,
}

func judgeSerialSections(h *inquiry) Finding {
	cycle := dependencies(h.DataSections()).shortestCycle()
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
	// version is what the dependency is about; nil for real time.
	version *history.Version
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

func (h *inquiry) tell(d dependency) Reason {
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

// graph says, of each section, which must come after it. Where one version was used by
// hundreds, or hundreds of sections came after hundreds of others, there are millions
// of such pairs; so they are not written down but read off what each section used, and
// off the sections' order.
type graph struct {
	// sections are in the order in which they began; place is where each is.
	sections []*history.Section
	place    map[*history.Section]int
	// began is, for each place, that of the first section that began after its own had
	// ended.
	began []int
	// lost are the dependencies of sections on themselves.
	lost     map[*history.Section][]dependency
	uses     map[*history.Section][]use
	versions int // how many
}

// A shared version is one with the first operation of each section that saw it, and
// each section's first that replaced it, in order. The versions of a graph are numbered.
type shared struct {
	*history.Version
	number         int
	seen, replaced []*history.Operation
}

// A use is what one section has to do with a version: it made it, or first is how it
// saw it first, or both.
type use struct {
	*shared
	first *history.Operation
}

// dependencies finds what of the order of sections, given in the order in which
// they began, their operations and real time leave no choice about.
func dependencies(sections []*history.Section) *graph {
	g := &graph{sections: sections, place: map[*history.Section]int{}, lost: map[*history.Section][]dependency{}, uses: map[*history.Section][]use{}}
	var versions []*shared // in a fixed order
	known := map[*history.Version]*shared{}
	for i, s := range sections {
		g.place[s] = i
		g.began = append(g.began, g.since(s.To))
		g.own(s)
		saw, replaced := map[*history.Version]bool{}, map[*history.Version]bool{}
		for _, o := range s.Work() {
			v := known[o.Sees]
			if v == nil {
				v = &shared{Version: o.Sees, number: len(versions)}
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
		made := v.Made == nil // nobody's
		for _, o := range v.seen {
			by := o.Section.Outermost()
			made = made || by == v.By.Outermost()
			g.uses[by] = append(g.uses[by], use{v, o})
		}
		if !made {
			by := v.By.Outermost()
			g.uses[by] = append(g.uses[by], use{v, nil})
		}
	}
	g.versions = len(versions)
	return g
}

// after yields what depends on a section, but not by real time: of two dependencies
// between the same sections about the same version only the first. again says of which
// versions to leave out those that replaced them.
func (g *graph) after(s *history.Section, again func(*shared) bool) iter.Seq[dependency] {
	return func(yield func(dependency) bool) {
		for _, d := range g.lost[s] {
			if !yield(d) {
				return
			}
		}
		for _, u := range g.uses[s] {
			if !u.each(s, again, yield) {
				return
			}
		}
	}
}

// each yields what depends on a section because of what it had to do with one version.
func (u use) each(s *history.Section, again func(*shared) bool, yield func(dependency) bool) bool {
	replacers := func() bool {
		if again(u.shared) {
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

// since is the place of the first section that began after a moment.
func (g *graph) since(m history.Moment) int {
	return sort.Search(len(g.sections), func(i int) bool { return m.Before(g.sections[i].From) })
}

// own looks at one section alone: what it wrote must still be there when it
// comes back to the object, if not under what others have written since.
func (g *graph) own(s *history.Section) {
	last := map[string]*history.Operation{}
	for _, o := range s.Work() {
		object := o.Sees.Object
		if was := last[object]; was != nil && !o.Sees.Descends(was.Makes) {
			g.lost[s] = append(g.lost[s], dependency{s, s, lostOwn, was.Makes, [2]int{was.Seq, o.Seq}})
		}
		if o.Makes != nil {
			last[object] = o
		}
	}
}

// shortestCycle returns a shortest cycle of dependencies, beginning with the
// section that began first; nil if there is none.
func (g *graph) shortestCycle() []dependency {
	w := walk{graph: g, came: make([]dependency, len(g.sections)), times: make([]int, g.versions)}
	var shortest []dependency
	for _, s := range g.knotted() {
		if c := w.cycleThrough(s, len(shortest)); c != nil {
			shortest = c
		}
	}
	return shortest
}

// A walk goes from one section to all that must come after it.
type walk struct {
	*graph
	// came is, for each place, how its section was reached first.
	came []dependency
	// times is, for each version, how often those that replaced it were reached.
	times []int
}

// cycleThrough returns the shortest cycle through a section, if it has fewer
// than most dependencies or most is 0.
func (g *walk) cycleThrough(s *history.Section, most int) []dependency {
	if alone := g.lost[s]; len(alone) > 0 && most != 1 {
		return alone[:1]
	}
	clear(g.came)
	clear(g.times)
	late := len(g.sections) // real time has reached those from here on
	again := func(v *shared) bool {
		g.times[v.number]++
		return g.times[v.number] > 2 // the first time all but one were, the second time that one
	}
	reached := []*history.Section{s}
	for length := 1; len(reached) > 0 && (most == 0 || max(2, length) < most); length++ {
		var next []*history.Section
		reach := func(d dependency) {
			if at := g.place[d.after]; g.came[at].after == nil {
				g.came[at] = d
				next = append(next, d.after)
			}
		}
		for _, a := range reached {
			for d := range g.after(a, again) {
				reach(d)
			}
			began := g.began[g.place[a]]
			for _, b := range g.sections[min(began, late):late] {
				reach(dependency{a, b, realTime, nil, [2]int{a.To.Seq, b.From.Seq}})
			}
			late = min(late, began)
		}
		if d := g.came[g.place[s]]; d.after != nil {
			cycle := []dependency{d}
			for d.before != s {
				d = g.came[g.place[d.before]]
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
func (g *graph) knotted() []*history.Section {
	// Section i is number i. Number n+i is the moment at which it began: all that
	// had ended come before the moment, and it comes before all that began then or
	// later. The numbers from 2n on are versions that several sections replaced: of
	// these each must come after each other, so that all of them are left.
	n := len(g.sections)
	before, after := make([][]int, 2*n), make([]int, 2*n)
	add := func(a, b int) {
		before[b] = append(before[b], a)
		after[a]++
	}
	contested := map[*shared]int{}
	for i, s := range g.sections {
		for _, u := range g.uses[s] {
			if _, known := contested[u.shared]; !known && len(u.replaced) > 1 {
				contested[u.shared] = len(after)
				before, after = append(before, nil), append(after, 0)
				for _, o := range u.replaced {
					add(len(after)-1, g.place[o.Section.Outermost()])
				}
			}
			if number, is := contested[u.shared]; is && u.first != nil {
				add(i, number)
			}
		}
		for d := range g.after(s, func(v *shared) bool { return len(v.replaced) > 1 }) {
			add(i, g.place[d.after])
		}
		if began := g.began[i]; began < n {
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
