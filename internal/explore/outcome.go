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

// Damage is what broke in the two runs of a world, sorted and each once. Two worlds that
// broke in the same way have equal damage.
type Effect []Harm

// A Harm is something that broke in one of the runs.
type Harm struct {
	// Fencing is the run: [runs.FencingOff] or [runs.FencingOn].
	Fencing string
	// What and Blame are those of the Break.
	What  string
	Fault checks.Blame
}

// String returns the harm as documents contain it: the run, what broke and, after a tab,
// the blame.
func (h Harm) String() string { return h.Fencing + " " + h.What + "\t" + h.Fault.String() }

// MarshalText returns the same as String.
func (h Harm) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the output of MarshalText.
func (h *Harm) UnmarshalText(text []byte) error {
	fencing, rest, _ := strings.Cut(string(text), " ")
	what, fault, ok := strings.Cut(rest, "\t")
	if !ok || fencing != runs.Without && fencing != runs.With {
		return fmt.Errorf("%q does not say what broke in which run", text)
	}
	h.Fencing, h.What = fencing, what
	return h.Fault.UnmarshalText([]byte(fault))
}

func compareHarms(a, b Harm) int {
	return cmp.Or(strings.Compare(a.Fencing, b.Fencing), strings.Compare(a.What, b.What), strings.Compare(a.Fault.String(), b.Fault.String()))
}

// allDamage returns everything that broke in a world. In an inconclusive run that is only
// what a lock must never do.
func wholeEffect(o runs.Outcome) Effect {
	var e Effect
	for _, fencing := range []string{runs.Without, runs.With} {
		for _, b := range o.Of(fencing).Breaks {
			e = append(e, Harm{fencing, b.What, b.Fault})
		}
	}
	return e.ordered()
}

// sorted sorts the harms, and keeps each once.
func (e Effect) ordered() Effect {
	slices.SortFunc(e, compareHarms)
	return slices.Compact(e)
}

// Includes reports whether everything in other is also in d.
func (e Effect) Includes(other Effect) bool {
	return !slices.ContainsFunc(other, func(h Harm) bool { return !slices.Contains(e, h) })
}

// A grade is how bad the damage is, as a set of bits. A set of faults is minimal if no
// smaller part of it does damage of the same grade.
type grade uint8

const (
	// gradeBroken: something broke.
	breaks grade = 1 << iota
	// gradeCorrupted: data were corrupted although the storage checks tokens.
	corrupts
	// gradeLockBlamed: something broke for which the lock is to blame.
	blames
	// gradeMisconduct: the lock did what no caller can live with.
	misbehaves
)

// grade returns the grade of the damage.
func (e Effect) grade() grade {
	var g grade
	for _, h := range e {
		g |= breaks
		property := checks.Property(h.What)
		if h.Fencing == runs.With && property.Data() {
			g |= corrupts
		}
		if h.Fault == checks.FaultLock {
			g |= blames
		}
		if property.Card().Of == checks.OfMisconduct {
			g |= misbehaves
		}
	}
	return g
}

// endsRun reports whether the lock ended a run early, and perhaps its process. Then there
// is nothing to measure.
func (e Effect) ends() bool {
	return slices.ContainsFunc(e, func(h Harm) bool {
		return slices.Contains([]string{trace.ConductPanic, trace.ConductHang, trace.ConductLeak, trace.ConductEndless}, h.What)
	})
}

// blame returns the blame for the damage: the lock's if the lock is to blame for any of it,
// otherwise an assumption's.
func (e Effect) fault() checks.Blame {
	var worst checks.Blame
	for _, h := range e {
		if weight(h.Fault) > weight(worst) || weight(h.Fault) == weight(worst) && h.Fault.String() < worst.String() {
			worst = h.Fault
		}
	}
	return worst
}

// blameWeight orders blames.
func weight(fault checks.Blame) int {
	switch fault.Whose {
	case checks.ByLock:
		return 3
	case checks.ByAssumption:
		return 2
	case checks.ByNature:
		return 1
	}
	return 0
}

// core returns the part of the damage that an example has to keep while it is made smaller.
// It leaves out missing progress, which usually follows from the rest, unless the grade
// depends on it.
func (e Effect) core() Effect {
	less := slices.DeleteFunc(slices.Clone(e), func(h Harm) bool { return h.What == string(checks.Progress) })
	if less.grade() != e.grade() {
		return e
	}
	return less
}

// severity orders damage: first by grade, then by whether data are corrupted, and then by
// whether two clients held the lock.
func (e Effect) severity() int {
	n := int(e.grade()) << 4
	for _, h := range e {
		switch property := checks.Property(h.What); {
		case property.Data():
			n |= 4
		case property == checks.LeaseExclusion:
			n |= 2
		case property == checks.SectionExclusion:
			n |= 1
		}
	}
	return n
}
