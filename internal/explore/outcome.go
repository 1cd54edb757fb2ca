package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/trace"
)

// Damage lists the harms in the two runs of a world, sorted and each once. Two worlds that
// broke in the same way have equal damage.
type Damage []Harm

// A Harm is one thing that broke in one of the runs.
type Harm struct {
	// Fencing is the run: [runs.FencingOff] or [runs.FencingOn].
	Fencing string
	// What is the name of the violated property, or of the misconduct of the lock. Blame says
	// what is to blame for it, as in a [runs.Break].
	What  string
	Blame checks.Blame
}

// String returns the harm as files contain it: the run, what broke and, after a tab, what
// is to blame.
func (h Harm) String() string { return h.Fencing + " " + h.What + "\t" + h.Blame.String() }

// MarshalText returns the same as String.
func (h Harm) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the output of MarshalText.
func (h *Harm) UnmarshalText(text []byte) error {
	fencing, rest, _ := strings.Cut(string(text), " ")
	what, fault, ok := strings.Cut(rest, "\t")
	if !ok || fencing != runs.FencingOff && fencing != runs.FencingOn {
		return fmt.Errorf("%q is not a harm: write the run, what broke, a tab and the blame", text)
	}
	h.Fencing, h.What = fencing, what
	return h.Blame.UnmarshalText([]byte(fault))
}

// compareHarms orders harms by run, then by what broke, then by blame.
func compareHarms(a, b Harm) int {
	return cmp.Or(strings.Compare(a.Fencing, b.Fencing), strings.Compare(a.What, b.What), strings.Compare(a.Blame.String(), b.Blame.String()))
}

// allDamage returns everything that broke in a world. Of an inconclusive run, only
// misconduct is known to be real.
func allDamage(o runs.WorldResult) Damage {
	var e Damage
	for _, fencing := range []string{runs.FencingOff, runs.FencingOn} {
		for _, b := range o.ForFencing(fencing).Breaks {
			e = append(e, Harm{fencing, b.What, b.Blame})
		}
	}
	return e.sorted()
}

// sorted sorts the harms and drops repetitions.
func (e Damage) sorted() Damage {
	slices.SortFunc(e, compareHarms)
	return slices.Compact(e)
}

// Includes reports whether e has every harm of other.
func (e Damage) Includes(other Damage) bool {
	return !slices.ContainsFunc(other, func(h Harm) bool { return !slices.Contains(e, h) })
}

// A grade says how bad damage is, as a set of bits. It decides whether a set of faults is
// minimal: no smaller part of the set does damage of the same grade.
type grade uint8

const (
	// gradeBroken: something broke.
	gradeBroken grade = 1 << iota
	// gradeCorrupted: data were corrupted although the storage checks tokens.
	gradeCorrupted
	// gradeLockBlamed: something broke for which the lock is to blame.
	gradeLockBlamed
	// gradeMisconduct: the lock did something that no caller can live with, such as a panic.
	gradeMisconduct
)

// grade returns the grade of the damage.
func (e Damage) grade() grade {
	var g grade
	for _, h := range e {
		g |= gradeBroken
		property := checks.Property(h.What)
		if h.Fencing == runs.FencingOn && property.IsData() {
			g |= gradeCorrupted
		}
		if h.Blame == checks.BlameLock {
			g |= gradeLockBlamed
		}
		if property.Card().Subject == checks.SubjectMisconduct {
			g |= gradeMisconduct
		}
	}
	return g
}

// endsRun reports whether the lock ended a run early, for example by a panic, which may also have
// ended the process of the run. Such a world has no sizes to measure.
func (e Damage) endsRun() bool {
	return slices.ContainsFunc(e, func(h Harm) bool {
		return slices.Contains([]string{trace.ConductPanic, trace.ConductHang, trace.ConductLeak, trace.ConductEndless}, h.What)
	})
}

// blame returns what is to blame for the damage. That is the lock if the lock is to blame
// for any of it, otherwise an assumption, if there is one.
func (e Damage) blame() checks.Blame {
	var worst checks.Blame
	for _, h := range e {
		if blameWeight(h.Blame) > blameWeight(worst) || blameWeight(h.Blame) == blameWeight(worst) && h.Blame.String() < worst.String() {
			worst = h.Blame
		}
	}
	return worst
}

// blameWeight orders blames: the lock's has the greatest weight.
func blameWeight(blame checks.Blame) int {
	switch blame.Kind {
	case checks.KindLock:
		return 3
	case checks.KindAssumption:
		return 2
	case checks.KindInherent:
		return 1
	}
	return 0
}

// core returns the part of the damage that an example has to keep while it is made smaller. It
// leaves out missing progress, which usually follows from the rest. If the damage has another grade
// without it, core leaves out nothing.
func (e Damage) core() Damage {
	core := slices.DeleteFunc(slices.Clone(e), func(h Harm) bool { return h.What == string(checks.Progress) })
	if core.grade() != e.grade() {
		return e
	}
	return core
}

// severity returns how bad damage is. The grade counts most, then whether data are
// corrupted, and then whether two clients held the lock.
func (e Damage) severity() int {
	n := int(e.grade()) << 4
	for _, h := range e {
		switch property := checks.Property(h.What); {
		case property.IsData():
			n |= 4
		case property == checks.LeaseExclusion:
			n |= 2
		case property == checks.SectionExclusion:
			n |= 1
		}
	}
	return n
}
