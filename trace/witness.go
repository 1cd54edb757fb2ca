package trace

import (
	"fmt"
	"slices"
	"strings"
)

// A Witness is a precondition of a verdict: something that must have happened in the run, or else
// the verdict means nothing:
//
//	POINT
//	POINT while PROCESS was paused | was down
//	POINT before POINT
//	POINT after POINT
//
// Its points cannot have a delay, as in "5s after client-1 wrote". Package history decides whether
// a run shows the witness.
type Witness struct {
	Point Point
	// Relation connects the point to Process or to Other; it is "" if the witness is only a
	// point.
	Relation Relation
	// Process is the process that was paused or down.
	Process string
	// Other is the second point, if Relation is [Before] or [After].
	Other Point
}

// A Relation connects the point of a [Witness] to a process or to another point.
type Relation string

const (
	WhilePaused Relation = "was paused"
	WhileDown   Relation = "was down"
	Before      Relation = "before"
	After       Relation = "after"
)

// ParseWitness parses a witness; its grammar is that of [Witness].
func ParseWitness(s string) (Witness, error) {
	var w Witness
	text := strings.Join(strings.Fields(s), " ")
	head := text
	if h, tail, ok := strings.Cut(text, " while "); ok {
		process, state, _ := strings.Cut(tail, " ")
		w.Relation = Relation(state)
		if w.Relation != WhilePaused && w.Relation != WhileDown {
			return w, fmt.Errorf("%q: write \"PROCESS was paused\" or \"PROCESS was down\" after \"while\", not %q", s, tail)
		}
		if owner, ok := strings.CutSuffix(process, "'s"); ok {
			return w, fmt.Errorf("%q: write %q, not %q", s, owner, process)
		}
		head, w.Process = h, process
	} else {
		for _, conj := range []Relation{Before, After} {
			h, tail, ok := strings.Cut(text, " "+string(conj)+" ")
			if !ok {
				continue
			}
			var err error
			if w.Other, err = ParsePoint(tail); err != nil {
				return w, err
			}
			head, w.Relation = h, conj
			break
		}
	}
	var err error
	if w.Point, err = ParsePoint(head); err != nil {
		return w, err
	}
	for _, c := range slices.Concat(w.Point.alternatives, w.Other.alternatives) {
		if c.Delay > 0 {
			return w, fmt.Errorf("%q: a witness cannot have a delay such as %v", s, c.Delay)
		}
	}
	return w, nil
}

// String returns the witness in the grammar of [Witness].
func (w Witness) String() string {
	switch w.Relation {
	case WhilePaused, WhileDown:
		return fmt.Sprintf("%s while %s %s", w.Point, w.Process, w.Relation)
	case Before, After:
		return fmt.Sprintf("%s %s %s", w.Point, w.Relation, w.Other)
	}
	return w.Point.String()
}

// IsZero reports whether w is the zero Witness, which means that there is no witness.
func (w Witness) IsZero() bool { return w.Point.IsZero() }

// Equal reports whether two witnesses are the same.
func (w Witness) Equal(o Witness) bool {
	return w.Relation == o.Relation && w.Process == o.Process && w.Point.Equal(o.Point) && w.Other.Equal(o.Other)
}

// MarshalText returns what String returns.
func (w Witness) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// Names lists the processes that the witness names.
func (w Witness) Names() []string {
	names := append(w.Point.Names(), w.Other.Names()...)
	if w.Process != "" {
		names = append(names, w.Process)
	}
	return names
}

// Rename returns the witness with its processes renamed.
func (w Witness) Rename(name func(string) string) Witness {
	w.Point, w.Other = w.Point.Rename(name), w.Other.Rename(name)
	if w.Process != "" {
		w.Process = name(w.Process)
	}
	return w
}

// Fits returns an error if a point of the witness names a process for something that this process
// can never do; see [Point.Fits].
func (w Witness) Fits(role func(name string) (Role, bool)) error {
	if err := w.Point.Fits(role); err != nil {
		return err
	}
	return w.Other.Fits(role)
}
