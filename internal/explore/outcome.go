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

// An Effect is what broke in the two runs of a world, in order and each once. Two worlds
// that broke in the same way have equal effects.
type Effect []Harm

// A Harm is something that broke in one of the runs.
type Harm struct {
	// Fencing is the run: Without or With.
	Fencing string
	// What and Fault are those of the Break.
	What  string
	Fault checks.Blame
}

// String is the harm as documents have it: the run, what broke and, after a tab, whose
// fault it is.
func (h Harm) String() string { return h.Fencing + " " + h.What + "\t" + h.Fault.String() }

// MarshalText writes the harm as documents have it.
func (h Harm) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText has written.
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

// wholeEffect is what broke. A run in doubt breaks nothing but what no doubt excuses.
func wholeEffect(o runs.Outcome) Effect {
	var e Effect
	for _, fencing := range []string{runs.Without, runs.With} {
		for _, b := range o.Of(fencing).Breaks {
			e = append(e, Harm{fencing, b.What, b.Fault})
		}
	}
	return e.ordered()
}

// ordered puts the harms in order, and keeps each once.
func (e Effect) ordered() Effect {
	slices.SortFunc(e, compareHarms)
	return slices.Compact(e)
}

// Includes says whether everything in another effect is in this one.
func (e Effect) Includes(other Effect) bool {
	return !slices.ContainsFunc(other, func(h Harm) bool { return !slices.Contains(e, h) })
}

// A Grade is how bad an effect is. A set of faults is minimal if no smaller part of it
// has an effect of the same grade.
type grade uint8

const (
	// breaks: something broke.
	breaks grade = 1 << iota
	// corrupts: data were corrupted although the storage checks tokens.
	corrupts
	// blames: something broke that is the lock's own fault.
	blames
	// misbehaves: the lock did what no caller can live with.
	misbehaves
)

// grade is how bad the effect is: a set of grades.
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

// ends says whether the lock did what ends a run, and perhaps its process, before its
// time: then there is nothing to measure.
func (e Effect) ends() bool {
	return slices.ContainsFunc(e, func(h Harm) bool {
		return slices.Contains([]string{trace.ConductPanic, trace.ConductHang, trace.ConductLeak, trace.ConductEndless}, h.What)
	})
}

// fault is whose fault the effect is: the lock's if any of it is, else an
// assumption's.
func (e Effect) fault() checks.Blame {
	var worst checks.Blame
	for _, h := range e {
		if weight(h.Fault) > weight(worst) || weight(h.Fault) == weight(worst) && h.Fault.String() < worst.String() {
			worst = h.Fault
		}
	}
	return worst
}

// weight orders whose fault something is.
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

// core is what of an effect an example has to keep while it is made smaller: that
// nobody gets anything done is a consequence as a rule, and does not count beside
// something else.
func (e Effect) core() Effect {
	less := slices.DeleteFunc(slices.Clone(e), func(h Harm) bool { return h.What == string(checks.Progress) })
	if less.grade() != e.grade() {
		return e
	}
	return less
}

// severity orders effects: first by grade, then by whether data are corrupted, and by
// whether two held the lock.
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
